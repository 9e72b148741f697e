/** The ports to one chain, to receipts of processors and to fulfillments of bridges. @module */
import type { PaymentState, ProcessorUpdate } from '@payment-integration/contract'
import type { PaymentFacts, PricingFacts, StoredPayment, TokenFacts } from '../payments/payment.js'

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
 * How the completeness of a block is shown. Source: docs/decisions/completeness.md.
 * - `root`: the receipts of every block were read and their root recomputed.
 * - `bloom`: the log filter of every header was tested. Blocks that may contain a payment were checked as for `root`.
 * - `none`: the node's answer is trusted.
 */
export type ProofLevel = 'root' | 'bloom' | 'none'

/** The payments of a range of blocks, and the blocks as they were when the logs were read. */
export interface BlockRange {
  readonly first: BlockRef
  /** The newest of `blocks`; all of them are on its chain. */
  readonly last: BlockRef
  /** Every block whose header was read, ascending: all blocks, or with the proof `none` at least `first` and `last`. */
  readonly blocks: readonly BlockRef[]
  /** Ordered by block, and in a transaction by log index. Payments that name no integration are included. */
  readonly payments: readonly PaymentFacts[]
  /** Payments that left for another chain, in the same order. */
  readonly deposits: readonly BridgeDeposit[]
  readonly proof: ProofLevel
  /** Name of the node that answered for the whole range. */
  readonly node: string
}

/** Which blocks to read. */
export interface RangesRequest {
  readonly from: number
  /** Included; `from` or more. */
  readonly to: number
  /** Height of the newest block: blocks near it are read with more care. */
  readonly head: number
  /** Only these of the chain's routers, lowercased. @default all of them */
  readonly routers?: readonly string[] | undefined
}

/** The fate of a transaction. A transaction that is not mined yet is `unknown`, too. */
export interface TransactionFate {
  readonly fate: 'succeeded' | 'reverted' | 'unknown'
  /** Height of its block, or null. */
  readonly blockNumber: number | null
}

/** The health of one node. */
export interface NodeStatus {
  /** Host and position, never a path, a query or a user: those may contain a key. */
  readonly name: string
  /** 0 (not used while another node works) to 1. */
  readonly score: number
  /** Whether the next read goes to this node. */
  readonly inUse: boolean
  /** The newest height that the node returned, or null. */
  readonly head: number | null
  /** Moving average of answered requests, in milliseconds, or null. */
  readonly latencyMs: number | null
  /** Counts since the start: requests without an answer; contradictory answers; failed proofs. */
  readonly failures: number
  readonly contradictions: number
  readonly failedProofs: number
  /** Counts since the start: calls sent; bytes of answers, decompressed; blocks of answered ranges. */
  readonly calls: number
  readonly receivedBytes: number
  readonly blocks: number
  /** Largest number of blocks that one request for logs may span at present. */
  readonly maxRange: number
  readonly lastError: string | null
}

/**
 * One chain, read over any transport from one or several nodes.
 * Guarantees: a range is returned whole or the iteration rejects. A whole range comes from one node. An error of a node
 * never looks like an empty answer. Every hash and address is lowercased. The adapter decides when to use another node,
 * how large requests are and how far to read ahead, in bounded memory.
 * Errors are `ChainError`s. `ERR_CHAIN_UNAVAILABLE`: no node can be reached, or all answers are malformed; retry
 * later. `ERR_CHAIN_RANGE_GONE`: a block of the range was orphaned during the read; read the head again at once.
 * `ERR_CHAIN_PROOF_FAILED`: the answers of all nodes for a block contradict its header; retry later, and investigate.
 * The service checks formats and order of everything that an adapter returns; a flaw throws `ChainAdapterError`.
 */
