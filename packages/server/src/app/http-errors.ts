/** Errors of HTTP itself, not of a use case. @module */

/** A request that HTTP rules reject before a use case runs. */
export class HttpRequestError extends Error {
  override readonly name = 'HttpRequestError'
  readonly code:
    | 'ERR_BODY_UNEXPECTED'
    | 'ERR_CONTENT_TYPE'
    | 'ERR_HEADER_REPEATED'
    | 'ERR_QUERY_MALFORMED'
    | 'ERR_TRIGGER_INVALID'
    | 'ERR_UPDATE_INVALID'
  constructor(code: HttpRequestError['code'], message: string) {
    super(message)
    this.code = code
  }
}
