/** The error of a reindex that would mix blocks of two histories. @module */
import { CoreError } from '../errors.js'

/** These blocks cannot be reindexed; the message says which can. Nothing was written. */
export class ReindexError extends CoreError {
  override readonly name = 'ReindexError'
  readonly code = 'ERR_REINDEX_REFUSED'
  readonly retryable = false
  readonly chainId: number
  constructor(chainId: number, message: string) {
    super(message)
    this.chainId = chainId
  }
}