export interface Chain {
  readonly chainId: number
  /** Name of the adapter in errors, such as `chain-evm`. @default 'without a name' */
  readonly adapter?: string | undefined
  /** Lowercased addresses of the routers whose payments are read. */
  readonly routers: readonly string[]
  /** The newest block. */
  head(signal?: AbortSignal): Promise<BlockRef>
  /** The block at a height, or null when the node has none there. */
  block(number: number, signal?: AbortSignal): Promise<BlockRef | null>
  /** Consecutive ranges, fetched ahead: the first begins at `from`, the last ends at `to`. An early return aborts. */
  ranges(request: RangesRequest, signal?: AbortSignal): AsyncIterable<BlockRange>
  /**
   * Calls `wake` when a node announces a new block; the caller polls as well. Resolves when the signal aborts, or at
   * once if no node announces blocks. Never rejects: a broken subscription is renewed.
   */
  watch(wake: () => void, signal: AbortSignal): Promise<void>
  /**
   * Whether a subscribed node announces blocks, and the newest head is the block that it announced last. The caller
   * then polls less often. When the subscription ends, `watch` calls `wake`. @default false
   */
  announcesBlocks?(): boolean
  /** The fate of a transaction, final or not. */
  transactionFate(txHash: string, signal?: AbortSignal): Promise<TransactionFate>
  /** The chain's own form of a hash, which people see beside the 0x form; null: it has no other. @default none */
  nativeHash?(txHash: string): string | null
  /** The health of the nodes, in the order of the configuration. */
  nodes(): readonly NodeStatus[]
}

interface ReceiptScope {
  /** The states to poll, of null, `pending` and `refund_pending`; other states have no effect. */
  readonly states?: readonly (PaymentState | null)[] | undefined
  readonly chainIds?: readonly number[] | undefined
}

/** A source of receipts, which is polled for payments without a final state. */
export interface ReceiptSource {
  /**
   * The payments that the source can answer for; others are not polled. Only payments of these chains are read from the
   * store, so name the chains as narrowly as possible. @default every chain, and every state that is not final
   */
  readonly scope?: ReceiptScope | undefined
  /**
   * Returns an update; null: nothing is new. Equal answers must have equal update ids. Several calls run at once. A
   * call limits its own time to some seconds. A call that rejects is repeated in a later round. After an error whose
   * `code` ends in `_UNAVAILABLE`, the other payments of the chain wait for the next round.
   */
  lookup(payment: StoredPayment, signal?: AbortSignal): Promise<ProcessorUpdate | null>
}

/** A payment that left its source chain through a bridge. */
export interface BridgeDeposit {
  /** The payment's facts, with the source chain's id and transaction. `tokenOut` is the amount that the bridge took. */
  readonly payment: PaymentFacts
  /** Name of the bridge, such as `across`. */
  readonly bridge: string
  /** The bridge's own number of the deposit on the source chain, in decimal digits. */
  readonly depositId: string
  readonly destinationChainId: number
  /** The receiver on the destination chain, lowercased. */
  readonly receiver: string
  /** The amount promised on the destination chain: token, lowercased, and base units. */
  readonly output: { readonly token: string; readonly amount: bigint }
}

/** The fulfillment of a deposit: the transaction on the destination chain that paid the receiver. */
export interface Fulfillment
  extends Pick<PaymentFacts, 'chainId' | 'txHash' | 'logIndex' | 'blockNumber' | 'blockHash' | 'blockTimestamp'> {
  /**
   * Index of the log in its transaction, from 0, unique among the fulfillments there. A reorg of the block does not
   * change it. The payment's ordinal is derived from it.
   */
  readonly position: number
  readonly receiver: string
  /** Received by the receiver, in base units. */
  readonly tokenOut: TokenFacts & { readonly amount: bigint }
  /** The entry of that token in the list of known tokens; null when it is not listed. */
  readonly listedToken: PricingFacts['listedToken']
}

/** Looks up fulfillments. Rejects with a ChainError when it cannot answer now. */
export interface FulfillmentSource {
  /** The fulfillment of a deposit, once its block is final on the destination chain; null while there is none. */
  lookup(deposit: BridgeDeposit, signal?: AbortSignal): Promise<Fulfillment | null>
}
