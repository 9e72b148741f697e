/** History in segments, for commands that end it. Source: docs/retention.md. @module */
import type { HistoryPart, HistoryStore, SegmentedKind } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { updatesNewest } from '../console/indexes.js'
import type { Connection, Engine, SqlDialect } from '../engine.js'
import { bulk } from '../internal/bulk.js'
import { run } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import { lockMs, whileBusy } from '../internal/while-busy.js'
import type { Integer } from '../schema/integer.js'
import type { KindRows } from './kind-rows.js'
import { giveUpPending, pendingUpTo } from './pending.js'
import { rowsByKind } from './rows.js'
import { beginSegment, closeSegments, findSegment, type IdRange, listSegments, type Segment } from './segments.js'

/** Rows of one statement. */
const groupSize = 1_000
/** All claims queue behind the wait for a segment's lock, which a dump may have for hours. */
const removalLockMs = 100

/** The history of a database. */
export function createHistoryStore(engine: Engine): HistoryStore {
  const { read, dialect, transaction } = engine
  return {
    segments: () => listSegments(read),
    beginSegment: () => beginSegment(engine),
    closeSegments: (upTo) => closeSegments(engine, upTo),
    pending: (upTo) => pendingUpTo(engine, upTo),
    giveUpPending: (upTo) => giveUpPending(engine, upTo),
    async count(kind, segment) {
      const range = rangeOf(kind, await findSegment(read, segment))
      return transaction((db) => countRows(db, dialect, kind, range), { isLong: true })
    },
    async part(kind, segment) {
      const found = await findSegment(read, segment)
      if (kind === 'updates') return updatesPart(engine, found)
      if (!found.isClosed) throw new RangeError(`Deliveries of segment ${segment} may be replayed; close it first.`)
      const range = rangeOf(kind, found)
      return { rows: () => pages(read, rowsByKind[kind], range), remove: () => removeDeliveries(engine, kind, found) }
    },
    async restore(kind, segment, rows) {
      const found = await findSegment(read, segment)
      if (kind !== 'updates') await addPartitions(engine, found)
      const range = rangeOf(kind, found)
      const stored = rows.map(rowsByKind[kind].values)
      for (const [number] of stored)
        if (!(Number(number) >= range.from && Number(number) < range.to))
          throw new RangeError(
            `Number ${number} of ${kind} is not of segment ${segment}; is the file of another database?`,
          )
      await transaction((db) => storeAgain(db, dialect, kind, stored))
    },
  }
}

/** @throws RangeError When the payment or the delivery of a row is not there. */
async function storeAgain(
  db: Connection,
  dialect: SqlDialect,
  kind: SegmentedKind,
  rows: readonly (readonly unknown[])[],
) {
  const { table, columns, compared, owner } = rowsByKind[kind]
  const { name } = dialect
  const all = [...columns, ...compared]
  const names = all.map((column) => column.name)
  const source = (text: string) => `with v (${names.join(', ')}) as (${text})`
  const owned = await bulk<{ rows: Integer }>(
    db,
    dialect,
    all,
    rows,
    (text) => `${source(text)} select count(*) as rows from v where ${owner(name)}`,
  )
  const count = owned.reduce((sum, each) => sum + integer(each.rows), 0)
  if (count !== rows.length)
    throw new RangeError(
      `${rows.length - count} of ${rows.length} rows of ${kind} belong to nothing here; is the file of another database?`,
    )
  const stored = names.slice(0, columns.length).join(', ')
  await bulk(
    db,
    dialect,
    all,
    rows,
    (text) =>
      `${source(text)} insert into ${name(table)} (${stored}) select ${stored} from v where true on conflict do nothing`,
  )
}

const rangeOf = (kind: SegmentedKind, { deliveries, updates }: Segment): IdRange =>
  kind === 'updates' ? updates : deliveries

