/**
 * What reads the bytes of other machines, without the schemas and their library. For the packages of this workspace
 * alone: any release may change these names.
 *
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
  readForeignBytes,
  readForeignJson,
} from '../foreign-text.js'
