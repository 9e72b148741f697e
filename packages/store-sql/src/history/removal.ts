/** Removes ended rows. Source: docs/retention.md. @module */
import type { Transaction } from 'kysely'
import type { Engine, SqlDialect } from '../engine.js'
import { run } from '../internal/statement.js'
import { whileBusy } from '../internal/while-busy.js'
import type { Tables } from '../schema/tables.js'
import { rowsByKind } from './rows.js'
import type { IdRange, Segment } from './segments.js'

/** Rows of one transaction. */
const groupSize = 1_000
/** All claims queue behind the wait for a segment's lock, which a dump may have for hours. */
const removalLockMs = 100

/** Removes the deliveries of a segment, or their attempts, which go first. */
export async function removeDeliveries(
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

/** Rows to remove in groups, each in a transaction. */
export interface Groups {
  readonly table: string
  readonly key: string
  readonly range: IdRange
  readonly stay: readonly number[]
  /** The column of the removed rows that `onRemoved` gets. @default the key */
  readonly returning?: string
  /** Called in the transaction that removed rows. */
  readonly onRemoved?: ((db: Transaction<Tables>, values: readonly string[]) => Promise<void>) | undefined
}

/** Removes them. */
export async function removeInGroups(
  transaction: Engine['transaction'],
  dialect: SqlDialect,
  { table, key, range, stay, returning = key, onRemoved }: Groups,
): Promise<void> {
  const { name, oneOf } = dialect
  for (let found = groupSize; found === groupSize; ) {
    const removed = await transaction(async (db) => {
      const rows = await run<{ value: string }>(db, dialect, (parameter) => {
        const left = stay.length === 0 ? '' : ` and not (${oneOf(key, 'integer', stay, parameter)})`
        return `delete from ${name(table)} where ${key} in (
            select distinct ${key} from ${name(table)}
            where ${key} >= ${parameter(range.from)} and ${key} < ${parameter(range.to)}${left}
            order by ${key} limit ${groupSize})
          returning ${returning} as value`
      })
      await onRemoved?.(
        db,
        rows.map(({ value }) => value),
      )
      return rows
    })
    found = Math.min(groupSize, removed.length)
  }
}
