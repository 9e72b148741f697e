/** Finds transactions that hold more payments than the read API shows. Source: docs/interface.md 2.4, 4.3 (look-up). @module */
import { AbortedError, ClientError, UnauthorizedError } from '../errors.js'
import type { LegacyClient } from '../legacy/client.js'
import type { KeptFailure } from './checkpoint.js'
import { createFailures, type Failures, textOf } from './failures.js'
import { collector, type SeveralPayments, type UnreadTransaction } from './findings.js'
import type { CheckedReconcile } from './options.js'
import type { Reconciliation } from './result.js'

/** Looks up transactions in the legacy API. */
export interface SeveralSearch {
  /** Remembers a payment whose transaction is to be looked up, unless it was in this run already. */
  add(payment: KeptFailure): void
  /**
   * Looks up what was added since the last call, four at a time. A look-up that fails names its transaction as unread.
   * After three failures in a row that may pass, or one of the key, the others are not made: each would cost its
   * time-outs.
   * @throws {@link AbortedError} `ERR_ABORTED`.
   */
  lookUp(): Promise<void>
  findings(): Pick<Reconciliation, 'severalPayments' | 'unreadTransactions'>
  /** Failed look-ups that the next run repeats, for the checkpoint. */
  readonly failures: Pick<Failures, 'kept' | 'overflowedAt'>
}

type Outcome = { readonly memos: readonly string[] } | { readonly error: unknown }

/** Whether asking again would be answered the same, as a 404. */
const isFinal = (error: unknown) =>
  error instanceof ClientError && !error.retryable && !(error instanceof UnauthorizedError)

const lookUpsAtOnce = 4
const failuresInARow = 3
/** A transaction may hold thousands of payments of others. */
const maxMemos = 100
/** Transactions that a run remembers; beyond it forgets all, and a payment that is met again is looked up again. */
const maxSeen = 10_000

/**
 * Begins with the failed look-ups of the checkpoint. Without a legacy client it looks up nothing and leaves those to a
 * later run.
 */
export function searchSeveral<Tx>({ legacy, samples, signal, checkpoint }: CheckedReconcile<Tx>): SeveralSearch {
  const several = collector<SeveralPayments>(samples)
  const unread = collector<UnreadTransaction>(samples)
  const failures = createFailures(checkpoint.unread)
  const seen = new Set<string>()
  const added: KeptFailure[] = []
  let inARow = 0
  let givenUp: Outcome | null = null

  function add(payment: KeptFailure): void {
    const key = textOf(payment)
    if (!legacy || seen.has(key)) return
    if (seen.size === maxSeen) seen.clear()
    seen.add(key)
    added.push(payment)
  }

  async function read({ chainId, txHash }: KeptFailure, client: Pick<LegacyClient, 'lookup'>): Promise<Outcome> {
    if (givenUp) return givenUp
    try {
      const { payments } = await client.lookup({ chainId: Number(chainId), txHash }, { signal })
      return { memos: payments.map(({ memo }) => memo) }
    } catch (error) {
      if (signal?.aborted) throw new AbortedError()
      return { error }
    }
  }

  function note(payment: KeptFailure, outcome: Outcome): void {
    const { chainId, txHash } = payment
    if ('memos' in outcome) {
      const { memos } = outcome
      inARow = 0
      failures.drop(payment)
      if (memos.length > 1) several.add({ chainId, txHash, payments: memos.length, memos: memos.slice(0, maxMemos) })
      return
    }
    const { error } = outcome
    unread.add({ chainId, txHash, error })
    if (isFinal(error)) {
      inARow = 0
      failures.drop(payment)
      return
    }
    inARow += 1
    if (error instanceof UnauthorizedError || inARow >= failuresInARow) givenUp = outcome
    failures.add(payment)
  }

  checkpoint.unread.forEach(add)
  return {
    add,
    async lookUp() {
      if (!legacy) return
      while (added.length > 0) {
        const batch = added.splice(0, lookUpsAtOnce)
        const outcomes = await Promise.all(batch.map(async (each) => [each, await read(each, legacy)] as const))
        for (const [payment, outcome] of outcomes) note(payment, outcome)
      }
    },
    findings: () => ({
      severalPayments: legacy ? several.found() : null,
      unreadTransactions: legacy ? unread.found() : null,
    }),
    failures,
  }
}
