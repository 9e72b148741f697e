/** The error of an integration that cannot move. @module */
import { CoreError } from '../errors.js'

/** An integration cannot be imported. The message names the payment, update or key, and the remedy. */
export class MoveError extends CoreError {
  override readonly name = 'MoveError'
  readonly retryable = false
  readonly code:
    | 'ERR_MOVE_UNSUPPORTED'
    | 'ERR_MOVE_KEY_MISSING'
    | 'ERR_MOVE_PAYMENT_MISSING'
    | 'ERR_MOVE_PAYMENT_DIFFERS'
    | 'ERR_MOVE_UPDATE_MISSING'
    | 'ERR_MOVE_FILE_STALE'
    | 'ERR_MOVE_ROW_INVALID'
  constructor(code: MoveError['code'], message: string) {
    super(message)
    this.code = code
  }
}
