/** Stored proofs, coverage, deposits and leases of chains. @module */
import type { ProofLevel } from '../ports/chain.js'
import type { BridgeDeposit } from '../ports/sources.js'

/** How far a chain is indexed. */
export interface Checkpoint {
  readonly blockNumber: number
  readonly blockHash: string
}

/**
 * Blocks whose payments are stored, with their proof level. Blocks that were read several times have the weakest of
 * their levels.
 */
export interface ProvenRange {
  readonly from: number
  readonly to: number
  readonly proof: ProofLevel
  /** Name of the node that answered them. */
  readonly node: string
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
  /** Proven ranges, newest first, at most `limit`. Adjacent blocks of one level and node are one range. */
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

/** Chains inside one transaction. */
export interface ChainTransaction {
  /**
   * Locks the chain for writing its blocks until the transaction ends. A second indexer of the chain waits, and so does
   * {@link shareChain}. Resolves the stored checkpoint, or null when nothing is indexed.
   */
  lockChain(chainId: number): Promise<Checkpoint | null>
  /** Waits for the {@link lockChain} of another transaction, and blocks new ones until this transaction ends. */
  shareChain(chainId: number): Promise<void>
  /**
   * Moves the checkpoint, up or down. Call after {@link lockChain}. Its hash and those of `below` are stored for
   * {@link checkpoints}. Every height above it is deleted, with its proofs. More than 2,000 heights below it, a store
   * may thin out the hashes: it must keep one of each 2,000 stored, down to 1,000,000 heights below.
   *
   * @param below - Blocks under it, ascending, that a reorganisation may lead back to.
   */
  setCheckpoint(chainId: number, checkpoint: Checkpoint, below?: readonly Checkpoint[]): Promise<void>
  /**
   * The height for finality: the checkpoint's, or the one of {@link setReached} while that is higher; null when nothing
   * is indexed.
   */
  reached(chainId: number): Promise<number | null>
  /**
   * Stores the height before the checkpoint moved down, so that final payments stay final while blocks are read again.
   * It is deleted when the checkpoint is as high, or moves down again.
   */
  setReached(chainId: number, height: number): Promise<void>
  /** The chains with a stored checkpoint, in any order. */
  indexedChains(): Promise<number[]>
  /** Checkpoints stored at or below a height, newest first, at most `limit`. */
  checkpoints(chainId: number, atOrBelow: number, limit: number): Promise<Checkpoint[]>
  /**
   * Stores the proof level of blocks, replacing earlier levels. Call after {@link lockChain}. Adjacent ranges of one
   * level and node become one.
   */
  addProof(chainId: number, proven: ProvenRange): Promise<void>
  /**
   * Stores the proof level of a second read of blocks, for an added router. Each block gets the weaker of its two
   * levels: each read proves the payments of its own routers alone. Call after {@link lockChain}.
   */
  addWeakerProof(chainId: number, proven: ProvenRange): Promise<void>
  /** Stores the blocks that were read for a router, replacing its earlier coverage. */
  setCoverage(chainId: number, coverage: RouterCoverage): Promise<void>
  /** Stores deposits, or updates the chain's facts of those stored under the same (chainId, txHash, ordinal). */
  upsertDeposits(deposits: readonly BridgeDeposit[]): Promise<void>
  /**
   * Settles a waiting deposit. Resolves false when it no longer waits: its block left the chain, or another transaction
   * settled it.
   */
  settleDeposit(id: string): Promise<boolean>
}
