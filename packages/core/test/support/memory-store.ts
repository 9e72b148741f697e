import type { PaymentStatus, StoredPayment } from '../../src/payments/record.js'
import type { Store } from '../../src/ports/store.js'
import type { Checkpoint, NewSnapshot, StoreTransaction } from '../../src/ports/store-transaction.js'

/** The part of the store that indexing and polling use, in memory: transactions one at a time, undone when they reject. */
export interface MemoryStore extends Pick<Store, 'transaction'> {
  readonly payments: Store['payments']
  /** Everything that is committed. */
  readonly committed: () => MemoryState
  /** What the next transaction rejects with, after its work and before its commit; each error is used once. */
  readonly failures: Error[]
  /** Runs before every transaction, outside of it. */
  beforeTransaction: (() => void) | null
  /** Writes rows directly. */
  seed(change: (state: MemoryState) => void): void
}

/** The rows. */
export interface MemoryState {
  readonly payments: Map<string, StoredPayment>
  readonly snapshots: NewSnapshot[]
  /** Per chain: the checkpoint, and the hash of every height that was one. */
  readonly checkpoints: Map<number, { current: Checkpoint; heights: Map<number, string> }>
}

/** Builds an empty store. */
export function memoryStore(): MemoryStore {
  let state: MemoryState = { payments: new Map(), snapshots: [], checkpoints: new Map() }
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
        const draft = structuredClone(state)
        const value = await work(transactionOn(draft))
        const failure = failures.shift()
        if (failure) throw failure
        state = draft
        return value
      })
      queue = result.catch(() => undefined)
      return result
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
        return { payments, indexedTo: state.checkpoints.get(chainId)?.current.blockNumber ?? null }
      },
      list: unsupported('list'),
      findByHash: unsupported('findByHash'),
      snapshot: unsupported('snapshot'),
    },
  }
  return store
}

function transactionOn(draft: MemoryState): StoreTransaction {
  return {
    lockChain: async (chainId) => draft.checkpoints.get(chainId)?.current ?? null,
    shareChain: async () => undefined,
    async setCheckpoint(chainId, checkpoint) {
      const heights = draft.checkpoints.get(chainId)?.heights ?? new Map<number, string>()
      for (const height of heights.keys()) if (height > checkpoint.blockNumber) heights.delete(height)
      heights.set(checkpoint.blockNumber, checkpoint.blockHash)
      draft.checkpoints.set(chainId, { current: checkpoint, heights })
    },
    async leaveChain(chainId, above) {
      for (const [id, payment] of draft.payments)
        if (payment.chainId === chainId && payment.blockNumber > above)
          draft.payments.set(id, { ...payment, offChain: true })
    },
    async checkpoints(chainId, atOrBelow, limit) {
      return [...(draft.checkpoints.get(chainId)?.heights ?? [])]
        .map(([blockNumber, blockHash]) => ({ blockNumber, blockHash }))
        .filter(({ blockNumber }) => blockNumber <= atOrBelow)
        .sort((a, b) => b.blockNumber - a.blockNumber)
        .slice(0, limit)
    },
    async upsertPayments(payments) {
      return payments.flatMap(({ facts, primary }) => {
        const id = `${facts.chainId}:${facts.txHash}:${facts.ordinal}`
        const known = draft.payments.get(id)
        const status: PaymentStatus = known ?? { version: 1, state: null, recipient: null, invoice: null }
        const { version, state, recipient, invoice } = status
        const payment = {
          ...facts,
          version,
          state,
          recipient,
          invoice,
          id,
          primary: known?.primary ?? primary,
          offChain: false,
        }
        draft.payments.set(id, payment)
        return known ? [] : [payment]
      })
    },
    async paymentsForChange({ chainId, txHash }) {
      return [...draft.payments.values()].filter((payment) => payment.chainId === chainId && payment.txHash === txHash)
    },
    async setStatus(paymentId, status) {
      const payment = draft.payments.get(paymentId)
      if (payment) draft.payments.set(paymentId, { ...payment, ...status })
    },
    async insertSnapshots(snapshots) {
      for (const snapshot of snapshots) {
        if (draft.snapshots.some((s) => s.paymentId === snapshot.paymentId && s.version === snapshot.version))
          throw new Error(`snapshot ${snapshot.paymentId} ${snapshot.version} is stored already`)
        draft.snapshots.push(snapshot)
      }
    },
    waitingUpdates: async () => [],
    findUpdate: unsupported('findUpdate'),
    insertUpdate: unsupported('insertUpdate'),
    settleUpdate: unsupported('settleUpdate'),
  }
}

function unsupported(method: string) {
  return async (): Promise<never> => {
    throw new Error(`${method} is not part of this test double`)
  }
}
