export {
  type AnswerSocket,
  filterAnswers,
  MalformedAnswerError,
  maxAnswerBytes,
  maxAnswerHeadBytes,
} from '../answer-filter.js'
export { startTimeLimit, type TimeLimit } from '../time-limit.js'
