export {
  type AnswerSocket,
  filterAnswers,
  MalformedAnswerError,
  maxAnswerBytes,
  maxAnswerHeadBytes,
  startTimeLimit,
  type TimeLimit,
} from '../answers.js'
