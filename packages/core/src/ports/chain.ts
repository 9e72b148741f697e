/** What the core needs from one chain. @module */
import type { PaymentFacts } from '../payments/facts.js'

/** A block on the chain. */
export interface BlockRef {
  readonly number: number
  /** 0x and 64 lowercase hex digits. */
  readonly hash: string
  readonly parentHash: string
  /** Unix time in milliseconds. */
  readonly timestamp: number
}

/** The payments of a run of blocks, with the blocks at its two ends as they were when the logs were read. */
export interface BlockRange {
  readonly first: BlockRef
  readonly last: BlockRef
  /** By block, then log index. Includes payments that name no integration. */
  readonly payments: readonly PaymentFacts[]
}

/** What became of a transaction. `unknown` covers "not mined, as far as this node knows". */
export interface TransactionFate {
  readonly fate: 'succeeded' | 'reverted' | 'unknown'
  /** Height of the block that holds it, or null. */
  readonly blockNumber: number | null
}

/**
 * One chain, read over any transport.
 *
 * Guarantees the adapter gives: a range is returned whole or the call rejects; an error of the node is never turned into
 * an empty answer; every hash and address is lowercased.
 * Errors: {@link ChainError} with `ERR_CHAIN_UNAVAILABLE` when the node cannot be reached or answers nonsense (retry later),
 * `ERR_CHAIN_RANGE_GONE` when a block of the range vanished while it was read (read the head again).
 */
export interface Chain {
  readonly chainId: number
  /** The newest block. */
  head(signal?: AbortSignal): Promise<BlockRef>
  /** The block at a height, or null when the node has none there. */
  block(number: number, signal?: AbortSignal): Promise<BlockRef | null>
  /** All payments of the blocks `from` to `to`, both included. */
  range(from: number, to: number, signal?: AbortSignal): Promise<BlockRange>
  /** What became of a transaction. */
  transactionFate(txHash: string, signal?: AbortSignal): Promise<TransactionFate>
}
