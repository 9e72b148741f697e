/**
 * What reads the bytes of other machines, without the schemas and their library. For the packages of this workspace
 * alone: any release may change these names.
 *
 * @module
 */
export { filterAnswers, MalformedAnswerError, maxAnswerHeadBytes, startTimeLimit } from '../answers.js'
export {
  assertModestJson,
  ExcessiveJsonError,
  parseContentLength,
  parseForeignJson,
  parseHttpDate,
  parseInstant,
  parseRetryAfter,
  readForeignBytes,
  readForeignJson,
} from '../foreign-text.js'
export { findDatabaseUrlProblem } from '../parse-url.js'
