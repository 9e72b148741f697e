/** The error of a request that cannot be read. @module */

/** The forms of a request. */
export type RequestForm = 'curl' | 'har' | 'event' | 'http' | 'headers'

/** A pasted request is not in a form that is known, or misses a part. The message quotes nothing of it. */
export class RequestUnreadableError extends Error {
  override readonly name = 'RequestUnreadableError'
  readonly code = 'ERR_REQUEST_UNREADABLE'
  /** The form that it seems to have; null when it is not known. */
  readonly form: RequestForm | null
  constructor(form: RequestForm | null, message: string) {
    super(message)
    this.form = form
  }
}
