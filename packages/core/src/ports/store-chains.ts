/** What is stored about chains beside their payments. @module */

import type { ProofLevel } from './chain.js'
import type { BridgeDeposit } from './fulfilment.js'

/**
 * Blocks whose payments are stored, and how that is known to be all of them: where they were read several times, by the
 * weakest proof.
 */
export interface ProvenRange {
  readonly from: number
  readonly to: number
  readonly proof: ProofLevel
  /** Name of the endpoint they were read from. */
  readonly endpoint: string
}

/** Which blocks of a chain were read for a router. */
export interface RouterCoverage {
  /** Lowercased. */
  readonly router: string
  readonly from: number
  /** Last block that was read; null: it is read along with the chain, up to the checkpoint. */
  readonly to: number | null
}

/** A deposit that waits for its fulfilment. */
export interface WaitingDeposit {
  /** The store's own key. */
  readonly id: string
  readonly deposit: BridgeDeposit
}

/** Reads about chains that see committed rows only. */
export interface ChainReads {
  /** Proven ranges, newest first, at most `limit`. Neighbours of one level and endpoint are one range. */
  proofs(chainId: number, limit: number): Promise<ProvenRange[]>
  coverage(chainId: number): Promise<RouterCoverage[]>
  /** Deposits without a fulfilment, oldest first, after `afterId` when given. */
  waitingDeposits(query: { readonly afterId?: string | undefined; readonly limit: number }): Promise<WaitingDeposit[]>
}

/** Who may do what only one process at a time should do. Time is the database's, or the store's injected clock. */
export interface LeaseStore {
  /** Takes a lease, or prolongs it, for `ttlMs` from now. Resolves false while another holder has it. */
  acquire(lease: { readonly name: string; readonly holder: string; readonly ttlMs: number }): Promise<boolean>
  /** Gives a lease up, if the holder still has it. */
  release(lease: { readonly name: string; readonly holder: string }): Promise<void>
}
