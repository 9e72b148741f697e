/** The nodes of a chain, and the choice among them. Source: docs/decisions/nodes.md. @module */
import type { NodeStatus } from '@payment-integration/core/ports'
import type { Rpc } from './json-rpc.js'

export { isRateLimit } from './failures.js'

/** A finding of a read about its node, beside whether it answered. */
export type Verdict =
  /** It reported this head. */
  | { readonly kind: 'head'; readonly number: number }
  /** It answered all of a range of this many blocks. */
  | { readonly kind: 'blocks-read'; readonly blocks: number }
  /** It answered a request for the logs of this many blocks. */
  | { readonly kind: 'range-read'; readonly blocks: number }
  /** It failed on a request for the logs of this many blocks; a rate limit is none of the size's business. */
  | { readonly kind: 'range-failed'; readonly blocks: number; readonly rateLimited: boolean }
  /** It contradicted itself, or what is known of the chain. */
  | { readonly kind: 'contradiction'; readonly what: string }
  /** Its answer for a block does not lead to the header. */
  | { readonly kind: 'proof-failed'; readonly what: string }

/** One node behind one address. */
export interface Node {
  readonly name: string
  /** Requests to this node alone; it is asked for its chain id before the first one, and again after silence. */
  readonly rpc: Rpc
  /** Most blocks that one request for logs should span now: at least 1. */
  maxRange(): number
  /** Bytes that it has answered since it was opened, 0 when they are not counted, and requests refused for the rate. */
  traffic(): { readonly received: number; readonly refused: number }
  /** Whether no other node would answer now, so that a failed read is repeated here. */
  isAlone(): boolean
  /** Tells what was found out. */
  note(verdict: Verdict): void
}

/** All nodes of a chain. */
export interface Nodes {
  /**
   * Runs `work` pinned to the best node. After `ERR_CHAIN_UNAVAILABLE` or `ERR_CHAIN_PROOF_FAILED` it tries the
   * next best, each at most once; if none succeeds, it throws the first error. `ERR_CHAIN_RANGE_GONE` and the caller's
   * abort are thrown at once.
   */
  pinned<T>(work: (node: Node) => Promise<T>, signal?: AbortSignal): Promise<T>
  status(): readonly NodeStatus[]
  /** As `Chain.watch`. */
  watch(wake: () => void, signal: AbortSignal): Promise<void>
  /** As `Chain.announcesBlocks`. */
  announcesBlocks(): boolean
  /** Ends all connections and requests. Later calls are refused. */
  close(): void
}
