/** Reads a page. Source: docs/interface.md 4.1; the port's `list`. @module */
import type { PaymentReads, StoredPage } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { hexBytes, hexOf, keyBytes } from '../internal/hex.js'
import { prepare } from '../internal/prepare.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { exactPage, type PageShape, type PageValues, plainPage } from './page-queries.js'
import { type StoredRow, storedPayment } from './payment-row.js'

/**
 * The limits of statements. A page of another size reads more rows than it needs, so that there are few texts.
 */
const sizes = [11, 51, 101, 201]
const sizeFor = (rows: number) => sizes.find((size) => size >= rows) ?? 2 ** Math.ceil(Math.log2(rows))

type Shape = Omit<PageShape, 'bytes'>
type Row = StoredRow & { readonly beside: Integer | null }

/** Builds `list` on a connection that sees committed rows only. */
export function createReadPage(engine: Pick<Engine, 'read' | 'rows' | 'dialect'>): PaymentReads['list'] {
  const { read: db, dialect } = engine
  const bytes = sql.raw(dialect.types.bytes)
  const plain = statements((shape) =>
    prepare<PageValues, Row>(engine, (value) => plainPage(db, value, { ...shape, bytes })),
  )
  // The number of moves since a position decides between two statements.
  const exact = statements((shape) =>
    prepare<PageValues, Row>(engine, (value) => exactPage(db, value, { ...shape, bytes }), false),
  )

  return async (query) => {
    const limit = checkInteger(query.limit, 'limit', 1)
    const { integrationAddress, wallet, after } = query
    // One more row shows whether another page follows.
    const shape = { ofWallet: wallet !== undefined, behind: after !== undefined, size: sizeFor(limit + 1) }
    const values = {
      integration: keyBytes(integrationAddress),
      wallet: keyBytes(wallet ?? '0x'),
      blockTimestamp: after?.blockTimestamp ?? 0,
      chainId: after?.chainId ?? 0,
      txHash: hexBytes(after?.txHash ?? '0x'),
      asOf: after?.asOf ?? 0,
    }
    const rows = await plain(shape)(values)
    const [first] = rows
    const asOf = first === undefined ? undefined : integer(first.beside ?? 0)
    if (after === undefined) return page(rows, limit, asOf ?? 0, ownTime)
    // Without a row the count is unknown.
    if (asOf === after.asOf) return page(rows, limit, after.asOf, ownTime)
    return page(await exact(shape)(values), limit, after.asOf, timeBeside)
  }
}

const ownTime = (row: Row) => row.block_timestamp
const timeBeside = (row: Row) => row.beside ?? row.block_timestamp

function page(rows: readonly Row[], limit: number, asOf: number, timeOf: (row: Row) => Integer): StoredPage {
  const own = rows.slice(0, limit)
  const last = rows.length > limit ? own.at(-1) : undefined
  return {
    payments: own.map(storedPayment),
    next:
      last === undefined
        ? null
        : { blockTimestamp: integer(timeOf(last)), chainId: integer(last.chain_id), txHash: hexOf(last.tx_hash), asOf },
  }
}

/** Caches one statement per shape. */
function statements<Statement>(make: (shape: Shape) => Statement): (shape: Shape) => Statement {
  const made = new Map<string, Statement>()
  return (shape) => {
    const key = `${shape.ofWallet} ${shape.behind} ${shape.size}`
    const statement = made.get(key) ?? make(shape)
    made.set(key, statement)
    return statement
  }
}
