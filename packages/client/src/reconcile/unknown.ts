/** Which payments of the store the service does not have. Source: INTERFACE 4.1 (single look-ups), 7. @module */
import { AbortedError, AmbiguousPaymentError, NotFoundError } from '../errors.js'
import { isTxHash } from '../internal/check.js'
import type { Payment } from '../payment.js'
import type { PaymentReader } from '../payments.js'
import type { UnknownPayment } from './findings.js'
import type { ListingStore, StoredKey } from './store.js'

/** Watches a walk, and names at its end what it did not come across. */
export interface UnknownSearch {
  saw(payment: Payment): void
  /** Looks up what is left, one after the other: it may have moved while the pages were read. What is there after all goes to `there`. */
  finish(there: (payment: Payment) => Promise<void>, found: (payment: UnknownPayment) => void): Promise<void>
}

type Key = Pick<StoredKey, 'chainId' | 'txHash'>

/**
 * Lists the store before the walk, so that what a delivery adds meanwhile is not taken for unknown. Keeps one key for each listed payment,
 * some hundred bytes each, until the walk has come across it.
 * @throws What `list` throws.
 */
export async function searchUnknown(
  store: Pick<ListingStore<never>, 'list'>,
  integrationAddress: string,
  reader: PaymentReader,
  signal: AbortSignal | undefined,
): Promise<UnknownSearch> {
  const unseen = new Map<string, Key>()
  for await (const { chainId, txHash } of store.list(integrationAddress)) {
    const key = { chainId, txHash: txHash.toLowerCase() }
    unseen.set(textOf(key), key)
  }

  async function lookUp({ chainId, txHash }: Key): Promise<Payment | UnknownPayment['reason']> {
    // Such a text is no key of any payment, and not to be asked for.
    if (!isTxHash(txHash)) return 'not_found'
    try {
      const payment = await reader.get(txHash, { signal })
      return payment.chainId === chainId ? payment : 'other_chain'
    } catch (error) {
      if (error instanceof NotFoundError) return 'not_found'
      if (error instanceof AmbiguousPaymentError) return 'ambiguous'
      throw error
    }
  }

  return {
    saw: (payment) => void unseen.delete(textOf(payment)),
    async finish(there, found) {
      for (const key of unseen.values()) {
        if (signal?.aborted) throw new AbortedError()
        const outcome = await lookUp(key)
        if (typeof outcome === 'string') found({ ...key, reason: outcome })
        else await there(outcome)
      }
    },
  }
}

function textOf({ chainId, txHash }: Key): string {
  return `${chainId}:${txHash}`
}
