import { initialStatus, type StoredPayment } from '../../src/payments/record.js'
import type { ProvenRange } from '../../src/ports/store-chains.js'
import type { StoreTransaction } from '../../src/ports/store-transaction.js'
import { linkAccountsIn } from './memory-accounts.js'
import { dataKeysIn } from './memory-data-keys.js'
import type { MemoryDeliveries } from './memory-deliveries.js'
import { identityIn } from './memory-identity.js'
import { accountsIn } from './memory-identity-accounts.js'
import { integrationSessionsIn } from './memory-integration-sessions.js'
import { integrationsIn } from './memory-integrations.js'
import { legacyKeysIn } from './memory-legacy-keys.js'
import { operatorsIn } from './memory-operators.js'
import { type MemoryState, reachedOf } from './memory-state.js'

const levels = ['none', 'bloom', 'root'] as const

/**
 * The operations of a transaction on rows that are its own until it ends.
 * @param now - Unix milliseconds, for leases.
 */
export function memoryTransaction(
  draft: MemoryState,
  deliveries: MemoryDeliveries,
  now: () => number,
): StoreTransaction {
  const payments = () => [...draft.payments.values()]
  const byPlace = (a: StoredPayment, b: StoredPayment) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex
  let isAuditLocked = false
  const change = (id: string, given: Partial<StoredPayment>) => {
    const payment = draft.payments.get(id)
    if (payment === undefined) throw new RangeError(`there is no payment ${id}`)
    draft.payments.set(id, { ...payment, ...given })
  }
  /** The deposits that a payment from another chain may fulfil. */
  const depositsOf = ({ chainId, source }: StoredPayment) =>
    [...draft.deposits].filter(
      ([, { deposit }]) =>
        source.chainId !== chainId &&
        deposit.payment.chainId === source.chainId &&
        deposit.payment.txHash === source.txHash,
    )

  return {
    lockChain: async (chainId) => draft.checkpoints.get(chainId)?.current ?? null,
    shareChain: async () => undefined,
    async setCheckpoint(chainId, checkpoint, below = []) {
      const known = draft.checkpoints.get(chainId)
      const heights = new Map(known?.heights)
      for (const height of heights.keys()) if (height > checkpoint.blockNumber) heights.delete(height)
      let previous = -1
      for (const { blockNumber, blockHash } of [...below, checkpoint]) {
        if (blockNumber <= previous) throw new RangeError(`height ${blockNumber} does not ascend`)
        heights.set(blockNumber, blockHash)
        previous = blockNumber
      }
      const goesDown = known !== undefined && known.current.blockNumber > checkpoint.blockNumber
      const kept = goesDown ? undefined : known?.reached
      draft.checkpoints.set(chainId, { current: checkpoint, heights, ...(kept === undefined ? {} : { reached: kept }) })
      if (goesDown)
        draft.proofs.set(chainId, cut(draft.proofs.get(chainId) ?? [], checkpoint.blockNumber + 1, Infinity))
    },
    reached: async (chainId) => reachedOf(draft, chainId),
    async setReached(chainId, height) {
      const known = draft.checkpoints.get(chainId)
      if (known !== undefined) draft.checkpoints.set(chainId, { ...known, reached: height })
    },
    async leaveChain(chainId, above) {
      for (const payment of payments())
        if (payment.chainId === chainId && payment.blockNumber > above) {
          if (!payment.offChain)
            for (const [key, row] of depositsOf(payment)) draft.deposits.set(key, { ...row, waiting: true })
          change(payment.id, { offChain: true })
        }
      for (const [key, { waiting, deposit }] of draft.deposits)
        if (waiting && deposit.payment.chainId === chainId && deposit.payment.blockNumber > above)
          draft.deposits.delete(key)
    },
    async leavePayments(paymentIds) {
      for (const id of paymentIds) change(id, { offChain: true })
    },
    async checkpoints(chainId, atOrBelow, limit) {
      return [...(draft.checkpoints.get(chainId)?.heights ?? [])]
        .map(([blockNumber, blockHash]) => ({ blockNumber, blockHash }))
        .filter(({ blockNumber }) => blockNumber <= atOrBelow)
        .sort((a, b) => b.blockNumber - a.blockNumber)
        .slice(0, limit)
    },
    async upsertPayments(given) {
      const inserted: StoredPayment[] = []
      const returned: StoredPayment[] = []
      for (const { facts, primary } of given) {
        const id = `${facts.chainId}:${facts.txHash}:${facts.ordinal}`
        const known = draft.payments.get(id)
        const payment: StoredPayment =
          known === undefined
            ? { ...facts, ...initialStatus, id, primary, offChain: false, dropped: null }
            : { ...known, ...facts, integrationAddress: known.integrationAddress, offChain: false }
        draft.payments.set(id, payment)
        if (known?.primary && known.blockTimestamp !== facts.blockTimestamp) {
          const { integrationAddress, blockTimestamp } = known
          draft.moves.push({ paymentId: id, integrationAddress, blockTimestamp })
        }
        if (known === undefined) inserted.push(payment)
        else if (known.dropped !== null) returned.push(payment)
      }
      return { inserted, returned }
    },
    async paymentsInBlocks(chainId, from, to) {
      return payments()
        .filter((payment) => payment.chainId === chainId && payment.blockNumber >= from && payment.blockNumber <= to)
        .sort(byPlace)
    },
    async overduePayments(chainId, atOrBelow, limit, awaitedAtOrBelow = atOrBelow) {
      return payments()
        .filter((payment) => payment.chainId === chainId && payment.offChain && payment.dropped === null)
        .filter(({ blockNumber }) => blockNumber <= atOrBelow)
        .filter(
          (payment) =>
            payment.blockNumber <= awaitedAtOrBelow || !depositsOf(payment).some(([, { waiting }]) => waiting),
        )
        .sort(byPlace)
        .slice(0, limit)
    },
    setDropped: async (paymentId, dropped) => change(paymentId, { dropped }),
    async paymentsForChange(...selectors) {
      const isAsked = (payment: StoredPayment) =>
        selectors.some(({ chainId, txHash }) => payment.chainId === chainId && payment.txHash === txHash)
      return payments()
        .filter((payment) => payment.primary && isAsked(payment))
        .sort((a, b) => a.ordinal - b.ordinal)
    },
    async setStatuses(statuses) {
      for (const [paymentId, { version, state, recipient, invoice }] of statuses)
        change(paymentId, { version, state, recipient, invoice })
    },
    async insertSnapshots(snapshots) {
      for (const snapshot of snapshots) {
        if (draft.snapshots.some((s) => s.paymentId === snapshot.paymentId && s.version === snapshot.version))
          throw new Error(`snapshot ${snapshot.paymentId} ${snapshot.version} is stored already`)
        draft.snapshots.push(snapshot)
      }
    },
    async addProof(chainId, proven) {
      draft.proofs.set(chainId, merged([...cut(draft.proofs.get(chainId) ?? [], proven.from, proven.to), proven]))
    },
    async addWeakerProof(chainId, proven) {
      const ranges = draft.proofs.get(chainId) ?? []
      const isKept = ({ proof }: ProvenRange) => levels.indexOf(proof) <= levels.indexOf(proven.proof)
      let parts: readonly ProvenRange[] = [proven]
      for (const { from, to } of ranges.filter(isKept)) parts = cut(parts, from, to)
      const rest = parts.reduce((left, { from, to }) => cut(left, from, to), ranges)
      draft.proofs.set(chainId, merged([...rest, ...parts]))
    },
    async setCoverage(chainId, coverage) {
      draft.coverage.set(chainId, new Map(draft.coverage.get(chainId)).set(coverage.router, coverage))
    },
    async upsertDeposits(deposits) {
      for (const deposit of deposits) {
        const key = `${deposit.payment.chainId}:${deposit.payment.txHash}:${deposit.payment.ordinal}`
        const known = draft.deposits.get(key)
        const newest = Math.max(0, ...[...draft.deposits.values()].map(({ id }) => Number(id)))
        draft.deposits.set(key, { id: known?.id ?? String(newest + 1), waiting: known?.waiting ?? true, deposit })
      }
    },
    async settleDeposit(id) {
      for (const [key, row] of draft.deposits)
        if (row.id === id && row.waiting) {
          draft.deposits.set(key, { ...row, waiting: false })
          return true
        }
      return false
    },
    async findUpdates(updateIds) {
      const found = updateIds.flatMap((id) => draft.updates.get(id) ?? [])
      return found.map(({ update, paymentId, ...stored }) => ({ id: update.id, ...stored }))
    },
    async insertUpdates(updates) {
      const fresh = updates.filter(({ update: { id } }) => !draft.updates.has(id))
      for (const stored of fresh) draft.updates.set(stored.update.id, stored)
      return fresh.map(({ update: { id } }) => id)
    },
    async waitingUpdates(keys) {
      const wanted = new Set(keys.map(({ chainId, txHash }) => `${chainId}:${txHash}`))
      const waiting = [...draft.updates.values()].filter(({ outcome }) => outcome === 'waiting')
      return waiting.flatMap(({ update }) => (wanted.has(`${update.chainId}:${update.txHash}`) ? [update] : []))
    },
    async settleUpdates(settled) {
      for (const { id, ...result } of settled) {
        const stored = draft.updates.get(id)
        if (stored?.outcome !== 'waiting') throw new RangeError(`update ${id} does not wait`)
        draft.updates.set(id, { ...stored, ...result })
      }
    },
    replayDeliveries: async (request) => deliveries.replay(request),
    integrations: integrationsIn(() => draft.integrations),
    accounts: linkAccountsIn(() => draft.linkAccounts),
    legacyKeys: legacyKeysIn(() => draft.legacyKeys),
    async lockAudit() {
      isAuditLocked = true
      return draft.audit.at(-1) ?? null
    },
    async appendAudit(record) {
      if (!isAuditLocked) throw new RangeError('call lockAudit first')
      if (record.seq !== (draft.audit.at(-1)?.seq ?? 0) + 1)
        throw new RangeError(`audit record ${record.seq} leaves a gap`)
      draft.audit.push(record)
    },
    async removeAudit(upToSeq) {
      draft.audit = draft.audit.filter(({ seq }) => seq > upToSeq)
    },
    async restoreAudit(records) {
      const known = new Set(draft.audit.map(({ seq }) => seq))
      draft.audit = [...records.filter(({ seq }) => !known.has(seq)), ...draft.audit].sort((a, b) => a.seq - b.seq)
    },
    operators: operatorsIn(draft),
    integrationSessions: integrationSessionsIn(draft),
    dataKeys: dataKeysIn(draft.dataKeys),
    identity: identityIn(draft, now),
    identityAccounts: accountsIn(draft),
  }
}

/** The ranges without what they hold of `from` to `to`. */
function cut(ranges: readonly ProvenRange[], from: number, to: number): ProvenRange[] {
  return ranges.flatMap((range) =>
    [
      { ...range, to: Math.min(range.to, from - 1) },
      { ...range, from: Math.max(range.from, to + 1) },
    ].filter((part) => part.from <= part.to),
  )
}

/** Newest first, neighbours of one level and endpoint as one. */
function merged(ranges: readonly ProvenRange[]): ProvenRange[] {
  const result: ProvenRange[] = []
  for (const range of [...ranges].sort((a, b) => b.from - a.from)) {
    const above = result.at(-1)
    const joins = above?.proof === range.proof && above.endpoint === range.endpoint && above.from === range.to + 1
    if (joins && above !== undefined) result[result.length - 1] = { ...above, from: range.from }
    else result.push(range)
  }
  return result
}
