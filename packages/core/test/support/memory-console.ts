/** The console's reads of a store in memory. @module */
import type { StoredPayment } from '../../src/payments/record.js'
import type { ConsoleAttempt, ConsolePaymentFilter, ConsoleReads } from '../../src/ports/store-console.js'
import type { DeliveryView } from '../../src/ports/store-deliveries.js'
import type { MemoryDeliveries } from './memory-deliveries.js'
import type { MemoryState } from './memory-state.js'

const all = { limit: 1_000_000 }

/** The reads, over all rows. */
export function consoleReads(
  state: () => MemoryState,
  deliveries: MemoryDeliveries,
  wallets: (wallet: string, integrationAddress: string | undefined, limit: number) => Promise<readonly StoredPayment[]>,
): ConsoleReads {
  const payments = () => [...state().payments.values()]
  const primary = () => payments().filter((each) => each.primary)
  async function attempts(): Promise<ConsoleAttempt[]> {
    const views = await deliveries.list(all)
    return views
      .flatMap(({ deliveryId, attempts: made }) =>
        made.map(({ startedAt, latencyMs, status, reason }, index) => {
          return { deliveryId, number: index + 1, startedAt, latencyMs, status, reason }
        }),
      )
      .sort((a, b) => b.startedAt - a.startedAt)
  }
  const paymentOf = (chainId: number, txHash: string) =>
    primary().find((each) => each.chainId === chainId && each.txHash === txHash)?.id
  return {
    prepare: async () => undefined,
    async payments({ limit, before, ...filter }) {
      const found = primary()
        .filter((payment) => fits(payment, filter))
        .sort(newestFirst)
        .filter((payment) => before === undefined || newestFirst(before, payment) < 0)
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      const next = found.length > limit && last !== undefined ? positionOf(last) : null
      return { rows, next, isCut: false }
    },
    async search(search, limit) {
      if (search.kind === 'wallet') return [...(await wallets(search.wallet, search.integrationAddress, limit))]
      const found = primary().filter((payment) =>
        search.kind === 'memo'
          ? payment.memoHex.startsWith(search.prefix)
          : payment.txHash === search.txHash || payment.source.txHash === search.txHash,
      )
      return found.slice(0, limit)
    },
    paymentsById: async (ids) => payments().filter(({ id }) => ids.includes(id)),
    async updates({ paymentIds, limit }) {
      const own = [...state().updates.values()].filter(
        ({ paymentId }) => paymentId !== null && paymentIds.includes(paymentId),
      )
      return own.slice(0, limit).map(({ update, outcome, reason, version }) => {
        return { id: update.id, outcome, reason, version, update: outcome === 'refused' ? update : null }
      })
    },
    async deliveriesOf(paymentId) {
      const payment = state().payments.get(paymentId) ?? payments().find(({ id }) => id === paymentId)
      if (payment === undefined) return []
      const { chainId, txHash, integrationAddress } = payment
      const own = await deliveries.list({ chainId, txHash, ...all })
      return own.filter((view) => view.integrationAddress === integrationAddress).sort((a, b) => a.version - b.version)
    },
    async deliveries({ limit, beforeId, ...filter }) {
      const found = (await deliveries.list({ ...filter, ...all })).reverse()
      const every = (await deliveries.list(all)).map(({ deliveryId }) => deliveryId)
      const rank = (id: string) => every.indexOf(id)
      const left = found.filter(({ deliveryId }) => beforeId === undefined || rank(deliveryId) < rank(beforeId))
      const rows = left.slice(0, limit)
      return { rows, next: left.length > limit ? (rows.at(-1)?.deliveryId ?? null) : null, isCut: false }
    },
    async deliveriesById(ids) {
      return (await deliveries.list(all)).filter(({ deliveryId }) => ids.includes(deliveryId))
    },
    attempts: async ({ since, limit }) => (await attempts()).filter((each) => each.startedAt >= since).slice(0, limit),
    async attemptsPerMinute({ since, limit }) {
      const newest = (await attempts()).filter(({ startedAt }) => startedAt >= since).slice(0, limit)
      return counted(
        newest.map((attempt) => [attempt.startedAt, kindOf(attempt)] as const),
        limit,
      )
    },
    async paymentsPerMinute({ since, limit }) {
      const newest = primary().filter(({ blockTimestamp }) => blockTimestamp >= since)
      return counted(
        newest
          .sort(newestFirst)
          .slice(0, limit)
          .map(({ blockTimestamp, state: own }) => [blockTimestamp, own] as const),
        limit,
      )
    },
    async lastFailure(integrationAddress) {
      const own = (await deliveries.list({ integrationAddress, ...all })).slice(-50)
      return own.flatMap(failuresOf).sort((a, b) => b.startedAt - a.startedAt)[0] ?? null
    },
    async latencies(integrationAddress) {
      const own = (await deliveries.list({ integrationAddress, ...all }))
        .slice(-50)
        .flatMap(({ attempts: made }) => made)
      const timed = own.filter(({ status, reason }) => status !== null || reason === 'timeout')
      return timed.map(({ latencyMs }) => latencyMs)
    },
    async integrations({ afterAddress = '', isFailing = false, limit }) {
      const failing = await deliveries.endpoints()
      return [...state().integrations.values()]
        .filter(({ address }) => address > afterAddress)
        .filter(({ address }) => !isFailing || failing.some(({ integrationAddress: own }) => own === address))
        .sort((a, b) => (a.address < b.address ? -1 : 1))
        .slice(0, limit)
        .map(({ address, name, notificationUrl, enabled, createdAt, ...secrets }) => ({
          ...{ address, name, notificationUrl, enabled, createdAt },
          signingSecretPrepared: secrets.preparedSigningSecret !== null,
          previousSigningSecretUntil: secrets.previousSigningSecret?.until ?? null,
          health: failing.find(({ integrationAddress }) => integrationAddress === address) ?? null,
        }))
    },
    async audit({ beforeSeq = Number.MAX_SAFE_INTEGER, limit }) {
      return state()
        .audit.filter(({ seq }) => seq < beforeSeq)
        .reverse()
        .slice(0, limit)
    },
    async newest(limit) {
      const newestOf = <Row>(rows: readonly Row[]) => [...rows].reverse().slice(0, limit)
      const views = newestOf(await deliveries.list(all))
      const updates = [...state().updates.values()].map(({ paymentId }, index) => ({
        seq: String(index + 1),
        paymentId,
      }))
      return {
        payments: newestOf(payments()).map(({ id }) => id),
        deliveries: views.map(({ deliveryId, chainId, txHash }) => {
          return { deliveryId, paymentId: paymentOf(chainId, txHash) ?? '' }
        }),
        updates: newestOf(updates),
      }
    },
  }
}

