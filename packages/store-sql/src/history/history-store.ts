/** Stores history in segments, for the commands that archive it. Source: docs/retention.md. @module */
import type { HistoryPart, HistoryRows, HistoryStore, SegmentedKind } from '@payment-integration/core/internal'
import { sql } from 'kysely'
import { updatesNewest } from '../console/console-reads.js'
import { removeUndelivered } from '../deliveries/settle.js'
import type { Connection, Engine } from '../engine.js'
import { run, runBulk, type StatementText } from '../internal/statements.js'
import { toHex, toNumber, whileBusy } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import { type RowKey, rowsByKind } from './rows.js'
import type { IdRange, Segment } from './segments.js'
import { beginSegment, closeSegments, findSegment, listSegments, unbounded, withShortLocks } from './segments.js'

/** Rows that one statement reads, or one transaction removes. */
const groupSize = 1_000
/** Longest wait for a segment's table lock, in ms. Claims queue behind the wait; a dump may keep the lock for hours. */
const removalLockMs = 100

export function createHistoryStore(engine: Engine): HistoryStore {
  const { read, transaction, dialect } = engine
  const { name, nowText, skipLocked } = dialect
  return {
    segments: () => listSegments(read),
    beginSegment: () => beginSegment(engine),
    closeSegments: (upTo) => closeSegments(engine, upTo),
    async pending(upTo) {
      const { deliveries } = await findSegment(read, upTo)
      const segment = sql<Integer>`coalesce((select max(s.number) from ${sql.raw(name('segments'))} as s
        where s.first_delivery <= q.id), 0)`
      const rows = await read
        .selectFrom('outbox as q')
        .select([segment.as('segment'), 'q.integration', sql<Integer>`count(*)`.as('count')])
        .where('q.id', '<', deliveries.to)
        .groupBy(['segment', 'q.integration'])
        .orderBy('segment')
        .orderBy('q.integration')
        .execute()
      return rows.map((row) => ({
        segment: toNumber(row.segment),
        integrationAddress: toHex(row.integration),
        count: toNumber(row.count),
      }))
    },
    // Skips leased deliveries, which stay pending.
    async exhaustPending(upTo) {
      const { deliveries } = await findSegment(read, upTo)
      const text: StatementText = (parameter) => `select q.id from ${name('outbox')} q
        where q.id < ${parameter(deliveries.to)} and (q.claim_token is null or q.due_at <= ${nowText(parameter)})
        order by q.id limit ${groupSize}${skipLocked('q')}`
      let exhaustedCount = 0
      for (let groupCount = groupSize; groupCount === groupSize; exhaustedCount += groupCount)
        groupCount = await transaction(async (db) => {
          const ids = (await run<{ id: Integer }>(db, text)).map(({ id }) => toNumber(id))
          await removeUndelivered(db, 'exhausted', ids)
          return ids.length
        })
      return exhaustedCount
    },
    async count(kind, segment) {
      const range = getRange(kind, await findSegment(read, segment))
      return transaction((db) => countRows(db, kind, range), { isLong: true })
    },
    part: (kind, segment) => findPart(engine, kind, segment),
    async restore(kind, segment, rows) {
      const bounds = await findSegment(read, segment)
      const range = getRange(kind, bounds)
      if (kind !== 'updates') await addPartitions(engine, bounds)
      else if (range.to === unbounded) throw new RangeError(`Segment ${segment} is the newest: it was never archived.`)
      const stored = rows.map((row) => rowsByKind[kind].values(row))
      for (const [number] of stored)
        if (!(Number(number) >= range.from && Number(number) < range.to))
          throw new RangeError(
            `Number ${number} of ${kind} is not of segment ${segment}; is this the file of another database?`,
          )
      await transaction((db) => restoreRows(db, kind, stored))
    },
  }
}

async function findPart<Kind extends SegmentedKind>(
  engine: Engine,
  kind: Kind,
  segment: number,
): Promise<HistoryPart<Kind>> {
  const { read } = engine
  const bounds = await findSegment(read, segment)
  const range = getRange(kind, bounds)
  if (kind !== 'updates' && !bounds.isClosed)
    throw new RangeError(`Deliveries of segment ${segment} may be replayed; close it first.`)
  const waiting = kind === 'updates' ? await findWaiting(engine, range) : new Set<number>()
  return {
    async *rows() {
      const { read: readPage, getKey } = rowsByKind[kind]
      for (let after: RowKey | null = null; ; ) {
        const page: readonly HistoryRows[Kind][] = await readPage(read, range, after, groupSize)
        const last = page.at(-1)
        if (last === undefined) return
        yield page.filter((row) => !('seq' in row && waiting.has(Number(row.seq))))
        after = getKey(last)
      }
    },
    remove: () =>
      kind === 'updates' ? removeInGroups(engine, kind, range, [...waiting]) : removeDeliveries(engine, kind, bounds),
  }
}

