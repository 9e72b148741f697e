/** The error of an integration that cannot move. @module */
import { CoreError } from '../errors.js'
import type { UnrecordedRange } from '../integration-types.js'

/** An integration cannot be imported. The message names the payment, update or key, and the remedy. */
export class MoveError extends CoreError {
  override readonly name = 'MoveError'
  readonly retryable = false
  readonly code:
    | 'ERR_MOVE_UNSUPPORTED'
    | 'ERR_MOVE_KEY_MISSING'
    | 'ERR_MOVE_UNRECORDED'
    | 'ERR_MOVE_PAYMENT_MISSING'
    | 'ERR_MOVE_PAYMENT_DIFFERS'
    | 'ERR_MOVE_UPDATE_MISSING'
    | 'ERR_MOVE_FILE_STALE'
    | 'ERR_MOVE_ROW_INVALID'
  /** With `ERR_MOVE_UNRECORDED`: the blocks to read again, by chain. */
  readonly unrecorded: readonly UnrecordedRange[]
  constructor(code: MoveError['code'], message: string, unrecorded: readonly UnrecordedRange[] = []) {
    super(message)
    this.code = code
    this.unrecorded = unrecorded
  }
}
