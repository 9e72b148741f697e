import type { Store } from '../../src/ports/store.js'
import { memoryDataKeys } from './memory-data-keys.js'
import type { MemoryDeliveries } from './memory-deliveries.js'
import { accountReads } from './memory-identity-accounts.js'
import { identityReads } from './memory-identity-reads.js'
import { integrationsIn } from './memory-integrations.js'
import { memoryLeases } from './memory-leases.js'
import { legacyKeysIn } from './memory-legacy-keys.js'
import { copyOf, emptyState, type MemoryState, reachedOf } from './memory-state.js'
import { memoryTransaction } from './memory-transaction.js'

/** The part of the store that indexing, polling and commands use, in memory: transactions one at a time, undone when they reject. */
export interface MemoryStore
  extends Pick<
    Store,
    | 'transaction'
    | 'payments'
    | 'chains'
    | 'leases'
    | 'integrations'
    | 'legacyKeys'
    | 'audit'
    | 'identity'
    | 'identityAccounts'
    | 'dataKeys'
  > {
  /** Everything that is committed. */
  readonly committed: () => MemoryState
  /** What the next transaction rejects with, after its work and before its commit; each error is used once. */
  readonly failures: Error[]
  /** Runs before every transaction, outside of it. */
  beforeTransaction: (() => void) | null
  /** Writes rows directly. */
  seed(change: (state: MemoryState) => void): void
}

/** What a store is made with. */
export interface MemoryStoreOptions {
  /** The clock of leases, in unix milliseconds; without it none ever ends by itself. */
  readonly now?: () => number
  /** The outbox that replays are made in. */
  readonly deliveries?: MemoryDeliveries
}

/** Other stores in place of those in memory, so that the same tests run on a database. */
export interface SubstituteStores {
  build(options: MemoryStoreOptions): MemoryStore
  /** Whether a call of theirs has not ended. */
  isBusy(): boolean
}
let substitute: SubstituteStores | null = null

/** Builds these stores from now on; null: those in memory. */
export function substituteStores(stores: SubstituteStores | null): void {
  substitute = stores
}

/** Whether a store is at work that takes more than promises: those in memory never are. */
export const isStoreBusy = (): boolean => substitute?.isBusy() ?? false

/** Builds an empty store. */
export const memoryStore = (options: MemoryStoreOptions = {}): MemoryStore =>
  substitute?.build(options) ?? inMemory(options)

function inMemory({ now = () => 0, deliveries }: MemoryStoreOptions): MemoryStore {
  let state: MemoryState = emptyState()
  let queue: Promise<unknown> = Promise.resolve()
  const failures: Error[] = []

  const store: MemoryStore = {
    failures,
    beforeTransaction: null,
    committed: () => state,
    seed: (change) => change(state),
    transaction(work) {
      const result = queue.then(async () => {
        store.beforeTransaction?.()
        const draft = copyOf(state)
        const undo = deliveries?.save()
        try {
          const value = await work(memoryTransaction(draft, deliveries, now))
          const failure = failures.shift()
          if (failure) throw failure
          state = draft
          return value
        } catch (error) {
          undo?.()
          throw error
        }
      })
      queue = result.catch(() => undefined)
      return result
    },
    leases: memoryLeases(now),
    integrations: integrationsIn(() => state.integrations),
    legacyKeys: legacyKeysIn(() => state.legacyKeys),
    identity: identityReads(() => state, now),
    identityAccounts: accountReads(() => state),
    dataKeys: memoryDataKeys(() => state.dataKeys),
    audit: {
      newest: async () => state.audit.at(-1) ?? null,
      list: async ({ afterSeq = 0, limit }) => state.audit.filter(({ seq }) => seq > afterSeq).slice(0, limit),
    },
    chains: {
      proofs: async (chainId, limit) => (state.proofs.get(chainId) ?? []).slice(0, limit),
      coverage: async (chainId) => [...(state.coverage.get(chainId)?.values() ?? [])],
      async waitingDeposits({ afterId, limit }) {
        return [...state.deposits.values()]
          .filter(({ id, waiting }) => waiting && (afterId === undefined || Number(id) > Number(afterId)))
          .sort((a, b) => Number(a.id) - Number(b.id))
          .slice(0, limit)
          .map(({ id, deposit }) => ({ id, deposit }))
      },
    },
    payments: {
      checkpoint: async (chainId) => state.checkpoints.get(chainId)?.current ?? null,
      async chainsByState(states) {
        const found = [...state.payments.values()].filter(
          (payment) => payment.primary && states.includes(payment.state),
        )
        return [...new Set(found.map(({ chainId }) => chainId))].sort((a, b) => a - b)
      },
      async listByState({ states, chainIds, afterId, limit }) {
        return [...state.payments.values()]
          .filter((payment) => payment.primary && states.includes(payment.state))
          .filter(({ chainId }) => chainIds?.includes(chainId) ?? true)
          .filter((payment) => afterId === undefined || payment.id > afterId)
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .slice(0, limit)
      },
      async transaction({ chainId, txHash }) {
        const payments = [...state.payments.values()]
          .filter((payment) => payment.chainId === chainId && payment.txHash === txHash)
          .sort((a, b) => a.ordinal - b.ordinal)
        return { payments, indexedTo: reachedOf(state, chainId) }
      },
      async snapshot(paymentId, version) {
        const found = state.snapshots.find((each) => each.paymentId === paymentId && each.version === version)
        return found?.body ?? null
      },
      list: unsupported('list'),
      findByHash: unsupported('findByHash'),
    },
  }
  return store
}

function unsupported(method: string) {
  return async (): Promise<never> => {
    throw new Error(`${method} is not part of this test double`)
  }
}
