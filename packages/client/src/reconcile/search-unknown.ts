/** Finds payments of the store that the service lacks. Source: docs/interface.md 4.1 (single look-ups), 7. @module */
import { AbortedError, AmbiguousPaymentError, ClientError, PaymentNotFoundError, UnauthorizedError } from '../errors.js'
import { isTxHash } from '../internal/check.js'
import type { Payment, PaymentReader } from '../payments.js'
import { formatKey, type PaymentKey } from './failures.js'
import type { UnknownPayment } from './findings.js'
import type { ListingStore, StoredKey } from './options.js'

const maxFailuresInARow = 3

/**
 * Lists the store before the pages are read, so that a later delivery does not count as unknown. Needs a few hundred
 * bytes of memory per listed payment.
 * @throws The error of `list`, and {@link TypeError} when it returns no keys.
 * @throws {@link AbortedError} `ERR_ABORTED`, at once, even while the store waits.
 */
export async function startUnknownSearch(
  store: Pick<ListingStore<never>, 'list'>,
  integrationAddress: string,
  reader: PaymentReader,
  signal: AbortSignal | undefined,
) {
  const unseen = await untilAborted(signal, () => listKeys(store, integrationAddress, signal))

  /** @throws Errors of the look-up, except the two answers about the payment itself. */
  async function lookUp({ chainId, txHash }: PaymentKey): Promise<Payment | UnknownPayment['reason']> {
    // The service has no payment under a malformed hash, and would reject the request.
    if (!isTxHash(txHash)) return 'not_found'
    try {
      const payment = await reader.get(txHash, { signal })
      return payment.chainId === chainId ? payment : 'other_chain'
    } catch (error) {
      if (error instanceof PaymentNotFoundError) return 'not_found'
      if (error instanceof AmbiguousPaymentError) return 'ambiguous'
      throw error
    }
  }

  return {
    /** Crosses off a stored payment that a page shows. */
    crossOff: (payment: Payment) => void unseen.delete(formatKey(payment)),
    /**
     * Looks up the payments that no page showed, one at a time: a reorg may have moved one while the pages were read.
     * Calls `onFound` or `onUnknown` for each. A failed look-up makes its payment `unreadable` and does not stop the
     * run. After three transient failures in a row it skips the others: each would cost its timeouts.
     * @throws {@link AbortedError} `ERR_ABORTED`.
     * @throws {@link UnauthorizedError} `ERR_UNAUTHORIZED`.
     * @throws The error of `onFound`.
     */
    async finish(onFound: (payment: Payment) => Promise<void>, onUnknown: (payment: UnknownPayment) => void) {
      let failuresInARow = 0
      for (const key of unseen.values()) {
        if (signal?.aborted) throw new AbortedError()
        let outcome: Awaited<ReturnType<typeof lookUp>> = 'unreadable'
        if (failuresInARow < maxFailuresInARow)
          try {
            outcome = await lookUp(key)
            failuresInARow = 0
          } catch (error) {
            if (!allowsNextLookUp(error)) throw error
            failuresInARow = error.retryable ? failuresInARow + 1 : 0
          }
        if (typeof outcome === 'string') onUnknown({ ...key, reason: outcome })
        else await onFound(outcome)
      }
    },
  }
}

/** Whether the next look-up may still succeed after this error. */
function allowsNextLookUp(error: unknown): error is ClientError {
  return error instanceof ClientError && !(error instanceof AbortedError) && !(error instanceof UnauthorizedError)
}

/** Keys of one integration: a caller's own store may list keys of others too. */
async function listKeys(
  store: Pick<ListingStore<never>, 'list'>,
  integration: string,
  signal: AbortSignal | undefined,
): Promise<Map<string, PaymentKey>> {
  const keys = new Map<string, PaymentKey>()
  for await (const entry of toIterable(await store.list(integration))) {
    const { integrationAddress, chainId, txHash } = parseStoredKey(entry)
    // Throwing inside the loop closes the store's iterator.
    if (signal?.aborted) throw new AbortedError()
    if (integrationAddress.toLowerCase() !== integration) continue
    const key = { chainId, txHash: txHash.toLowerCase() }
    keys.set(formatKey(key), key)
  }
  return keys
}

/** @throws {TypeError} When `listed` is not iterable, as a store without types may return. */
function toIterable(listed: unknown): Iterable<unknown> | AsyncIterable<unknown> {
  const list = Object(listed) as Iterable<unknown> & AsyncIterable<unknown>
  if (!list[Symbol.asyncIterator] && !list[Symbol.iterator]) throw createListError(listed)
  return list
}

/** @throws {TypeError} When `entry` is not a key. */
function parseStoredKey(entry: unknown): StoredKey {
  const key = Object(entry) as StoredKey
  for (const text of [key.integrationAddress, key.chainId, key.txHash])
    if (typeof text !== 'string') throw createListError(entry)
  return key
}

function createListError(returned: unknown): TypeError {
  const arrived = Object(returned) === returned ? 'something else' : String(returned === null ? null : typeof returned)
  return new TypeError(
    `list must give { integrationAddress, chainId, txHash }, all of them text, in an array or an async iterable; it gave ${arrived}.`,
  )
}

/** Resolves the result of the work. Rejects as soon as the signal aborts. */
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
