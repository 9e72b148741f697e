/** Parsers of text from other machines, without the schemas and their library. @module */
export {
  assertModestJson,
  ExcessiveJsonError,
  maxForeignNesting,
  parseForeignJson,
  readForeignBytes,
  readForeignJson,
} from '../foreign-json.js'
export { parseHttpDate, parseRetryAfter } from '../http-date.js'
export { parseContentLength, parseInstant } from '../parse-numbers.js'
export { findDatabaseUrlProblem } from '../parse-url.js'
