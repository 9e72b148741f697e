/**
 * Functions that read the bytes of other machines. They import neither the schemas nor zod. For the packages of this
 * workspace alone: any release may change these names.
 * @module
 */
export { filterAnswers, MalformedAnswerError, maxAnswerHeadBytes, startTimeLimit } from '../foreign-answers.js'
export {
  assertModestJson,
  ExcessiveJsonError,
  findDatabaseUrlProblem,
  parseContentLength,
  parseForeignJson,
  parseHttpDate,
  parseInstant,
  parseRetryAfter,
  parseUrl,
  readForeignBytes,
  readForeignJson,
} from '../foreign-text.js'
