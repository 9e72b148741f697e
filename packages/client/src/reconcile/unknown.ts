/** Which payments of the store the service does not have. Source: docs/interface.md 4.1 (single look-ups), 7. @module */
import { AbortedError, AmbiguousPaymentError, ClientError, NotFoundError, UnauthorizedError } from '../errors.js'
import { isTxHash } from '../internal/check.js'
import type { Payment } from '../payment.js'
import type { PaymentReader } from '../payments.js'
import type { UnknownPayment } from './findings.js'
import type { ListingStore, StoredKey } from './store.js'

/** Watches a walk, and names at its end what it did not come across. */
export interface UnknownSearch {
  saw(payment: Payment): void
  /**
   * Looks up what is left, one after the other: it may have moved while the pages were read. What is there after all goes to `there`. A
   * look-up that fails makes its payment `unreadable`, so that what the run has found stays. After three in a row that failed for want of
   * a usable service, the others are not asked for: each would cost its time-outs.
   * @throws {@link AbortedError} `ERR_ABORTED`; {@link UnauthorizedError} `ERR_UNAUTHORIZED`; what `there` throws.
   */
  finish(there: (payment: Payment) => Promise<void>, found: (payment: UnknownPayment) => void): Promise<void>
}

type Key = Pick<StoredKey, 'chainId' | 'txHash'>

/** So many look-ups in a row without a service, and the others are not made. */
const failuresInARow = 3

/**
 * Lists the store before the walk, so that what a delivery adds meanwhile is not taken for unknown. Keeps one key for each listed payment,
 * some hundred bytes each, until the walk has come across it.
 * @throws What `list` throws, and {@link TypeError} when it gives no keys. @throws {@link AbortedError} `ERR_ABORTED`, at once, also while the store waits.
 */
export async function searchUnknown(
  store: Pick<ListingStore<never>, 'list'>,
  integrationAddress: string,
  reader: PaymentReader,
  signal: AbortSignal | undefined,
): Promise<UnknownSearch> {
  const unseen = await untilAborted(signal, () => keysOf(store, integrationAddress, signal))

  /** @throws What the look-up throws, but for the two answers that say something about the payment. */
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
      let failed = 0
      for (const key of unseen.values()) {
        if (signal?.aborted) throw new AbortedError()
        let outcome: Awaited<ReturnType<typeof lookUp>> = 'unreadable'
        if (failed < failuresInARow)
          try {
            outcome = await lookUp(key)
            failed = 0
          } catch (error) {
            if (!isOfThisLookUp(error)) throw error
            failed = error.retryable ? failed + 1 : 0
          }
        if (typeof outcome === 'string') found({ ...key, reason: outcome })
        else await there(outcome)
      }
    },
  }
}

/** Whether the next look-up may still succeed. */
function isOfThisLookUp(error: unknown): error is ClientError {
  return error instanceof ClientError && !(error instanceof AbortedError) && !(error instanceof UnauthorizedError)
}

/** A store of the caller's own may list more than it was asked for: that is nothing of this integration. */
async function keysOf(
  store: Pick<ListingStore<never>, 'list'>,
  wanted: string,
  signal: AbortSignal | undefined,
): Promise<Map<string, Key>> {
  const keys = new Map<string, Key>()
  for await (const entry of iterableOf(await store.list(wanted))) {
    const { integrationAddress, chainId, txHash } = storedKeyOf(entry)
    // Thrown here, so that the listing is closed.
    if (signal?.aborted) throw new AbortedError()
    if (integrationAddress.toLowerCase() !== wanted) continue
    const key = { chainId, txHash: txHash.toLowerCase() }
    keys.set(textOf(key), key)
  }
  return keys
}

/** What a store without types may give in place of a list. @throws {TypeError} */
function iterableOf(listed: unknown): Iterable<unknown> | AsyncIterable<unknown> {
  const list = Object(listed) as Iterable<unknown> & AsyncIterable<unknown>
  if (!list[Symbol.asyncIterator] && !list[Symbol.iterator]) throw noKeys(listed)
  return list
}

/** @throws {TypeError} When it is no key. */
function storedKeyOf(entry: unknown): StoredKey {
  const key = Object(entry) as StoredKey
  for (const text of [key.integrationAddress, key.chainId, key.txHash])
    if (typeof text !== 'string') throw noKeys(entry)
  return key
}

function noKeys(given: unknown): TypeError {
  const what = Object(given) === given ? 'something else' : String(given === null ? null : typeof given)
  return new TypeError(
    `list must give { integrationAddress, chainId, txHash }, all of them text, in an array or an async iterable; it gave ${what}.`,
  )
}

/** The result of the work, or the abort where that comes first. */
async function untilAborted<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
  if (signal === undefined) return work()
  if (signal.aborted) throw new AbortedError()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new AbortedError())
    signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function textOf({ chainId, txHash }: Key): string {
  return `${chainId}:${txHash}`
}
