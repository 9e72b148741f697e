/** Decides which blocks to read next. @module */
import type { BlockRef } from '../ports/chain.js'
import type { Checkpoint } from '../ports/store-transaction.js'

/** The next step of an indexer. */
export type Plan =
  /** Nothing new: the head is not above the checkpoint, or the first block is not mined yet. */
  | { readonly kind: 'wait' }
  /** Nothing is stored yet: store this first block as the start. */
  | { readonly kind: 'start'; readonly at: number }
  /** The head has the checkpoint's height and another hash: check whether the checkpoint is orphaned. */
  | { readonly kind: 'verify' }
  /** Read these blocks, both ends included. */
  | { readonly kind: 'read'; readonly from: number; readonly to: number }

/**
 * Plans one step. A head below the checkpoint is a node that lags, not a reorganisation: wait.
 * The genesis block is read alone, so that a rollback always finds a block.
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
