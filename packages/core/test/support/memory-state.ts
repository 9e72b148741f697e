import type { StoredPayment } from '../../src/payments/record.js'
import type { AccountRecord } from '../../src/ports/store-accounts.js'
import type { AuditRecord } from '../../src/ports/store-audit.js'
import type { ProvenRange, RouterCoverage, WaitingDeposit } from '../../src/ports/store-chains.js'
import type { IntegrationSessionRecord } from '../../src/ports/store-integration-sessions.js'
import type { IntegrationRecord, SealedSecret } from '../../src/ports/store-integrations.js'
import type { LegacyKeyRecord } from '../../src/ports/store-legacy-keys.js'
import type { OperatorRecord, SessionRecord } from '../../src/ports/store-operators.js'
import type { Checkpoint, NewSnapshot, NewUpdate } from '../../src/ports/store-transaction.js'
import { copyOfIdentities, type IdentityRows, noIdentities } from './memory-identity.js'
import { type AccountRows, copyOfAccounts, noAccounts } from './memory-identity-accounts.js'
import type { Move } from './memory-pages.js'

/** The rows. They are replaced, never changed. */
export interface MemoryState extends IdentityRows, AccountRows {
  readonly payments: Map<string, StoredPayment>
  readonly snapshots: NewSnapshot[]
  readonly moves: Move[]
  /**
   * Per chain: the checkpoint, the hash of every height that is kept, and how high these were built upon when that is
   * higher.
   */
  readonly checkpoints: Map<number, { current: Checkpoint; heights: Map<number, string>; reached?: number }>
  /** Per chain, newest first. */
  readonly proofs: Map<number, readonly ProvenRange[]>
  readonly coverage: Map<number, ReadonlyMap<string, RouterCoverage>>
  /** By chain, transaction and ordinal; those that wait no longer are kept, so that nothing makes them wait again. */
  readonly deposits: Map<string, WaitingDeposit & { readonly waiting: boolean }>
  /** By their id, in the order they were received. */
  readonly updates: Map<string, NewUpdate>
  readonly integrations: Map<string, IntegrationRecord>
  /** Accounts with link configurations, by handle. */
  readonly linkAccounts: Map<string, AccountRecord>
  readonly legacyKeys: Map<string, LegacyKeyRecord>
  readonly operators: Map<string, OperatorRecord>
  readonly sessions: Map<string, SessionRecord>
  readonly integrationSessions: Map<string, IntegrationSessionRecord>
  audit: AuditRecord[]
  readonly dataKeys: Map<string, SealedSecret>
}

/** Nothing at all. */
export function emptyState(): MemoryState {
  return {
    payments: new Map(),
    snapshots: [],
    moves: [],
    checkpoints: new Map(),
    proofs: new Map(),
    coverage: new Map(),
    deposits: new Map(),
    updates: new Map(),
    integrations: new Map(),
    linkAccounts: new Map(),
    legacyKeys: new Map(),
    operators: new Map(),
    sessions: new Map(),
    integrationSessions: new Map(),
    audit: [],
    dataKeys: new Map(),
    ...noIdentities(),
    ...noAccounts(),
  }
}

/** A copy that a transaction may write to; rows are shared, as nothing changes them. */
export function copyOf(state: MemoryState): MemoryState {
  return {
    payments: new Map(state.payments),
    snapshots: [...state.snapshots],
    moves: [...state.moves],
    checkpoints: new Map(state.checkpoints),
    proofs: new Map(state.proofs),
    coverage: new Map(state.coverage),
    deposits: new Map(state.deposits),
    updates: new Map(state.updates),
    integrations: new Map(state.integrations),
    linkAccounts: new Map(state.linkAccounts),
    legacyKeys: new Map(state.legacyKeys),
    operators: new Map(state.operators),
    sessions: new Map(state.sessions),
    integrationSessions: new Map(state.integrationSessions),
    audit: [...state.audit],
    dataKeys: new Map(state.dataKeys),
    ...copyOfIdentities(state),
    ...copyOfAccounts(state),
  }
}

/** How high the stored blocks of a chain were built upon. */
export function reachedOf({ checkpoints }: MemoryState, chainId: number): number | null {
  const known = checkpoints.get(chainId)
  return known === undefined ? null : Math.max(known.current.blockNumber, known.reached ?? 0)
}
