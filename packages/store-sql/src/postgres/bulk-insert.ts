/** Inserts many rows into PostgreSQL by one statement with an array per column. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CompiledQuery, type QueryResult } from 'kysely'
import type { BulkInsert, Connection, InsertedIds, SqlDialect } from '../engine.js'
import { PreparedQuery } from '../internal/prepared-query.js'
import { SentQuery } from '../internal/sent-query.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { columnSource } from './column-source.js'

/** Rows of one statement: a message of half a megabyte or so. */
const mostRows = 1_024

/** Inserts rows in their order. */
export async function insertAll(db: Connection, name: SqlDialect['name'], insert: BulkInsert): Promise<void> {
  await insertRows(db, name, insert, '')
}

/** Inserts rows that get ids. */
export async function insertNumbered(
  db: Connection,
  name: SqlDialect['name'],
  insert: BulkInsert,
  unlessThere?: string,
): Promise<InsertedIds> {
  const unless = unlessThere === undefined ? '' : ` on conflict (${unlessThere}) do nothing`
  const rows = await insertRows<{ id: Integer }>(db, name, insert, `${unless} returning id`)
  // PostgreSQL assigns the ids in the order of the rows.
  const ids = rows.map(({ id }) => integer(id)).sort((a, b) => a - b)
  const fresh = new Set(ids)
  return { ids: ids.length === insert.rows.length ? ids : null, isNew: (id) => fresh.has(id) }
}

async function insertRows<Row>(
  db: Connection,
  name: SqlDialect['name'],
  insert: BulkInsert,
  suffix: string,
): Promise<Row[]> {
  const answers: Row[] = []
  let running: Promise<QueryResult<Row>> | undefined
  const takeAnswer = async () => {
    for (const row of (await running)?.rows ?? []) answers.push(row)
  }
  for (let from = 0; from < insert.rows.length; from += mostRows) {
    // The database works on one statement while the next one is written.
    const text = statement(name, { ...insert, rows: insert.rows.slice(from, from + mostRows) }, suffix)
    await takeAnswer()
    running = db.executeQuery<Row>(insert.sends === true ? new SentQuery(text) : text)
    // Its error is reported to the reader of its rows; until then it must not end the process.
    running.catch(() => undefined)
    await nextTurn()
  }
  await takeAnswer()
  return answers
}

function statement(name: SqlDialect['name'], insert: BulkInsert, suffix: string): CompiledQuery {
  const { table, columns, rows, fixed = [] } = insert
  const names = [...columns, ...fixed].map((column) => column.name).join(', ')
  const { values, source, parameters } = columnSource(insert, rows)
  const parameter = (value: unknown) => `$${parameters.push(value)}`
  const all = [...values, ...fixed.map(({ value }) => value(parameter))].join(', ')
  const text = `insert into ${name(table)} (${names}) select ${all} from ${source}${suffix}`
  return insert.keepsText === true ? new PreparedQuery(text, parameters) : CompiledQuery.raw(text, parameters)
}
