/** What the core needs from one chain. @module */
import type { PaymentFacts } from '../payments/facts.js'
import type { BridgeDeposit } from './fulfilment.js'

/** A block on the chain. */
export interface BlockRef {
  readonly number: number
  /** 0x and 64 lowercase hex digits. */
  readonly hash: string
  readonly parentHash: string
  /** Unix time in milliseconds. */
  readonly timestamp: number
}

/**
 * How it is known that no payment of some blocks is missing. Source: docs/decisions/completeness.md. `root`: the
 * receipts of every block were read and their root recomputed. `bloom`: the log filter of every header was tested, and
 * the receipts of every block that may hold a payment were read and their root recomputed. `none`: the node's word.
 */
export type ProofLevel = 'root' | 'bloom' | 'none'

/** The payments of a run of blocks, with the blocks as they were when the logs were read. */
export interface BlockRange {
  readonly first: BlockRef
  readonly last: BlockRef
  /**
   * Every block whose header was read, ascending: `first` and `last` at least, all of them unless the proof is `none`.
   * Each follows the one before.
   */
  readonly blocks: readonly BlockRef[]
  /** By block, then log index. Includes payments that name no integration. */
  readonly payments: readonly PaymentFacts[]
  /** Payments that left for another chain, in the same order. */
  readonly deposits: readonly BridgeDeposit[]
  readonly proof: ProofLevel
  /** Name of the endpoint that all of it came from. */
  readonly endpoint: string
}

/** Which blocks to read. */
export interface RangesRequest {
  readonly from: number
  /** Included; `from` or more. */
  readonly to: number
  /** The newest block: what is near it is read with more care. */
  readonly head: number
  /** Only these of the chain's routers, lowercased. @default all of them */
  readonly routers?: readonly string[] | undefined
}

/** What became of a transaction. `unknown` covers "not mined, as far as this node knows". */
export interface TransactionFate {
  readonly fate: 'succeeded' | 'reverted' | 'unknown'
  /** Height of the block that holds it, or null. */
  readonly blockNumber: number | null
}

/** How one endpoint is doing. */
export interface EndpointStatus {
  /** Host and position, never a path, a query or a user: those may hold a key. */
  readonly name: string
  /** 0 (not used while another one works) to 1. */
  readonly score: number
  /** Whether the next read goes to it. */
  readonly inUse: boolean
  /** Newest height it told, or null. */
  readonly head: number | null
  /** Moving average of answered requests, in milliseconds, or null. */
  readonly latencyMs: number | null
  /** Since the start: requests without an answer; answers that contradict themselves or the chain; failed proofs. */
  readonly failures: number
  readonly contradictions: number
  readonly failedProofs: number
  /** Largest number of blocks that one request for logs may span now. */
  readonly maxRange: number
  readonly lastError: string | null
}

/**
 * One chain, read over any transport from one or several endpoints.
 *
 * Guarantees the adapter gives: a range is returned whole or the iteration rejects; all of a range comes from one
 * endpoint; an error of a node is never turned into an empty answer; every hash and address is lowercased. Retrying
 * elsewhere, sizes of requests and reading ahead are the adapter's business; what it holds in memory is bounded.
 * Errors: {@link ChainError} with `ERR_CHAIN_UNAVAILABLE` when no node can be reached or all answer nonsense (retry
 * later), `ERR_CHAIN_RANGE_GONE` when a block of the range vanished while it was read (read the head again at once),
 * `ERR_CHAIN_PROOF_FAILED` when what every node answers for a block contradicts its header (retry later, and look).
 */
export interface Chain {
  readonly chainId: number
  /** Lowercased addresses of the routers whose payments are read. */
  readonly routers: readonly string[]
  /** The newest block. */
  head(signal?: AbortSignal): Promise<BlockRef>
  /** The block at a height, or null when the node has none there. */
  block(number: number, signal?: AbortSignal): Promise<BlockRef | null>
  /**
   * The blocks asked for, in ranges that follow each other: the first begins at `from`, the last ends at `to`. The next
   * ranges are fetched while one is worked on. Returning early ends all requests.
   */
  ranges(request: RangesRequest, signal?: AbortSignal): AsyncIterable<BlockRange>
  /**
   * Calls `wake` whenever a node says that there is a new block, where one offers that. Resolves when the signal
   * aborts, or at once where none does; it never rejects: a subscription that breaks is made again. Polling goes on
   * beside it.
   */
  watch(wake: () => void, signal: AbortSignal): Promise<void>
  /** What became of a transaction. */
  transactionFate(txHash: string, signal?: AbortSignal): Promise<TransactionFate>
  /** How the endpoints are doing, in the order of the configuration. */
  endpoints(): readonly EndpointStatus[]
}
