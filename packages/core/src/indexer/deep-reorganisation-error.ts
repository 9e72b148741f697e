/** The error of a reorganisation that orphaned final blocks. @module */
import { CoreError } from '../errors.js'

/**
 * Final blocks were orphaned. Nothing was changed, nothing is indexed, and reads go on. An operator decides whether the
 * node is right, and repairs with the command that the message names.
 */
export class DeepReorganisationError extends CoreError {
  override readonly name = 'DeepReorganisationError'
  readonly code = 'ERR_CHAIN_REORG_TOO_DEEP'
  /** By then the node may show the stored blocks again, or the chain may be repaired. */
  readonly retryable = true
  readonly chainId: number
  /** Height of the newest stored block that is on the chain. */
  readonly commonAncestor: number
  constructor(chainId: number, fact: { readonly blockNumber: number; readonly commonAncestor: number }) {
    const { blockNumber, commonAncestor } = fact
    super(
      `Chain ${chainId}: blocks ${commonAncestor + 1} to ${blockNumber} are not on the chain that the node shows, and some of them ` +
        'were final. Indexing of this chain has stopped; reads go on. Check with another node which blocks are right; to follow ' +
        `those of this node, run: payment-integration reindex --chain ${chainId} --from ${commonAncestor + 1}`,
    )
    this.chainId = chainId
    this.commonAncestor = commonAncestor
  }
}
