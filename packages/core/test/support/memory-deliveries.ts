import type {
  AttemptRecord,
  ClaimedDelivery,
  DeliveryStatus,
  DeliveryStore,
  DeliveryView,
} from '../../src/ports/store-deliveries.js'
import type { Clock } from '../../src/ports/world.js'

/** A delivery to put into the outbox. */
export type NewDelivery = Pick<ClaimedDelivery, 'deliveryId'> & Partial<ClaimedDelivery> & { readonly dueAt?: number }

interface Row {
  readonly claim: Omit<ClaimedDelivery, 'claimToken' | 'attempt'>
  readonly attempts: AttemptRecord[]
  status: DeliveryStatus
  dueAt: number
  token: string | null
  leaseUntil: number
}

/** An outbox in memory with the guarantees of the port, for tests of the dispatcher. */
export interface MemoryDeliveries extends DeliveryStore {
  add(delivery: NewDelivery): void
  view(deliveryId: string): DeliveryView
  /** What the next call rejects with, per method; each error is used once. */
  readonly failures: { claim: Error[]; settle: Error[]; msUntilDue: Error[] }
  /** The `limit` of every claim. */
  readonly claimLimits: number[]
}

/** Builds the outbox on a clock that plays the database's. */
export function memoryDeliveries(clock: Pick<Clock, 'now'>): MemoryDeliveries {
  const rows = new Map<string, Row>()
  const failures = { claim: [] as Error[], settle: [] as Error[], msUntilDue: [] as Error[] }
  const claimLimits: number[] = []
  let tokens = 0

  const failOnce = (method: keyof typeof failures) => {
    const error = failures[method].shift()
    if (error) throw error
  }
  const paymentOf = ({ claim }: Row) => `${claim.chainId}:${claim.txHash}:${claim.integrationAddress}`
  const overtaken = (row: Row) =>
    [...rows.values()].some((other) => paymentOf(other) === paymentOf(row) && other.claim.version > row.claim.version)
  const availableAt = (row: Row) => (row.token === null ? row.dueAt : Math.max(row.dueAt, row.leaseUntil))
  const pending = () => [...rows.values()].filter((row) => row.status === 'pending')
  const viewOf = (row: Row): DeliveryView => {
    const { deliveryId, integrationAddress, chainId, txHash, version } = row.claim
    const nextAttemptAt = row.status === 'pending' ? row.dueAt : null
    const { status, attempts } = row
    return { deliveryId, integrationAddress, chainId, txHash, version, status, attempts, nextAttemptAt }
  }

  return {
    failures,
    claimLimits,
    add({ dueAt = clock.now(), ...given }) {
      const claim = {
        integrationAddress: `0x${'a1'.repeat(20)}`,
        notificationUrl: 'https://receiver.example/hook',
        signingSecret: { keyVersion: 1, sealed: 'sealed' },
        chainId: 1,
        txHash: `0x${Buffer.from(given.deliveryId).toString('hex').padStart(64, '0')}`,
        version: 1,
        body: new TextEncoder().encode(JSON.stringify({ deliveryId: given.deliveryId })),
        ...given,
      }
      rows.set(claim.deliveryId, { claim, attempts: [], status: 'pending', dueAt, token: null, leaseUntil: 0 })
    },
    view(deliveryId) {
      const row = rows.get(deliveryId)
      if (!row) throw new Error(`no delivery ${deliveryId}`)
      return viewOf(row)
    },
    async claim({ limit, leaseMs }) {
      claimLimits.push(limit)
      failOnce('claim')
      const due = pending()
        .filter((row) => availableAt(row) <= clock.now())
        .sort((a, b) => a.dueAt - b.dueAt)
      for (const row of due) if (row.attempts.length > 0 && overtaken(row)) row.status = 'superseded'
      return due
        .filter((row) => row.status === 'pending')
        .slice(0, limit)
        .map((row) => {
          tokens += 1
          row.token = `token-${tokens}`
          row.leaseUntil = clock.now() + leaseMs
          return { ...row.claim, claimToken: row.token, attempt: row.attempts.length + 1 }
        })
    },
    async settle(claim, attempt, verdict) {
      failOnce('settle')
      const row = rows.get(claim.deliveryId)
      if (!row || row.token !== claim.claimToken || clock.now() >= row.leaseUntil) return null
      row.attempts.push(attempt)
      row.token = null
      if (verdict.kind === 'retry') {
        row.status = overtaken(row) ? 'superseded' : 'pending'
        row.dueAt = clock.now() + verdict.inMs
      } else row.status = verdict.kind
      return row.status
    },
    async msUntilDue() {
      failOnce('msUntilDue')
      const times = pending().map(availableAt)
      return times.length === 0 ? null : Math.max(0, Math.min(...times) - clock.now())
    },
    async backlog({ atMost }) {
      const due = pending().filter((row) => availableAt(row) <= clock.now())
      return {
        pending: Math.min(atMost, pending().length),
        oldestDueMs: due.length === 0 ? null : clock.now() - Math.min(...due.map(availableAt)),
      }
    },
    async list({ status, limit }) {
      return [...rows.values()]
        .map(viewOf)
        .filter((view) => status === undefined || view.status === status)
        .slice(0, limit)
    },
  }
}
