/** Parsers of text from other machines, without the schemas and their library. @module */
export {
  assertModestJson,
  ExcessiveJsonError,
  maxForeignNesting,
  parseForeignJson,
  readForeignBytes,
  readForeignJson,
} from '../foreign-json.js'
export { parseContentLength, parseHttpDate, parseInstant, parseRetryAfter } from '../foreign-text.js'
export { findDatabaseUrlProblem } from '../parse-url.js'
