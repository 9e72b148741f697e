import { type StoredPayment, unsettledStates } from '../../src/payments/record.js'
import type { Store } from '../../src/ports/store.js'
import type { IntegrationRecord } from '../../src/ports/store-integrations.js'
import type { NewSnapshot, StoreTransaction } from '../../src/ports/store-transaction.js'
import { linkAccountsIn } from './memory-accounts.js'
import { consoleReads } from './memory-console.js'
import { memoryDataKeys } from './memory-data-keys.js'
import { type MemoryDeliveries, memoryDeliveries } from './memory-deliveries.js'
import { accountReads } from './memory-identity-accounts.js'
import { identityReads } from './memory-identity-reads.js'
import { integrationSessionReads } from './memory-integration-sessions.js'
import { integrationsIn } from './memory-integrations.js'
import { memoryLeases } from './memory-leases.js'
import { legacyKeysIn } from './memory-legacy-keys.js'
import { operatorReads } from './memory-operators.js'
import { pageReads } from './memory-pages.js'
import { sealingKeysOf } from './memory-sealing-keys.js'
import { copyOf, emptyState, type MemoryState, reachedOf } from './memory-state.js'
import { memoryTransaction } from './memory-transaction.js'

/**
 * A store in memory, which passes `storeConformance`: transactions run one at a time, and are undone when they reject.
 */
export interface MemoryStore extends Store {
  readonly deliveries: MemoryDeliveries
  /** Everything that is committed. */
  readonly committed: () => MemoryState
  /** Errors of the next transactions, after the work and before the commit; each is thrown once. */
  readonly failures: Error[]
  /** Runs before every transaction, outside of it. */
  beforeTransaction: (() => void) | null
  /** Writes rows directly. */
  seed(change: (state: MemoryState) => void): void
}

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /** The clock of leases, in unix milliseconds; without it none ever ends by itself. */
  readonly now?: () => number
  /** The outbox. @default an empty one on that clock */
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

function inMemory({ now = () => 0, deliveries = memoryDeliveries({ now }) }: MemoryStoreOptions): MemoryStore {
  let state: MemoryState = emptyState()
  deliveries.useIntegrations(() => state.integrations)
  const integrations = integrationsIn(() => state.integrations)
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
        const undo = deliveries.save()
        try {
          const operations = failedOperations(memoryTransaction(draft, deliveries, now))
          const value = await work(operations.tx)
          const failure = failures.shift() ?? operations.error()
          if (failure) throw failure
          for (const snapshot of draft.snapshots.slice(state.snapshots.length)) enqueue(draft, snapshot, deliveries)
          resetEndpoints(deliveries, state.integrations, draft.integrations)
          state = draft
          return value
        } catch (error) {
          undo()
          throw error
        }
      })
      queue = result.catch(() => undefined)
      return result
    },
    assertNotNested: () => undefined,
    leases: memoryLeases(now),
    deliveries,
    accounts: linkAccountsIn(() => state.linkAccounts),
    sealingKeys: async (at) => sealingKeysOf(state, at),
    migrate: async () => undefined,
    schema: {
      check: async () => undefined,
      plan: async () => ({ expand: [], contract: [] }),
      contract: async () => undefined,
    },
    ping: async () => undefined,
    close: async () => undefined,
    integrations: {
      ...integrations,
      async update(...given) {
        const before = new Map(state.integrations)
        const updated = await integrations.update(...given)
        resetEndpoints(deliveries, before, state.integrations)
        return updated
      },
    },
    legacyKeys: legacyKeysIn(() => state.legacyKeys),
    operators: operatorReads(() => state),
    integrationSessions: integrationSessionReads(() => state),
    identity: identityReads(() => state, now),
    identityAccounts: accountReads(() => state),
    console: consoleReads(
      () => state,
      deliveries,
      async (wallet, integrationAddress, limit) => {
        const known = integrationAddress === undefined ? [...state.integrations.keys()] : [integrationAddress]
        const pages = known.map((each) => store.payments.list({ wallet, integrationAddress: each, limit }))
        const payments = (await Promise.all(pages)).flatMap((page) => page.payments)
        return payments.sort((a, b) => b.blockTimestamp - a.blockTimestamp).slice(0, limit)
      },
    ),
    history: null,
    moves: null,
    dataKeys: memoryDataKeys(() => state.dataKeys),
    audit: {
      newest: async () => state.audit.at(-1) ?? null,
      list: async ({ afterSeq = 0, limit }) => state.audit.filter(({ seq }) => seq > afterSeq).slice(0, limit),
    },
    chains: {
      proofs: async (chainId, limit) => (state.proofs.get(chainId) ?? []).slice(0, limit),
      coverage: async (chainId) =>
        [...(state.coverage.get(chainId)?.values() ?? [])].sort((a, b) => (a.router < b.router ? -1 : 1)),
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
      async unsettledChains() {
        const found = [...state.payments.values()].filter(isUnsettled)
        return [...new Set(found.map(({ chainId }) => chainId))].sort((a, b) => a - b)
      },
      async listUnsettled({ chainId, afterId, limit }) {
        const payments = [...state.payments.values()]
        return payments
          .slice(payments.findIndex(({ id }) => id === afterId) + 1)
          .filter((payment) => isUnsettled(payment) && payment.chainId === chainId)
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
      ...pageReads(() => state),
    },
  }
  return store
}

/** A transaction, and the first error of its operations: work that swallows one must not commit. */
function failedOperations(tx: StoreTransaction): { readonly tx: StoreTransaction; error(): unknown } {
  let first: unknown
  const noting = <T extends object>(part: T): T =>
    Object.fromEntries(
      Object.entries(part).map(([name, operation]) => {
        if (typeof operation !== 'function') return [name, noting(operation)]
        return [
          name,
          (...given: unknown[]) =>
            operation(...given).catch((error: unknown) => {
              first ??= error
              throw error
            }),
        ]
      }),
    ) as T
  return { tx: noting(tx), error: () => first }
}

/** Forgets the failures of endpoints whose integration got another URL, or was enabled. */
function resetEndpoints(
  deliveries: MemoryDeliveries,
  before: ReadonlyMap<string, IntegrationRecord>,
  after: ReadonlyMap<string, IntegrationRecord>,
): void {
  for (const [address, { notificationUrl, enabled }] of after) {
    const known = before.get(address)
    if (known !== undefined && (known.notificationUrl !== notificationUrl || (enabled && !known.enabled)))
      deliveries.resetEndpoint(address)
  }
}

/** Puts a delivery into the outbox, where the snapshot's integration has a notification URL. */
function enqueue(
  { payments, integrations }: MemoryState,
  { paymentId, version, body, integrationAddress }: NewSnapshot,
  deliveries: MemoryDeliveries,
): void {
  const payment = payments.get(paymentId)
  const integration = integrations.get(integrationAddress ?? '')
  if (payment === undefined || integration === undefined || integration.notificationUrl === null) return
  const { address, notificationUrl, signingSecret, previousSigningSecret } = integration
  const { chainId, txHash } = payment
  deliveries.add({
    ...{ deliveryId: `${paymentId}:${version}`, integrationAddress: address, chainId, txHash, version, body },
    ...{ notificationUrl, signingSecret, previousSigningSecret },
  })
}

const isUnsettled = ({ primary, state }: StoredPayment) => primary && unsettledStates.includes(state)
