/** The errors of this package. @module */
import type { RequestForm } from './explain/explain-input.js'

/** Every code of this package. */
export type TestingErrorCode = 'ERR_REQUEST_UNREADABLE' | 'ERR_TRIGGER' | 'ERR_TRIGGER_INVALID'

/** Base class of this package's errors. `retryable`: the unchanged call may succeed later. */
export abstract class TestingError extends Error {
  abstract readonly code: TestingErrorCode
  readonly retryable = false
}

/** A pasted request has no known form, or lacks a part. The message does not quote the request. */
export class UnreadableRequestError extends TestingError {
  override readonly name = 'UnreadableRequestError'
  readonly code = 'ERR_REQUEST_UNREADABLE'
  /** The probable form of the request; null: unknown. */
  readonly form: RequestForm | null
  constructor(form: RequestForm | null, message: string) {
    super(message)
    this.form = form
  }
}

/** A scenario ended early: the service or the receiver did not do what the scenario needs. */
export class TriggerError extends TestingError {
  override readonly name = 'TriggerError'
  readonly code = 'ERR_TRIGGER'
}

/** A scenario or option is unknown, or a value is malformed. No event was caused. */
export class TriggerRequestError extends TestingError {
  override readonly name = 'TriggerRequestError'
  readonly code = 'ERR_TRIGGER_INVALID'
}
