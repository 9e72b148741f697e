/** The rows of each kind of history: how they are read, and stored again. Source: docs/retention.md. @module */
import type { HistoryRows, SegmentedKind } from '@payment-integration/core/ports'
import type { BulkColumn, Connection } from '../engine.js'
import type { IdRange } from './segments.js'

/** The key of a row, whose first number says to which segment the row belongs. */
export type RowKey = readonly [number, number?]

/** One kind. */
export interface KindRows<Kind extends SegmentedKind> {
  readonly table: string
  /** The column of the first number of the key. */
  readonly key: string
  /** Rows of a range after a key, or from its beginning, and the last one's key; null: there are none. */
  read(
    db: Connection,
    range: IdRange,
    after: RowKey | null,
    limit: number,
  ): Promise<{ readonly rows: readonly HistoryRows[Kind][]; readonly last: RowKey } | null>
  /** The first is the key. */
  readonly columns: readonly BulkColumn[]
  /** Further values of a row, for {@link owner}. */
  readonly compared: readonly BulkColumn[]
  /** A condition of row `v`: what it belongs to is there. */
  owner(name: (table: string) => string): string
  /** The values of all these columns. */
  values(row: HistoryRows[Kind]): readonly unknown[]
}

/** The rows of every kind. */
export type RowsByKind = { readonly [Kind in SegmentedKind]: KindRows<Kind> }
