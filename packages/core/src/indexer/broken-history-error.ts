/** The error of a chain without any stored checkpoint on it. @module */
import { CoreError } from '../errors.js'

/**
 * None of the stored checkpoints is on the chain that the node shows, and nothing is indexed until one is. The node may
 * follow another chain, or the reorganisation is deeper than the stored checkpoints.
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
