/** The request and the report of a reindex. @module */
import type { ProofLevel } from '../ports/chain.js'

/** Which blocks to read again. */
export interface ReindexRequest {
  readonly from: number
  /** Included. @default the checkpoint */
  readonly to?: number | undefined
  /** Whether to write the differences; otherwise they are only reported. */
  readonly repair: boolean
}

/** The result for one range of blocks. */
export interface ReindexReport {
  /** Both included. */
  readonly range: { readonly from: number; readonly to: number }
  /** Proof level of this read, and the name of the endpoint that it came from. */
  readonly proof: ProofLevel
  readonly endpoint: string
  readonly differences: readonly Difference[]
  /** Whether they were written; false without differences. The integration of a stored payment never changes. */
  readonly repaired: boolean
}

/** A payment whose stored record differs from the chain. */
export interface Difference {
  /**
   * `missing`: on the chain, not stored in these blocks. `extra`: stored, not on the chain in these blocks. `changed`:
   * stored with other facts, or marked as off the chain.
   */
  readonly kind: 'missing' | 'extra' | 'changed'
  /** Lowercased. */
  readonly txHash: string
  /** Position of the payment in its transaction. */
  readonly ordinal: number
  /**
   * For `changed`: the fields that differ, such as `blockHash`; `offChain` for a payment that is marked as off the
   * chain.
   */
  readonly fields?: readonly string[]
}
