/** Keeps the counts of the last hour's minutes: the newest minutes are read often, the older ones seldom. @module */
import type { PaymentState } from '@payment-integration/contract'
import type { Queries } from '@payment-integration/core'
import type { AttemptKind, MinuteCount, MinuteCounts } from '@payment-integration/core/ports'

/** The counts of an hour. */
export interface Hour {
  readonly payments: MinuteCounts<PaymentState | null>
  readonly attempts: MinuteCounts<AttemptKind>
}

/** Reads hours. */
export interface HourCounts {
  read(): Promise<Hour>
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** After this time all minutes are read again: payments change their state later. */
const refreshMs = 30_000
const newestMs = 2 * minuteMs
/** Most rows of a read; where more happened, the oldest minutes are marked as incomplete. */
const mostRows = 20_000

/** Builds the counts; nothing is read before the first call. */
export function createHourCounts(
  reads: Pick<Queries, 'paymentsPerMinute' | 'attemptsPerMinute'>,
  now: () => number,
): HourCounts {
  let known: (Hour & { readonly at: number }) | null = null
  return {
    async read() {
      const isWhole = known === null || now() - known.at >= refreshMs || now() < known.at
      const start = now() - (isWhole ? hourMs : newestMs)
      const since = Math.max(0, start - (start % minuteMs))
      const [payments, attempts] = await Promise.all([
        reads.paymentsPerMinute({ since, limit: mostRows }),
        reads.attemptsPerMinute({ since, limit: mostRows }),
      ])
      const before = isWhole ? null : known
      known = {
        at: before?.at ?? now(),
        payments: joined(before?.payments ?? null, payments, since),
        attempts: joined(before?.attempts ?? null, attempts, since),
      }
      return known
    },
  }
}

function joined<Kind>(before: MinuteCounts<Kind> | null, after: MinuteCounts<Kind>, since: number): MinuteCounts<Kind> {
  if (before === null) return after
  const older: readonly MinuteCount<Kind>[] = before.counts.filter(({ minute }) => minute < since)
  return { counts: [...older, ...after.counts], isCut: before.isCut || after.isCut }
}
