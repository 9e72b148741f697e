/** Stored checkpoints, proofs, coverage, deposits and leases of chains. @module */
import type { BlockRange, BridgeDeposit } from '../ports/chain.js'

export interface Checkpoint {
  readonly blockNumber: number
  readonly blockHash: string
}

/** Blocks whose payments are stored. They were read with one proof level from the named node. */
export interface ProvenRange extends Pick<BlockRange, 'proof' | 'node'> {
  readonly from: number
  readonly to: number
}

/** The blocks of a chain that were read for a router. */
export interface RouterCoverage {
  /** Lowercased. */
  readonly router: string
  readonly from: number
  /** Last block that was read; null: the chain's checkpoint. */
  readonly to: number | null
}

/** `id`: the store's own key. */
export type WaitingDeposit = { readonly id: string; readonly deposit: BridgeDeposit }

/** Rows after `afterId` when given, at most `limit`. */
export type WaitingQuery = { readonly afterId?: string | undefined; readonly limit: number }

export interface ChainReads {
  /** Proven ranges, newest first, at most `limit`. Adjacent blocks of one level and node are one range. */
  proofs(chainId: number, limit: number): Promise<ProvenRange[]>
  coverage(chainId: number): Promise<RouterCoverage[]>
  /** Deposits without a fulfillment, oldest first. */
  waitingDeposits(query: WaitingQuery): Promise<WaitingDeposit[]>
}

/** A lease that was not released. */
export interface LeaseView {
  /** Such as `indexer:137`. */
  readonly name: string
  /** The id of the process that has the lease, or had it last. */
  readonly holder: string
  /** Milliseconds until it ends; 0 or less once it has ended. */
  readonly endsInMs: number
}

/** Leases for work that one process does at a time. Time is the database's, or the store's injected clock. */
export interface LeaseStore {
  /**
   * Acquires or extends a lease for `ttlMs` from now. Resolves false while another holder has it. But a lease is free
   * if it ends more than one minute after both now + `ttlMs` and now + ten minutes: a clock that was ahead wrote it.
   */
  acquire(lease: { readonly name: string; readonly holder: string; readonly ttlMs: number }): Promise<boolean>
  /** Releases a lease, if this holder has it or had it last. */
  release(lease: { readonly name: string; readonly holder: string }): Promise<void>
  /** All leases that were not released, by name. */
  list(): Promise<LeaseView[]>
}

export interface ChainTransaction {
  /** Locks the chain for writing its blocks, and resolves its checkpoint. Others wait to lock or share the chain. */
  lockChain(chainId: number): Promise<Checkpoint | null>
  /** Waits for the {@link lockChain} of another transaction, and blocks new calls of it until this transaction ends. */
  shareChain(chainId: number): Promise<void>
  /**
   * Moves the checkpoint, up or down; call after {@link lockChain}. Deletes the heights above it, with their proofs.
   * Stores the checkpoint's hash and those of `below`, ascending, for {@link checkpoints}. More than 2,000 blocks below
   * the checkpoint a store may keep one hash in 2,000; more than 1,000,000 blocks below, none.
   */
  setCheckpoint(chainId: number, checkpoint: Checkpoint, below?: readonly Checkpoint[]): Promise<void>
  /** The height that decides finality: the checkpoint, or a higher {@link setReached}; null: nothing is indexed. */
  reached(chainId: number): Promise<number | null>
  /** Keeps final payments final while blocks are read again, until the checkpoint is as high, or moves down again. */
  setReached(chainId: number, height: number): Promise<void>
  /** The chains with a stored checkpoint, in any order. */
  indexedChains(): Promise<number[]>
  /** Checkpoints stored at or below a height, newest first, at most `limit`. */
  checkpoints(chainId: number, atOrBelow: number, limit: number): Promise<Checkpoint[]>
  /** Replaces the proof level of blocks, and joins adjacent ranges; call after {@link lockChain}. */
  addProof(chainId: number, proven: ProvenRange): Promise<void>
  /** As {@link addProof}, for an added router: a block keeps the weaker level, as a read proves only its routers. */
  addWeakerProof(chainId: number, proven: ProvenRange): Promise<void>
  /** Stores the blocks that were read for a router, replacing its earlier coverage. */
  setCoverage(chainId: number, coverage: RouterCoverage): Promise<void>
  /** Stores deposits, or updates the chain's facts of those stored under the same (chainId, txHash, ordinal). */
  upsertDeposits(deposits: readonly BridgeDeposit[]): Promise<void>
  /** Settles a waiting deposit; false: its block left the chain, or another transaction settled it. */
  settleDeposit(id: string): Promise<boolean>
}
