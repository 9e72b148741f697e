export {
  type AnswerSocket,
  filterAnswers,
  MalformedAnswerError,
  maxAnswerBytes,
  maxAnswerHeadBytes,
} from '../answer-filter.js'
