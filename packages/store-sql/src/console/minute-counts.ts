/** Counts the newest payments and attempts for each minute. Source: the port ConsoleReads. @module */
import type { PaymentState } from '@payment-integration/contract'
import type { AttemptKind, CountQuery, MinuteCounts } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'

const minuteMs = 60_000

/** Attempts by minute and kind, at most `limit` of them. */
export async function attemptsPerMinute(db: Connection, query: CountQuery): Promise<MinuteCounts<AttemptKind>> {
  return collect(await attemptCounts(db, query).execute(), query.limit, (kind) => kind as AttemptKind)
}

/** Payments by minute and state, at most `limit` of them. */
export async function paymentsPerMinute(db: Connection, query: CountQuery): Promise<MinuteCounts<PaymentState | null>> {
  return collect(await paymentCounts(db, query).execute(), query.limit, (state) => state as PaymentState | null)
}

/** Their statement. Reasons are JSON strings. */
export function attemptCounts(db: Connection, { since, limit }: CountQuery) {
  const newest = db
    .selectFrom('attempts')
    .select([minuteOf('started_at'), 'status', 'reason'])
    .where('started_at', '>=', checkInteger(since, 'since'))
    .orderBy('started_at', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
  const kind = sql<string>`case when reason is null then 'delivered' when reason = '"timeout"' then 'timeout'
    when status is null or reason = '"malformed_answer"' then 'no_answer' when status < 400 then 'redirect' when status < 500 then 'client_error'
    else 'server_error' end`
  return grouped(db.selectFrom(newest.as('newest')).select(['minute', kind.as('kind'), count]))
}

/** Their statement. */
export function paymentCounts(db: Connection, { since, limit }: CountQuery) {
  const newest = db
    .selectFrom('payments')
    .select(['id', minuteOf('block_timestamp')])
    .where(sql<boolean>`is_primary = 1`)
    .where('block_timestamp', '>=', checkInteger(since, 'since'))
    .orderBy('block_timestamp', 'desc')
    .limit(checkInteger(limit, 'limit', 1))
  // A subquery for each row: a join may read all statuses.
  const withState = db
    .selectFrom(newest.as('newest'))
    .select('minute')
    .select(({ selectFrom }) =>
      selectFrom('statuses as s').select('s.state').whereRef('s.payment_id', '=', 'newest.id').as('kind'),
    )
  return grouped(db.selectFrom(withState.as('counted')).select(['minute', 'kind', count]))
}

const count = sql<Integer>`count(*)`.as('rows')
// Without the cast PostgreSQL divides a parameter's unknown type.
const minuteOf = (column: string) => sql<Integer>`${sql.ref(column)} / ${sql.lit(minuteMs)}`.as('minute')

function grouped<Query extends { groupBy(columns: readonly ['minute', 'kind']): Query }>(query: Query): Query {
  return query.groupBy(['minute', 'kind'])
}

interface CountRow {
  readonly minute: Integer
  readonly kind: string | null
  readonly rows: Integer
}

function collect<Kind>(
  rows: readonly CountRow[],
  limit: number,
  kindOf: (kind: string | null) => Kind,
): MinuteCounts<Kind> {
  const counts = rows.map((row) => ({
    minute: integer(row.minute) * minuteMs,
    kind: kindOf(row.kind),
    count: integer(row.rows),
  }))
  counts.sort((a, b) => a.minute - b.minute)
  return { counts, isCut: counts.reduce((sum, each) => sum + each.count, 0) >= limit }
}
