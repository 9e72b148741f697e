/** Stores the segments of history: where each begins, and which are closed. Source: docs/retention.md. @module */
import type { ExaminedVersions, HistorySegment } from '@payment-integration/core/internal'
import { findMissing } from '../deliveries/delivery-lists.js'
import type { Connection, Engine } from '../engine.js'
import { run, type StatementText } from '../internal/statements.js'
import { lockMs, toNumber, whileBusy } from '../internal/values.js'
import { getFollowingSegment } from '../schema/partitions.js'
import type { Tables } from '../schema/tables.js'

export interface Segment {
  readonly number: number
  readonly begunAt: number
  /** Whether the segment is closed, so that its deliveries are not replayed. */
  readonly isClosed: boolean
  readonly deliveries: IdRange
  readonly updates: IdRange
}

/** `to` is excluded. */
export interface IdRange {
  readonly from: number
  readonly to: number
}

/** The `to` of the newest segment, which has no end yet. */
export const unbounded = Number.MAX_SAFE_INTEGER

/** Every segment, oldest first. The first one has no row. */
export async function readSegments(db: Connection): Promise<[Segment, ...Segment[]]> {
  const rows = await db.selectFrom('segments').selectAll().orderBy('number').execute()
  const first = { number: 0, begun_at: 0, first_delivery: 0, first_update: 0, closes: 0 }
  const toSegment = (row: Tables['segments'], next: Tables['segments'] | undefined): Segment => ({
    number: toNumber(row.number),
    begunAt: toNumber(row.begun_at),
    isClosed: toNumber(next?.closes ?? 0) === 1,
    deliveries: { from: toNumber(row.first_delivery), to: toNumber(next?.first_delivery ?? unbounded) },
    updates: { from: toNumber(row.first_update), to: toNumber(next?.first_update ?? unbounded) },
  })
  return [toSegment(first, rows[0]), ...rows.map((row, index) => toSegment(row, rows[index + 1]))]
}

export async function findSegment(db: Connection, number: number): Promise<Segment> {
  const segment = (await readSegments(db)).find((each) => each.number === number)
  if (segment === undefined) throw new RangeError(`This database has no history segment ${number}.`)
  return segment
}

export async function listSegments(db: Connection): Promise<HistorySegment[]> {
  const segments = await readSegments(db)
  return segments.map(({ number, begunAt }, index) => ({
    number,
    begunAt,
    endedAt: segments[index + 1]?.begunAt ?? null,
  }))
}

/**
 * Begins a segment: makes its tables, assigns its ids to new deliveries, then records its start. In this order an
 * interruption leaves no delivery in an earlier, already ended segment.
 */
export async function beginSegment(engine: Engine): Promise<void> {
  const { dialect, read, transaction } = engine
  const { partitions } = dialect
  if (partitions === null) return transaction((db) => insertSegment(db, null))
  await engine.runExclusively(async () => {
    const { number, deliveries } = getNewest(await readSegments(read))
    const following = getFollowingSegment({ number, first: deliveries.from })
    await withShortLocks(engine, (db) => partitions.add(db, following))
    await withShortLocks(engine, async (db) => {
      await partitions.beginIds(db, following.first)
      await insertSegment(db, following.first)
    })
  })
}

/** Runs `work` in a transaction that waits at most `ms` for each lock. Repeats it while a lock is busy. */
export function withShortLocks(
  { transaction }: Engine,
  work: (db: Connection) => Promise<void>,
  ms = lockMs,
): Promise<void> {
  return whileBusy(() =>
    transaction(async (db) => {
      await db.dialect.waitAtMost(db, ms)
      await work(db)
    }),
  )
}

const getNewest = (segments: readonly [Segment, ...Segment[]]): Segment => segments.at(-1) ?? segments[0]

/** @param firstDelivery - Null for the id after the newest. */
async function insertSegment(db: Connection, firstDelivery: number | null): Promise<void> {
  const { name, nowText, lastAssigned } = db.dialect
  const { number } = getNewest(await readSegments(db))
  const text: StatementText = (parameter) => `insert into ${name('segments')}
      (number, begun_at, first_delivery, first_update, closes)
    select ${parameter(number + 1)}, ${nowText(parameter)},
      ${firstDelivery === null ? `${lastAssigned('snapshots', 'id')} + 1` : parameter(firstDelivery)},
      ${lastAssigned('updates', 'seq')} + 1, 0`
  await run(db, text)
}

export async function closeSegments({ transaction, read }: Engine, upTo: number): Promise<void> {
  const { deliveries } = await findSegment(read, upTo)
  if (deliveries.to === unbounded) throw new RangeError(`Segment ${upTo} is the newest: new rows belong to it.`)
  await assertNoneMissing(read, deliveries.to)
  await transaction((db) => {
    const open = db.updateTable('segments').set({ closes: 1 }).where('closes', '=', 0)
    return open.where('number', '<=', upTo + 1).execute()
  })
}

/** Versions that one statement reads. A long statement would keep a database snapshot open, and dead rows with it. */
const checkedVersions = 10_000

/** @throws RangeError When a delivery of these segments is missing: once closed, it could never be sent. */
async function assertNoneMissing(read: Connection, end: number): Promise<void> {
  for (let before: string | null = String(end); before !== null; ) {
    const part: ExaminedVersions = await findMissing(read, { beforeId: before, limit: checkedVersions })
    if (part.missing > 0)
      throw new RangeError(
        'Deliveries of a segment that has ended are missing, so it stays open. Run deliveries check --repair first.',
      )
    before = part.lowestId
  }
}

/** The lowest id of a delivery that may be replayed. A lock keeps segments from closing until the transaction ends. */
export async function findLowestReplayable(db: Connection): Promise<number> {
  await db
    .selectFrom('segments')
    .select('number')
    .where('closes', '=', 0)
    .orderBy('number')
    .modifyEnd(db.dialect.forUpdate)
    .execute()
  const closed = db.selectFrom('segments').select(({ fn }) => fn.max('first_delivery').as('lowest'))
  return toNumber((await closed.where('closes', '=', 1).executeTakeFirst())?.lowest ?? 0)
}
