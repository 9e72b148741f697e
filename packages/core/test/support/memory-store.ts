import type { Store } from '../../src/ports/store.js'
import { memoryLeases } from './memory-leases.js'
import { copyOf, type MemoryState, reachedOf } from './memory-state.js'
import { memoryTransaction } from './memory-transaction.js'

/** The part of the store that indexing and polling use, in memory: transactions one at a time, undone when they reject. */
export interface MemoryStore extends Pick<Store, 'transaction' | 'payments' | 'chains' | 'leases'> {
  /** Everything that is committed. */
  readonly committed: () => MemoryState
  /** What the next transaction rejects with, after its work and before its commit; each error is used once. */
  readonly failures: Error[]
  /** Runs before every transaction, outside of it. */
  beforeTransaction: (() => void) | null
  /** Writes rows directly. */
  seed(change: (state: MemoryState) => void): void
}

/**
 * Builds an empty store.
 * @param now - The clock of the leases, in unix milliseconds; without it none ever ends by itself.
 */
export function memoryStore({ now = () => 0 }: { readonly now?: () => number } = {}): MemoryStore {
  let state: MemoryState = copyOf({
    payments: new Map(),
    snapshots: [],
    checkpoints: new Map(),
    proofs: new Map(),
    coverage: new Map(),
    deposits: new Map(),
    updates: new Map(),
  })
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
        const value = await work(memoryTransaction(draft))
        const failure = failures.shift()
        if (failure) throw failure
        state = draft
        return value
      })
      queue = result.catch(() => undefined)
      return result
    },
    leases: memoryLeases(now),
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
