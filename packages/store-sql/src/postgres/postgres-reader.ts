/** Measures a standby's lag; sends it reads that may be stale. See docs/decisions/reads.md. @module */
import { StoreError } from '@payment-integration/core'
import type { ConsoleReads, PaymentReads } from '@payment-integration/core/internal'
import type { Reader } from '../engine.js'
import type { RawRows } from '../internal/values.js'
import type { PostgresDriver } from './postgres-connection.js'

type Read<Query, Result> = (query: Query) => Promise<Result>

/**
 * Reads payments for integrators. Pages after the first come from the primary, because the standby may lack payments of
 * the first page's time; so do payments that the standby lacks.
 */
export function preferReaderForPayments(primary: PaymentReads, standby: PaymentReads, reader: Reader): PaymentReads {
  const list = preferStandby(reader, primary.list, standby.list)
  const findByHash = preferStandby(reader, primary.findByHash, standby.findByHash, (payments) => payments.length > 0)
  const transaction = preferStandby(reader, primary.transaction, standby.transaction, areOnChain)
  return {
    ...primary,
    list: (query) => (query.after === undefined ? list(query) : primary.list(query)),
    findByHash,
    transaction,
  }
}

/** Whether the standby's answer counts: a payment that left the chain may be back on the primary. */
function areOnChain({ payments }: Awaited<ReturnType<PaymentReads['transaction']>>): boolean {
  return payments.length > 0 && payments.every(({ offChain, dropped }) => !offChain && dropped === null)
}

/** Reads the console's listings. Its live page and small tables stay on the primary. */
export function preferReaderForConsole(primary: ConsoleReads, standby: ConsoleReads, reader: Reader): ConsoleReads {
  const payments = preferStandby(reader, primary.payments, standby.payments)
  const deliveries = preferStandby(reader, primary.deliveries, standby.deliveries)
  return { ...primary, payments, deliveries }
}

/** Reads from a fresh standby. Reads from the primary if the standby is stale, fails, or its result is not enough. */
function preferStandby<Query, Result>(
  reader: Reader,
  readPrimary: Read<Query, Result>,
  readStandby: Read<Query, Result>,
  isEnough: (result: Result) => boolean = () => true,
): Read<Query, Result> {
  return async (query) => {
    if (!reader.isFresh()) return readPrimary(query)
    try {
      const result = await readStandby(query)
      if (isEnough(result)) return result
    } catch (error) {
      // A standby may cancel a read that conflicts with rows that the primary removed.
      if (error instanceof StoreError) reader.distrust()
    }
    return readPrimary(query)
  }
}

/** How often the lag is measured per lag limit: the measured lag exceeds the true one by up to one interval. */
const measurementsPerLagLimit = 4
/** The pause after a failed measurement, in milliseconds. */
const pauseMs = 5_000
/** The most remembered positions that the standby has not reached yet. */
const maxMarks = 16

// Each promotion begins a timeline: a standby of the former primary is not a standby of the new one.
const primaryPositionSql = `select pg_current_wal_insert_lsn()::text as position,
  ('x' || substring(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int as timeline,
  (select system_identifier::text from pg_control_system()) as cluster`
const standbyPositionSql = `select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as position,
  (select min_recovery_end_timeline from pg_control_recovery()) as timeline,
  (select system_identifier::text from pg_control_system()) as cluster`

/** A position of the primary's log, and when it was read, by the process's clock in milliseconds. */
interface Mark {
  readonly at: number
  readonly position: bigint
  readonly timeline: number
  /** Identifies the cluster: positions of different clusters are not comparable. */
  readonly cluster: string
}

/**
 * Measures the lag until closed. Once the standby has replayed a mark's position, it has all commits from before the
 * mark was read. So no clock of another machine matters.
 */
export function measureStandby(primary: PostgresDriver, standby: PostgresDriver, maxLagMs: number) {
  let marks: Mark[] = []
  /** Everything that was committed before this time is on the standby. */
  let completeAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function measure(): Promise<void> {
    const at = performance.now()
    const mark = parsePosition(await primary.rows({ sql: primaryPositionSql, parameters: [] }))
    if (mark !== null && marks.length < maxMarks) marks.push({ at, ...mark })
    const replayed = parsePosition(await standby.rows({ sql: standbyPositionSql, parameters: [] }))
    const isReached = ({ position, timeline, cluster }: Mark) =>
      replayed !== null &&
      cluster === replayed.cluster &&
      timeline === replayed.timeline &&
      position <= replayed.position
    completeAt = marks.findLast(isReached)?.at ?? completeAt
    marks = marks.filter((each) => each.at > completeAt)
  }

  function distrust(): void {
    completeAt = Number.NEGATIVE_INFINITY
    marks = []
  }

  async function run(): Promise<void> {
    // Without an answer, no read goes to the standby; ordinary reads report the failure.
    const isMeasured = await measure().then(
      () => true,
      () => false,
    )
    if (!isMeasured) distrust()
    if (isClosed) return
    timer = setTimeout(run, isMeasured ? maxLagMs / measurementsPerLagLimit : Math.max(maxLagMs, pauseMs))
    timer.unref()
  }
  void run()

  return {
    isFresh: () => performance.now() - completeAt <= maxLagMs,
    distrust,
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

function parsePosition({ values }: RawRows): Omit<Mark, 'at'> | null {
  const [position, timeline, cluster] = values[0] ?? []
  if (typeof position !== 'string') return null
  const [high = '', low = ''] = position.split('/')
  return {
    position: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`),
    timeline: Number(timeline),
    cluster: String(cluster),
  }
}
