/** Which blocks to read next. @module */
import type { BlockRef } from '../ports/chain.js'
import type { Checkpoint } from '../ports/store-transaction.js'

/** What to do about a chain now. */
export type Plan =
  /** Nothing new: the head is not above what is indexed, or the first block is not there yet. */
  | { readonly kind: 'wait' }
  /** Nothing is stored yet: decide on this first block. */
  | { readonly kind: 'start'; readonly at: number }
  /** The head has our height and another hash: ask whether our block left the chain. */
  | { readonly kind: 'verify' }
  /** Read these blocks, both ends included. */
  | { readonly kind: 'read'; readonly from: number; readonly to: number }

/**
 * Plans one round. A head below the checkpoint means that the node lags, not that the chain changed: it is waited for.
 * The genesis block is read alone, so that there is always a block to go back to.
 * @param start - First block to index while nothing is stored; `head` is the head itself.
 */
export function planRange(head: BlockRef, checkpoint: Checkpoint | null, start: number | 'head'): Plan {
  if (checkpoint === null) {
    const at = start === 'head' ? head.number : start
    if (at > head.number) return { kind: 'wait' }
    return at === 0 ? { kind: 'read', from: 0, to: 0 } : { kind: 'start', at }
  }
  const { blockNumber, blockHash } = checkpoint
  if (head.number === blockNumber) return { kind: head.hash === blockHash ? 'wait' : 'verify' }
  if (head.number < blockNumber) return { kind: 'wait' }
  return { kind: 'read', from: blockNumber + 1, to: head.number }
}
