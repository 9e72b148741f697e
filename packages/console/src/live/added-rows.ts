/** Finds rows that were added since an earlier look at the newest ones. @module */
import type { ConsoleAttempt, ConsoleNewest } from '@payment-integration/core/ports'

/** Newest rows of a kind that one look reads. A row is found when at most 200 newer ones were committed before it. */
export const mostLookedAt = 300
/** Most added rows of a kind that are shown one by one. */
export const mostAdded = 100

interface Row {
  readonly key: string
  readonly paymentId?: string | null
  readonly deliveryId?: string
}

/** The newest rows of each kind, at one moment. */
export type Look = readonly (readonly Row[])[]

/** Payments and deliveries to show again. */
export interface Added {
  readonly paymentIds: readonly string[]
  readonly deliveryIds: readonly string[]
  /** Whether there are more: then the ids are left out. */
  readonly isCut: boolean
}

/** A look at these rows. */
export function lookAt(
  { payments, deliveries, updates }: ConsoleNewest,
  attempts: readonly Pick<ConsoleAttempt, 'deliveryId' | 'number'>[],
): Look {
  return [
    payments.map((paymentId) => ({ key: `payment ${paymentId}`, paymentId })),
    deliveries.map((row) => ({ key: `delivery ${row.deliveryId}`, ...row })),
    updates.map(({ seq, paymentId }) => ({ key: `update ${seq}`, paymentId })),
    attempts.map(({ deliveryId, number }) => ({ key: `attempt ${deliveryId}:${number}`, deliveryId })),
  ]
}

/** Compares two looks. */
export function addedSince(before: Look, after: Look): Added {
  const known = new Set(before.flat().map(({ key }) => key))
  const added = after.map((rows) => rows.filter(({ key }) => !known.has(key)))
  if (added.some(({ length }) => length > mostAdded)) return { paymentIds: [], deliveryIds: [], isCut: true }
  const rows = added.flat()
  return {
    paymentIds: [...new Set(rows.flatMap(({ paymentId }) => paymentId ?? []))],
    deliveryIds: [...new Set(rows.flatMap(({ deliveryId }) => deliveryId ?? []))],
    isCut: false,
  }
}
