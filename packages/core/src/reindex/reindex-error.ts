/** The error of a reindex that would leave the chain in pieces. @module */
import { CoreError } from '../errors.js'

/** The blocks that were asked for cannot be read again; the message says which can. Nothing was written. */
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
