/** For the packages of this workspace alone: any release may change these names. @module */
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
