/** Inserts and reads many rows of PostgreSQL at once, as arrays and text. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CompiledQuery, type QueryResult } from 'kysely'
import pg from 'pg'
import type { BulkColumn, BulkInsert, Connection, InsertedIds, SqlDialect } from '../engine.js'
import { PreparedQuery, SentQuery } from '../internal/statements.js'
import { parseHexDigits, type RawRows, toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'

/** Text that needs no quotes in an array: hashes, addresses, digits. */
const plain = /^[0-9][0-9a-fx]*$/

/** `0x` text as a `bytea` literal; null stays null. */
const formatBytes = (value: unknown): string | null => (value === null ? null : `\\x${parseHexDigits(String(value))}`)

/** Formats an array literal. `pg` does so too, but its search for backslashes and quotes costs more than the insert. */
export function formatArray(values: readonly unknown[], type?: BulkColumn['type']): string {
  // Only the backslash of `\x` needs an escape.
  if (type === 'hex')
    return `{${values.map((value) => (value === null ? 'NULL' : `"\\${formatBytes(value)}"`)).join(',')}}`
  // The last text is cached, because symbols and prices repeat.
  let lastText: string | undefined
  let lastQuoted = ''
  let text = '{'
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ','
    if (value === null) text += 'NULL'
    else if (typeof value === 'number') text += value
    else {
      const valueText = String(value)
      if (plain.test(valueText)) text += valueText
      else {
        if (valueText !== lastText) {
          lastText = valueText
          lastQuoted = `"${valueText.replace(/[\\"]/g, '\\$&')}"`
        }
        text += lastQuoted
      }
    }
  }
  return `${text}}`
}

export const columnTypes = { integer: 'bigint', real: 'float8', text: 'text', hex: 'bytea', bytes: 'bytea' } as const

/**
 * Formats rows by column. Returns an SQL expression per column, and a table expression of the rows in their order. A
 * column with the same value in all rows is a single value, unless the text must not depend on the rows. A column of
 * bytes is one parameter, with the offset and the length of each value.
 */
export function formatColumns(
  { columns, isPreparable = false }: Pick<BulkInsert, 'columns' | 'isPreparable'>,
  rows: BulkInsert['rows'],
) {
  const parameters: unknown[] = []
  const arrays: string[] = []
  const parameter = (value: unknown) => `$${parameters.push(value)}`
  const addArray = (type: BulkColumn['type'], column: readonly unknown[]) => {
    arrays.push(`${parameter(formatArray(column, type))}::${columnTypes[type]}[]`)
    return `v.c${arrays.length}`
  }
  const values = columns.map(({ type }, index) => {
    const column = rows.map((row) => row[index])
    if (type === 'bytes') {
      const bodies = column as readonly Uint8Array[]
      let end = 1
      const starts = bodies.map(({ length }) => {
        end += length
        return end - length
      })
      const all = parameter(Buffer.concat(bodies))
      const start = addArray('integer', starts)
      const lengths = bodies.map((body) => body.length)
      const length = addArray('integer', lengths)
      return `substring(${all}::bytea from ${start}::int for ${length}::int)`
    }
    // The first column is always an array: it determines the number of rows.
    if (index > 0 && !isPreparable && column.every((value) => value === column[0]))
      return `${parameter(type === 'hex' ? formatBytes(column[0]) : column[0])}::${columnTypes[type]}`
    return addArray(type, column)
  })
  const names = arrays.map((_, index) => `c${index + 1}`).join(', ')
  return { values, source: `unnest(${arrays.join(', ')}) as v (${names})`, parameters }
}

const backslash = 0x5c
const zero = 0x30

/**
 * Parses PostgreSQL's escape format of bytes: ASCII except NUL is unchanged, a backslash is doubled, any other
 * byte is `\nnn` in octal digits. Most bodies are ASCII, and so half as long as in hex.
 */
