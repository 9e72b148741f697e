/** The nodes of a chain, and which of them is asked. Source: DESIGN section 3 (a block counts as done). @module */
import type { EndpointStatus } from '@payment-integration/core/ports'
import type { Rpc } from './json-rpc.js'

export { isRateLimit } from './failures.js'

/** What a read found out about the endpoint that it was pinned to, beside whether it answered. */
export type Verdict =
  /** It told this head. */
  | { readonly kind: 'head'; readonly number: number }
  /** It answered a request for the logs of this many blocks. */
  | { readonly kind: 'range-read'; readonly blocks: number }
  /** It failed on a request for the logs of this many blocks; a rate limit is none of the size's business. */
  | { readonly kind: 'range-failed'; readonly blocks: number; readonly rateLimited: boolean }
  /** It contradicted itself, or what is known of the chain. */
  | { readonly kind: 'contradiction'; readonly what: string }
  /** What it answered for a block does not lead to what its header says. */
  | { readonly kind: 'proof-failed'; readonly what: string }

/** One node behind one address. */
export interface Endpoint {
  readonly name: string
  /** Requests to this node alone; it is asked for its chain id before the first one, and again after silence. */
  readonly rpc: Rpc
  /** Most blocks that one request for logs should span now: at least 1. */
  maxRange(): number
  /** Tells what was found out. */
  note(verdict: Verdict): void
}

/** All nodes of a chain. */
export interface Endpoints {
  /**
   * Runs `work` pinned to the best endpoint. When it rejects with a ChainError `ERR_CHAIN_UNAVAILABLE` or `ERR_CHAIN_PROOF_FAILED`
   * the next best is tried, each at most once; the first error is thrown when none succeeds. `ERR_CHAIN_RANGE_GONE`
   * and the caller's abort are thrown at once.
   */
  pinned<T>(work: (endpoint: Endpoint) => Promise<T>, signal?: AbortSignal): Promise<T>
  status(): readonly EndpointStatus[]
  /** As `Chain.watch`. */
  watch(wake: () => void, signal: AbortSignal): Promise<void>
  /** Ends all connections and requests. What is asked afterwards is refused. */
  close(): void
}