/** @throws RangeError When the payment or the delivery of a row does not exist. */
async function restoreRows(db: Connection, kind: SegmentedKind, rows: readonly (readonly unknown[])[]) {
  const { table, columns, compared, ownerExists } = rowsByKind[kind]
  const { name } = db.dialect
  const allColumns = [...columns, ...compared]
  const countText = () => `select count(*) as rows from v where ${ownerExists(name)}`
  const owned = await runBulk<{ rows: Integer }>(db, allColumns, rows, countText)
  const ownedCount = owned.reduce((sum, each) => sum + toNumber(each.rows), 0)
  if (ownedCount !== rows.length)
    throw new RangeError(
      `${rows.length - ownedCount} of ${rows.length} rows of ${kind} have no stored payment or delivery; is this the file of another database?`,
    )
  const names = columns.map((column) => column.name).join(', ')
  const insertText = () =>
    `insert into ${name(table)} (${names}) select ${names} from v where true on conflict do nothing`
  await runBulk(db, allColumns, rows, insertText)
}

const getRange = (kind: SegmentedKind, { deliveries, updates }: Segment): IdRange =>
  kind === 'updates' ? updates : deliveries

async function countRows(db: Connection, kind: SegmentedKind, { from, to }: IdRange) {
  const { table, key } = rowsByKind[kind]
  const exclusion = kind === 'updates' ? sql` and outcome <> 'waiting'` : sql``
  const query = sql<{ rows: Integer }>`select count(*) as rows from ${sql.raw(db.dialect.name(table))}
    where ${sql.ref(key)} >= ${from} and ${sql.ref(key)} < ${to}${exclusion}`
  return toNumber((await query.execute(db)).rows[0]?.rows ?? 0)
}

/** Finds the waiting updates by an index, made if missing. They are not removed, even if they are decided meanwhile. */
async function findWaiting(engine: Engine, range: IdRange): Promise<Set<number>> {
  const { dialect, read } = engine
  if (!dialect.types.isStoredInSequence)
    await engine.runExclusively(() => whileBusy(() => engine.createIndex(updatesNewest)))
  const waiting = await read
    .selectFrom('updates')
    .select('seq')
    .where('outcome', '=', sql.lit('waiting'))
    .where('seq', '>=', range.from)
    .where('seq', '<', range.to)
    .execute()
  return new Set(waiting.map(({ seq }) => toNumber(seq)))
}

async function removeDeliveries(
  engine: Engine,
  kind: 'attempts' | 'deliveries',
  { number, deliveries: range }: Segment,
): Promise<void> {
  const { dialect, read } = engine
  if (kind === 'deliveries' && (await rowsByKind.attempts.read(read, range, null, 1)).length > 0)
    throw new RangeError(`Segment ${number} has attempts; remove them before their deliveries.`)
  const { partitions } = dialect
  if (partitions === null) return removeInGroups(engine, kind, range)
  const remove = kind === 'deliveries' ? partitions.drop : partitions.empty
  await withShortLocks(engine, (db) => remove(db, number), removalLockMs)
}

async function removeInGroups(
  { transaction, dialect }: Engine,
  kind: SegmentedKind,
  { from, to }: IdRange,
  excluded: readonly number[] = [],
): Promise<void> {
  const { table, key } = rowsByKind[kind]
  const { name, oneOf } = dialect
  for (let removedCount = groupSize; removedCount === groupSize; ) {
    const removed = await transaction((db) =>
      run(db, (parameter) => {
        const exclusion = excluded.length === 0 ? '' : ` and not (${oneOf(key, 'integer', excluded, parameter)})`
        return `delete from ${name(table)} where ${key} in (
            select distinct ${key} from ${name(table)}
            where ${key} >= ${parameter(from)} and ${key} < ${parameter(to)}${exclusion}
            order by ${key} limit ${groupSize})
          returning ${key}`
      }),
    )
    removedCount = Math.min(groupSize, removed.length)
  }
}

async function addPartitions(engine: Engine, { number, deliveries, isClosed }: Segment) {
  if (!isClosed) throw new RangeError(`Segment ${number} is not closed: its deliveries were not removed.`)
  const { partitions } = engine.dialect
  if (partitions === null) return
  const segment = { number, first: deliveries.from, end: deliveries.to }
  await withShortLocks(engine, (db) => partitions.add(db, segment))
}
