/** The rows of each kind of history: how they are read, and stored again. Source: docs/retention.md. @module */
import type { HistoryRow, SegmentedKind } from '@payment-integration/core/ports'
import type { BulkColumn, Connection } from '../engine.js'
import type { IdRange } from './segments.js'

/** A page of rows, and the key that the next one begins after. */
export interface RowPage<Key> {
  readonly rows: readonly HistoryRow[]
  readonly last: Key
}

/** One kind. `Key` orders its rows. */
export interface KindRows<Key = unknown> {
  readonly table: string
  /** The column that says to which segment a row belongs. */
  readonly key: string
  /** Rows of a range after a key, or from its beginning; null: there are none. */
  read(db: Connection, range: IdRange, after: Key | null, limit: number): Promise<RowPage<Key> | null>
  /** The first is the key. */
  readonly columns: readonly BulkColumn[]
  /** Further values of a row, for {@link owner}. */
  readonly compared: readonly BulkColumn[]
  /** A condition of row `v`: what it belongs to is there. */
  owner(name: (table: string) => string): string
  /** The values of all these columns. @throws TypeError For a row of another shape. */
  values(row: HistoryRow): readonly unknown[]
}

/** Reads the fields of a row of history. @throws TypeError For a value of another type. */
export const fields = {
  text: (row: HistoryRow, name: string) => field(row, name, 'string'),
  whole: (row: HistoryRow, name: string) => {
    const value = Number(row[name])
    if (typeof row[name] === 'boolean' || row[name] === null || !Number.isSafeInteger(value)) throw shapeError(name)
    return value
  },
  number: (row: HistoryRow, name: string) => field(row, name, 'number'),
  flag: (row: HistoryRow, name: string) => field(row, name, 'boolean'),
  optional: <T>(read: (row: HistoryRow, name: string) => T, row: HistoryRow, name: string): T | null =>
    row[name] === null ? null : read(row, name),
}

interface Primitives {
  string: string
  number: number
  boolean: boolean
}

function field<Type extends keyof Primitives>(row: HistoryRow, name: string, type: Type): Primitives[Type] {
  const value = row[name]
  if (typeof value !== type) throw shapeError(name)
  return value as Primitives[Type]
}

const shapeError = (name: string) => new TypeError(`A row of history has no valid ${name}; is it of another release?`)

/** The rows of every kind. */
export type RowsByKind = Readonly<Record<SegmentedKind, KindRows>>
