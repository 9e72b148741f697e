/** The error of a chain that left everything we know of it. @module */
import { CoreError } from '../errors.js'

/**
 * None of the stored checkpoints is on the chain that the node shows. Nothing is indexed until one is: the node may be on
 * another chain, or the reorganisation is deeper than what was kept.
 */
export class BrokenHistoryError extends CoreError {
  override readonly name = 'BrokenHistoryError'
  readonly code = 'ERR_CHAIN_HISTORY_BROKEN'
  readonly retryable = true
  readonly chainId: number
  constructor(chainId: number, blockNumber: number) {
    super(
      `Chain ${chainId}: no stored checkpoint up to block ${blockNumber} is on the chain that the node shows. ` +
        'Indexing of this chain has stopped and is retried. Check that the node follows the right chain; ' +
        'if it does, index this chain into an empty database.',
    )
    this.chainId = chainId
  }
}