async function countRows(db: Connection, { name }: SqlDialect, kind: SegmentedKind, { from, to }: IdRange) {
  const { table, key } = rowsByKind[kind]
  const stays = kind === 'updates' ? sql` and outcome <> 'waiting'` : sql``
  const query = sql<{ rows: Integer }>`select count(*) as rows from ${sql.raw(name(table))}
    where ${sql.ref(key)} >= ${from} and ${sql.ref(key)} < ${to}${stays}`
  return integer((await query.execute(db)).rows[0]?.rows ?? 0)
}

async function* pages<Key>(db: Connection, kind: KindRows<Key>, range: IdRange) {
  let after: Key | null = null
  for (;;) {
    const page: Awaited<ReturnType<KindRows<Key>['read']>> = await kind.read(db, range, after, groupSize)
    if (page === null) return
    yield page.rows
    after = page.last
  }
}

/** Updates have one table: their ids are unique in all segments. Those that wait now stay, even if they are decided. */
async function updatesPart(engine: Engine, { updates: range }: Segment): Promise<HistoryPart> {
  const { dialect, read, transaction } = engine
  if (!dialect.types.isStoredInSequence)
    await engine.exclusively(() => whileBusy(() => engine.makeIndex(updatesNewest)))
  const waiting = await read
    .selectFrom('updates')
    .select('seq')
    .where('outcome', '=', sql.lit('waiting'))
    .where('seq', '>=', range.from)
    .where('seq', '<', range.to)
    .execute()
  const stay = waiting.map(({ seq }) => integer(seq))
  const staying = new Set(stay)
  return {
    async *rows() {
      for await (const rows of pages(read, rowsByKind.updates, range))
        yield rows.filter((row) => !staying.has(Number(row['seq'])))
    },
    remove: () => removeInGroups(transaction, dialect, { table: 'updates', key: 'seq', range, stay }),
  }
}

async function removeDeliveries(
  { dialect, transaction, read }: Engine,
  kind: 'attempts' | 'deliveries',
  { number, deliveries: range }: Segment,
): Promise<void> {
  if (kind === 'deliveries' && (await rowsByKind.attempts.read(read, range, null, 1)) !== null)
    throw new RangeError(`Segment ${number} has attempts; remove them before their deliveries.`)
  const { partitions } = dialect
  const { table, key } = rowsByKind[kind]
  if (partitions === null) return removeInGroups(transaction, dialect, { table, key, range, stay: [] })
  await whileBusy(() =>
    transaction(async (db) => {
      await dialect.waitAtMost(db, removalLockMs)
      await (kind === 'deliveries' ? partitions.drop(db, number) : partitions.empty(db, number))
    }),
  )
}

interface Groups {
  readonly table: string
  readonly key: string
  readonly range: IdRange
  readonly stay: readonly number[]
}

async function removeInGroups(
  transaction: Engine['transaction'],
  dialect: SqlDialect,
  { table, key, range, stay }: Groups,
): Promise<void> {
  const { name, oneOf } = dialect
  for (let found = groupSize; found === groupSize; ) {
    const removed = await transaction((db) =>
      run(db, dialect, (parameter) => {
        const left = stay.length === 0 ? '' : ` and not (${oneOf(key, 'integer', stay, parameter)})`
        return `delete from ${name(table)} where ${key} in (
            select distinct ${key} from ${name(table)}
            where ${key} >= ${parameter(range.from)} and ${key} < ${parameter(range.to)}${left}
            order by ${key} limit ${groupSize})
          returning ${key}`
      }),
    )
    found = Math.min(groupSize, removed.length)
  }
}

async function addPartitions({ dialect, transaction }: Engine, { number, deliveries, isClosed }: Segment) {
  if (!isClosed) throw new RangeError(`Segment ${number} is not closed: its deliveries were not removed.`)
  const { partitions } = dialect
  if (partitions === null) return
  const segment = { number, first: deliveries.from, end: deliveries.to }
  await whileBusy(() =>
    transaction(async (db) => {
      await dialect.waitAtMost(db, lockMs)
      await partitions.add(db, segment)
    }),
  )
}