const positionOf = ({ blockTimestamp, id }: StoredPayment) => ({ blockTimestamp, id })
type Position = ReturnType<typeof positionOf>

function newestFirst(a: Position, b: Position): number {
  return b.blockTimestamp - a.blockTimestamp || Number(a.id < b.id) - Number(a.id > b.id)
}

function fits(payment: StoredPayment, filter: ConsolePaymentFilter): boolean {
  const { state, chainId, integrationAddress, since = 0, until = Number.MAX_SAFE_INTEGER, invoice } = filter
  if (state !== undefined && payment.state !== state) return false
  if (chainId !== undefined && payment.chainId !== chainId) return false
  if (integrationAddress !== undefined && payment.integrationAddress !== integrationAddress) return false
  if (payment.blockTimestamp < since || payment.blockTimestamp >= until) return false
  if (invoice === undefined) return true
  const { amount, currency } = payment.invoice ?? {}
  return amount === invoice.amount && (invoice.currency === undefined || currency === invoice.currency)
}

const failuresOf = ({ deliveryId, attempts }: DeliveryView) =>
  attempts.filter(({ reason }) => reason !== null).map((attempt) => ({ ...attempt, deliveryId }))

function kindOf({ status, reason }: ConsoleAttempt) {
  if (reason === null) return 'delivered'
  if (reason === 'timeout') return 'timeout'
  if (status === null || reason === 'malformed_answer') return 'no_answer'
  return status < 400 ? 'redirect' : status < 500 ? 'client_error' : 'server_error'
}

function counted<Kind>(rows: readonly (readonly [number, Kind])[], limit: number) {
  const counts = new Map<string, { minute: number; kind: Kind; count: number }>()
  for (const [at, kind] of rows) {
    const minute = at - (at % 60_000)
    const known = counts.get(`${minute}:${kind}`) ?? { minute, kind, count: 0 }
    counts.set(`${minute}:${kind}`, { ...known, count: known.count + 1 })
  }
  return { counts: [...counts.values()].sort((a, b) => a.minute - b.minute), isCut: rows.length >= limit }
}
