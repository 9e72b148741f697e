/** Parsers of text from other machines, without the schemas and their library. @module */
export {
  assertModestJson,
  ExcessiveJsonError,
  maxForeignNesting,
  parseContentLength,
  parseForeignJson,
  parseHttpDate,
  parseInstant,
  parseRetryAfter,
  readForeignBytes,
  readForeignJson,
} from '../foreign-text.js'
export { findDatabaseUrlProblem } from '../parse-url.js'
