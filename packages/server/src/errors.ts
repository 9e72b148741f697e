/** The codes of the server's own errors and their base class. `docs/errors.md` has their meanings. @module */

/** Every code of this package; an error of the core has one of `CoreErrorCode`. */
export type ServerErrorCode =
  | 'ERR_ADDRESS_REJECTED'
  | 'ERR_BODY_UNEXPECTED'
  | 'ERR_CONFIG'
  | 'ERR_CONTENT_TYPE'
  | 'ERR_HEADER_REPEATED'
  | 'ERR_LISTEN'
  | 'ERR_POST_TIMEOUT'
  | 'ERR_QUERY_MALFORMED'
  | 'ERR_RECEIPT_INVALID'
  | 'ERR_RECEIPT_UNAVAILABLE'
  | 'ERR_TRIGGER_INVALID'
  | 'ERR_UPDATE_INVALID'

/** Base of the errors of this package. `retryable`: the same call may succeed later, unchanged. */
export abstract class ServerError extends Error {
  abstract readonly code: ServerErrorCode
  readonly retryable: boolean = false
}
