/** The refusals and failures of an adapter itself. @module */

/** HTTP status by code. `ERR_BODY_NOT_RAW`, `_TOO_LARGE` and `_UNREADABLE` mean the same as for `verify`. */
const statusByCode = {
  ERR_METHOD_NOT_ALLOWED: 405,
  ERR_BODY_NOT_RAW: 500,
  ERR_BODY_TOO_LARGE: 413,
  ERR_BODY_UNREADABLE: 400,
  ERR_BODY_TIMEOUT: 408,
  ERR_RECEIVE_TIMEOUT: 503,
} as const

/**
 * A delivery that got no result from `receive`. Its message says the cure.
 * The method is not POST; the body is not raw, too large, broken off or too slow (`ERR_BODY_TIMEOUT`); or `receive`
 * missed the deadline (`ERR_RECEIVE_TIMEOUT`).
 */
export class HandlerError extends Error {
  override readonly name = 'HandlerError'
  readonly code: keyof typeof statusByCode
  readonly status: number
  constructor(code: keyof typeof statusByCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = statusByCode[code]
  }
}

/** The body is larger than `maxBytes`; not more than that was kept. */
export function bodyTooLarge(maxBytes: number): HandlerError {
  return new HandlerError(
    'ERR_BODY_TOO_LARGE',
    `The body is larger than ${maxBytes} bytes. Raise maxBytes of the handler and of the verifier if the service really sends such bodies.`,
  )
}

/** The body broke off. */
export function bodyUnreadable(cause?: unknown): HandlerError {
  return new HandlerError('ERR_BODY_UNREADABLE', 'The body of the request could not be read to its end.', { cause })
}
