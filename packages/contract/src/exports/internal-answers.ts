/** For the packages of this workspace alone: any release may change these names. @module */
export { filterAnswers, MalformedAnswerError, maxAnswerHeadBytes, startTimeLimit } from '../answers.js'
