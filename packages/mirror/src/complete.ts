/** Reads the payments whose newest version only a delivery brought. Source: docs/interface.md 2.1, 4.1. @module */
import { isClientError } from '@payment-integration/client'
import type { Key } from './internal/columns.js'
import type { VersionedKey } from './internal/payments-table.js'
import type { Parts } from './options.js'
import type { MirrorCompletion } from './results.js'
import { storePayment } from './store-payment.js'

/**
 * Looks up each incomplete row, one at a time, in the order of its key.
 * @throws Errors of the client that say nothing about the one payment, and errors of the database.
 */
export async function complete(parts: Parts, signal: AbortSignal | undefined): Promise<MirrorCompletion> {
  const { payments } = parts
  let completed = 0
  let left = 0
  let after: Key | null = null
  for (;;) {
    const keys: VersionedKey[] = await payments.keysAfter(after, true)
    for (const key of keys) (await completeOne(parts, key, signal)) ? completed++ : left++
    after = keys.at(-1) ?? null
    if (after === null) return { completed, left }
  }
}

/** Codes of answers about the one payment; the next payment may still be read. */
const ofThisPayment: ReadonlySet<string> = new Set(['ERR_NOT_FOUND', 'ERR_AMBIGUOUS_PAYMENT', 'ERR_INVALID_RESPONSE'])

async function completeOne(parts: Parts, key: VersionedKey, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    const payment = await parts.client.payments.get(key.txHash, { signal })
    await storePayment(parts, payment)
    // Behind a cache the read may be of an older version; the row then stays incomplete.
    return payment.chainId === key.chainId && payment.version >= key.version
  } catch (error) {
    if (isClientError(error) && ofThisPayment.has(error.code)) return false
    throw error
  }
}