export function parseEscapedBytes(text: string): Uint8Array {
  const first = text.indexOf('\\')
  if (first === -1) return Buffer.from(text, 'latin1')
  const bytes = Buffer.allocUnsafe(text.length)
  let length = bytes.write(text.slice(0, first), 'latin1')
  let index = first
  while (index < text.length) {
    const code = text.charCodeAt(index)
    if (code !== backslash) {
      bytes[length] = code
      index += 1
    } else if (text.charCodeAt(index + 1) === backslash) {
      bytes[length] = backslash
      index += 2
    } else {
      bytes[length] = parseOctal(text, index + 1)
      index += 4
    }
    length += 1
  }
  return bytes.subarray(0, length)
}

/** A function of its own, because a closure in the loop would allocate for every character. */
function parseOctal(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 64 + (text.charCodeAt(at + 1) - zero) * 8 + text.charCodeAt(at + 2) - zero
}

/**
 * A query whose rows are arrays of text. It skips the column parsers and row template of `pg`, which cost more than a
 * look-up by hash. Only for clients of this package's own `pg`: another version may call queries differently.
 */
class TextRowsQuery extends pg.Query {
  #columns: string[] = []
  readonly #values: (string | null)[][] = []

  static answer(query: TextRowsQuery): RawRows {
    return { columns: query.#columns, values: query.#values }
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly name: string }[] }): void {
    this.#columns = fields.map(({ name }) => name)
  }

  handleDataRow({ fields }: { readonly fields: (string | null)[] }): void {
    this.#values.push(fields)
  }
}

/** Sends a query, and calls back once with the error or the rows. */
export function queryTextRows(
  client: pg.ClientBase,
  query: { readonly text: string; readonly values: unknown[]; readonly name?: string },
  done: (error: Error | null | undefined, rows: RawRows) => void,
): void {
  const sent: TextRowsQuery = new TextRowsQuery(query, (error) => done(error, TextRowsQuery.answer(sent)))
  client.query(sent)
}

/** Rows per statement: about half a megabyte. */
const maxRows = 1_024

export async function insertNumbered(db: Connection, insert: BulkInsert, uniqueColumns?: string): Promise<InsertedIds> {
  const unless = uniqueColumns === undefined ? '' : ` on conflict (${uniqueColumns}) do nothing`
  const rows = await insertRows<{ id: Integer }>(db, insert, `${unless} returning id`)
  // PostgreSQL assigns the ids in the order of the rows.
  const ids = rows.map(({ id }) => toNumber(id)).sort((a, b) => a - b)
  const newIds = new Set(ids)
  return { ids: ids.length === insert.rows.length ? ids : null, isNew: (id) => newIds.has(id) }
}

export async function insertRows<Row>(db: Connection, insert: BulkInsert, suffix: string): Promise<Row[]> {
  const answers: Row[] = []
  let running: Promise<QueryResult<Row>> | undefined
  const takeAnswer = async () => {
    for (const row of (await running)?.rows ?? []) answers.push(row)
  }
  for (let from = 0; from < insert.rows.length; from += maxRows) {
    // The database executes one statement while the next one is built.
    const query = buildInsert(db.dialect, { ...insert, rows: insert.rows.slice(from, from + maxRows) }, suffix)
    await takeAnswer()
    running = db.executeQuery<Row>(insert.isPipelined === true ? new SentQuery(query) : query)
    // The reader of the rows gets the error; until then the error must not end the process.
    running.catch(() => undefined)
    await nextTurn()
  }
  await takeAnswer()
  return answers
}

function buildInsert({ name }: SqlDialect, insert: BulkInsert, suffix: string): CompiledQuery {
  const { table, columns, rows, fixed = [] } = insert
  const names = [...columns, ...fixed].map((column) => column.name).join(', ')
  const { values, source, parameters } = formatColumns(insert, rows)
  const parameter = (value: unknown) => `$${parameters.push(value)}`
  const all = [...values, ...fixed.map(({ value }) => value(parameter))].join(', ')
  const text = `insert into ${name(table)} (${names}) select ${all} from ${source}${suffix}`
  return insert.isPreparable === true ? new PreparedQuery(text, parameters) : CompiledQuery.raw(text, parameters)
}
