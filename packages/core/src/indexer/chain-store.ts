/** Stored proofs, coverage, deposits and leases of chains. @module */
import type { ProofLevel } from '../ports/chain.js'
import type { BridgeDeposit } from '../ports/fulfilment.js'

/**
 * Blocks whose payments are stored, with their proof level. Blocks that were read several times have the weakest of
 * their levels.
 */
export interface ProvenRange {
  readonly from: number
  readonly to: number
  readonly proof: ProofLevel
  /** Name of the endpoint that answered them. */
  readonly endpoint: string
}

/** The blocks of a chain that were read for a router. */
export interface RouterCoverage {
  /** Lowercased. */
  readonly router: string
  readonly from: number
  /** Last block that was read; null: the chain's checkpoint. */
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
  /** Proven ranges, newest first, at most `limit`. Adjacent blocks of one level and endpoint are one range. */
  proofs(chainId: number, limit: number): Promise<ProvenRange[]>
  coverage(chainId: number): Promise<RouterCoverage[]>
  /** Deposits without a fulfilment, oldest first, after `afterId` when given. */
  waitingDeposits(query: { readonly afterId?: string | undefined; readonly limit: number }): Promise<WaitingDeposit[]>
}

/** Leases for work that one process at a time does. Time is the database's, or the store's injected clock. */
export interface LeaseStore {
  /**
   * Acquires or extends a lease for `ttlMs` from now. Resolves false while another holder has it. A lease that ends
   * later than `ttlMs` and ten minutes from now is free: a clock that was ahead took it.
   */
  acquire(lease: { readonly name: string; readonly holder: string; readonly ttlMs: number }): Promise<boolean>
  /** Releases a lease, if the holder still has it, or had it last. */
  release(lease: { readonly name: string; readonly holder: string }): Promise<void>
  /** All leases that were not released, by name. `endsInMs`: 0 or less once a lease has ended. */
  list(): Promise<{ readonly name: string; readonly holder: string; readonly endsInMs: number }[]>
}
