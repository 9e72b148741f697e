/** The error of a chain that took back what counted as final. @module */
import { CoreError } from '../errors.js'

/**
 * Blocks that counted as final left the chain. Nothing was changed, nothing is indexed, and reads go on: an operator decides whether
 * the node is right, and repairs with the command that the message names.
 */
export class DeepReorganisationError extends CoreError {
  override readonly name = 'DeepReorganisationError'
  readonly code = 'ERR_CHAIN_REORG_TOO_DEEP'
  /** The node may be back on the known branch, or the chain repaired, by then. */
  readonly retryable = true
  readonly chainId: number
  /** Height of the newest stored block that is on the chain. */
  readonly commonAncestor: number
  constructor(chainId: number, fact: { readonly blockNumber: number; readonly commonAncestor: number }) {
    const { blockNumber, commonAncestor } = fact
    super(
      `Chain ${chainId}: blocks ${commonAncestor + 1} to ${blockNumber} are not on the chain that the node shows, and some of them ` +
        'counted as final. Indexing of this chain has stopped; reads go on. Check with another node which branch is right; to follow ' +
        `the one this node shows, run: payment-integration reindex --chain ${chainId} --from ${commonAncestor + 1}`,
    )
    this.chainId = chainId
    this.commonAncestor = commonAncestor
  }
}
