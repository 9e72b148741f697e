/**
 * Compares the copy with the read API, newest first, and repairs it; then completes rows of deliveries.
 * Source: docs/interface.md 2.1, 4.1 (reconciliation method); docs/decisions/reconciling.md.
 * @module
 */
import { isClientError, type ListingStore, type Payment, reconcile as repair } from '@payment-integration/client'
import type { VersionedPayment } from '@payment-integration/version-store'
import { OtherIntegrationError } from './errors.js'
import type { MirrorCompletion, MirrorReconciliation, Parts } from './options.js'
import type { WriteEffect } from './tables.js'

/** @throws {@link OtherIntegrationError} `ERR_MIRROR_OTHER_INTEGRATION` when the client is for another integration. */
async function storePayment({ payments, integrationAddress, clock }: Parts, payment: Payment): Promise<WriteEffect> {
  if (payment.integrationAddress !== integrationAddress)
    throw new OtherIntegrationError(payment.integrationAddress, integrationAddress)
  return payments.writePayment(payment, new Date(clock.now()).toISOString())
}

/**
 * Looks up each incomplete row, one at a time, in the order of its key.
 * @throws Errors of the client that concern more than the one payment, and errors of the database.
 */
export async function complete(parts: Parts, signal: AbortSignal | undefined): Promise<MirrorCompletion> {
  let completed = 0
  let incomplete = 0
  for await (const key of parts.payments.listKeys(true))
    (await completeOne(parts, key, signal)) ? completed++ : incomplete++
  return { completed, incomplete }
}

/** Codes of answers about the one payment; the next payment may still be read. */
const codesOfOnePayment: ReadonlySet<string> = new Set([
  'ERR_PAYMENT_NOT_FOUND',
  'ERR_PAYMENT_AMBIGUOUS',
  'ERR_RESPONSE_INVALID',
])

async function completeOne(parts: Parts, key: VersionedPayment, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    const payment = await parts.client.payments.get(key.txHash, { signal })
    await storePayment(parts, payment)
    // Behind a cache the read may be of an older version; the row then stays incomplete.
    return payment.chainId === key.chainId && payment.version >= key.version
  } catch (error) {
    if (isClientError(error) && codesOfOnePayment.has(error.code)) return false
    throw error
  }
}

/** Options of one run. */
export interface MirrorReconcileOptions {
  /**
   * `true`: reads the whole list. `false`: stops an hour of block time before the last finished run, unless that page
   * still holds changes. @default true when no run to the end finished within `fullEveryMs`
   */
  readonly full?: boolean | undefined
  /** Payments per request, 1 to 200. @default 200 */
  readonly pageSize?: number | undefined
  /** Most pages of this run; the next run goes on. @default no limit */
  readonly maxPages?: number | undefined
  /** Aborts the run, which rejects with `ERR_ABORTED`. The next run goes on at the last page. @default none */
  readonly signal?: AbortSignal | undefined
}

/** Runs once. @throws Errors of the client and of the database; what was stored stays, and the next run goes on. */
export async function reconcile(parts: Parts, options: MirrorReconcileOptions): Promise<MirrorReconciliation> {
  const { client, state, clock, onEvent } = parts
  if (client.integrationAddress !== parts.integrationAddress)
    throw new OtherIntegrationError(client.integrationAddress, parts.integrationAddress)
  const { pageSize, maxPages, signal } = options
  const { checkpoint, reconciledFullyAt } = await state.read()
  const { full = isFullRunDue(reconciledFullyAt, parts) } = options
  const counts: Record<WriteEffect, number> = { added: 0, updated: 0, completed: 0, refreshed: 0, unchanged: 0 }
  const result = await repair<Payment[]>(client, {
    from: createListingStore(parts, (written) => void counts[written]++),
    handle: (payment, given) => void given.push(payment),
    until: full ? 'end' : 'known',
    checkpoint,
    pageSize,
    maxPages,
    signal,
    async onCheckpoint(reached, { pages, compared }) {
      await state.set('checkpoint', JSON.stringify(reached))
      onEvent({ type: 'progress', pages, compared })
    },
  })
  const { stopped, pages, compared, unknown } = result
  // Before the look-ups: if one fails, the next run need not read the whole list again.
  if (stopped === 'end') await state.set('reconciled_fully_at', new Date(clock.now()).toISOString())
  const { completed: lookedUp, incomplete } = await complete(parts, signal)
  counts.completed += lookedUp
  if (stopped !== 'max_pages') await state.set('reconciled_at', new Date(clock.now()).toISOString())
  const { added, updated, completed, refreshed } = counts
  const summary = { full, stopped, pages, compared, added, updated, completed, refreshed, incomplete, unknown }
  onEvent({ type: 'reconciled', ...summary })
  return summary
}

function isFullRunDue(reconciledFullyAt: string | null, { fullEveryMs, clock }: Parts): boolean {
  return reconciledFullyAt === null || clock.now() - Date.parse(reconciledFullyAt) >= fullEveryMs
}

/**
 * The table as a version store. The handler gives it each payment, and the store writes, so that a database error stops
 * the run. `current` always returns undefined, so that the store itself compares each payment: a reorg changes facts
 * without a new version.
 */
function createListingStore(parts: Parts, count: (written: WriteEffect) => void): ListingStore<Payment[]> {
  return {
    current: async () => undefined,
    async advance(_, effect) {
      const given: Payment[] = []
      await effect(given)
      const [payment] = given
      if (payment === undefined) throw new TypeError('reconcile called no handler; update @payment-integration/client.')
      const written = await storePayment(parts, payment)
      count(written)
      return written === 'unchanged' ? 'duplicate' : 'apply'
    },
    list: () => parts.payments.listKeys(false),
  }
}
