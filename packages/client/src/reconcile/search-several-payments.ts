/** Finds transactions with several payments by legacy look-ups. Source: docs/interface.md 2.4, 4.3. @module */
import { AbortedError, ClientError, UnauthorizedError } from '../errors.js'
import type { LegacyClient } from '../legacy/client.js'
import type { StoredFailure } from './checkpoint.js'
import { createFailures, formatKey } from './failures.js'
import { createFindingList, type SeveralPayments, type UnreadTransaction } from './findings.js'
import type { CheckedReconcile } from './options.js'

type Outcome = { readonly memos: readonly string[] } | { readonly error: unknown }

/** Whether a retry would get the same answer, such as 404. */
const isFinal = (error: unknown) =>
  error instanceof ClientError && !error.retryable && !(error instanceof UnauthorizedError)

const maxConcurrentLookUps = 4
const maxFailuresInARow = 3
/** A transaction may hold thousands of other payments. */
const maxMemos = 100
/** Number of remembered transactions. Beyond this number the run forgets all and may repeat a look-up. */
const maxSearched = 10_000

/**
 * Creates the search for transactions with several payments. It queues the failed look-ups of the checkpoint first.
 * Without a legacy client it looks up nothing and keeps them for a later run.
 */
export function createSeveralPaymentsSearch<Tx>({ legacy, samples, signal, checkpoint }: CheckedReconcile<Tx>) {
  const several = createFindingList<SeveralPayments>(samples)
  const unread = createFindingList<UnreadTransaction>(samples)
  const failures = createFailures(checkpoint.unread)
  const queuedKeys = new Set<string>()
  const queued: StoredFailure[] = []
  let failuresInARow = 0
  /** The outcome of every skipped look-up; null until the run gives up. */
  let skippedOutcome: Outcome | null = null

  /** Queues a payment for a look-up, unless this run has queued it before. */
  function add(payment: StoredFailure): void {
    const key = formatKey(payment)
    if (!legacy || queuedKeys.has(key)) return
    if (queuedKeys.size === maxSearched) queuedKeys.clear()
    queuedKeys.add(key)
    queued.push(payment)
  }

  async function read({ chainId, txHash }: StoredFailure, client: Pick<LegacyClient, 'lookup'>): Promise<Outcome> {
    if (skippedOutcome) return skippedOutcome
    try {
      const { payments } = await client.lookup({ chainId: Number(chainId), txHash }, { signal })
      return { memos: payments.map(({ memo }) => memo) }
    } catch (error) {
      if (signal?.aborted) throw new AbortedError()
      return { error }
    }
  }

  function recordOutcome(payment: StoredFailure, outcome: Outcome): void {
    const { chainId, txHash } = payment
    if ('memos' in outcome) {
      const { memos } = outcome
      failuresInARow = 0
      failures.drop(payment)
      if (memos.length > 1) several.add({ chainId, txHash, payments: memos.length, memos: memos.slice(0, maxMemos) })
      return
    }
    const { error } = outcome
    unread.add({ chainId, txHash, error })
    if (isFinal(error)) {
      failuresInARow = 0
      failures.drop(payment)
      return
    }
    failuresInARow += 1
    if (error instanceof UnauthorizedError || failuresInARow >= maxFailuresInARow) skippedOutcome = outcome
    failures.add(payment)
  }

  checkpoint.unread.forEach(add)
  return {
    add,
    /**
     * Looks up the queued payments, four at a time. A failed look-up reports its transaction as unread. After three
     * transient failures in a row, or one 401, it skips the others: each would cost its timeouts.
     * @throws {@link AbortedError} `ERR_ABORTED`.
     */
    async lookUp(): Promise<void> {
      if (!legacy) return
      while (queued.length > 0) {
        const batch = queued.splice(0, maxConcurrentLookUps)
        const outcomes = await Promise.all(batch.map(async (each) => [each, await read(each, legacy)] as const))
        for (const [payment, outcome] of outcomes) recordOutcome(payment, outcome)
      }
    },
    findings: () => ({
      severalPayments: legacy ? several.summarize() : null,
      unreadTransactions: legacy ? unread.summarize() : null,
    }),
    /** Failed look-ups that the next run repeats, for the checkpoint. */
    failures,
  }
}
