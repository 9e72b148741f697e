/** Builds and runs statements: handwritten, prepared, over many rows, or pipelined. @module */
import { createHash } from 'node:crypto'
import type { Compilable, QueryId, QueryResult, RawBuilder, RootOperationNode } from 'kysely'
import { CompiledQuery, sql } from 'kysely'
import type { BulkColumn, Connection, Engine, NamedQuery, Parameter, SqlDialect } from '../engine.js'
import { createRowView, memoize } from './values.js'

/** The base of the queries that a connection recognizes by their class. */
export class TextQuery implements CompiledQuery {
  readonly query: RootOperationNode
  readonly queryId: QueryId
  readonly sql: string
  readonly parameters: readonly unknown[]

  constructor(sql: string, parameters: readonly unknown[]) {
    const { query, queryId } = CompiledQuery.raw(sql)
    this.query = query
    this.queryId = queryId
    this.sql = sql
    this.parameters = parameters
  }
}

export class PreparedQuery extends TextQuery {
  get name(): string {
    return deriveName(this.sql).name
  }
}

/** Derives the name of a prepared statement from its text. */
const deriveName = memoize((sql) => ({ name: createHash('sha256').update(sql).digest('base64url') }))

/** Stands for a named value among the parameters of a prepared query. */
class ValuePlaceholder<Values> {
  readonly name: keyof Values
  constructor(name: keyof Values) {
    this.name = name
  }
}

/** Names a value that each run passes as a parameter. */
export type ValueOf<Values> = <Name extends keyof Values>(name: Name) => Values[Name]

/**
 * Returns a function that runs a query. The first run builds the text; `build` must not read the placeholder of a
 * value. Without `keepsPlan` each run is planned for its values.
 */
export function prepare<Values extends object, Row>(
  { rows }: Pick<Engine, 'rows'>,
  build: (value: ValueOf<Values>) => Compilable<Row>,
  keepsPlan = true,
): (values: Values) => Promise<Row[]> {
  let compiled: NamedQuery | undefined
  let view: ((values: readonly unknown[]) => object) | undefined
  return async (values) => {
    if (compiled === undefined) {
      const { sql, parameters } = build((name) => new ValuePlaceholder<Values>(name) as never).compile()
      compiled = { sql, parameters, name: keepsPlan ? deriveName(sql).name : undefined }
    }
    const { sql, parameters, name } = compiled
    const boundParameters = parameters.map((one) =>
      one instanceof ValuePlaceholder ? values[(one as ValuePlaceholder<Values>).name] : one,
    )
    const { columns, values: records } = await rows({ sql, parameters: boundParameters, name })
    if (records.length === 0) return []
    view ??= createRowView(columns)
    return records.map(view) as Row[]
  }
}

export type StatementText = (parameter: Parameter) => string

/** Compiles handwritten SQL: a query builder costs more than a small statement. */
export function compile<Row>({ placeholder }: Pick<SqlDialect, 'placeholder'>, write: StatementText) {
  const parameters: unknown[] = []
  const text = write((value) => placeholder(parameters.push(value)))
  return CompiledQuery.raw(text, parameters) as CompiledQuery<Row>
}

export async function run<Row>(db: Connection, write: StatementText): Promise<Row[]> {
  return (await db.executeQuery<Row>(compile<Row>(db.dialect, write))).rows
}

/**
 * Runs a statement that is repeated often. In a transaction with `searches`, PostgreSQL prepares it once, with one plan
 * for all values. So write a statement for which an index search is right with any values.
 */
export async function runPrepared<Row>(db: Connection, write: StatementText): Promise<Row[]> {
  const { sql, parameters } = compile(db.dialect, write)
  return (await db.executeQuery<Row>(new PreparedQuery(sql, parameters))).rows
}

/** Runs a statement, but returns before the answer if the connection supports it; see {@link SentQuery}. */
export async function sendPrepared<Row>(db: Connection, write: StatementText): Promise<SentResult<Row>> {
  const { sql, parameters } = compile(db.dialect, write)
  return db.executeQuery<Row>(new SentQuery(new PreparedQuery(sql, parameters)))
}

/** Makes a part of a built query from handwritten SQL. A value may be used several times. */
export function createFragment<T>(write: StatementText): RawBuilder<T> {
  const values: unknown[] = []
  const pieces = write((value) => `\u0000${values.push(value) - 1}\u0000`).split('\u0000')
  // Every second piece is the index of a value.
  const parts = pieces.map((piece, index) => (index % 2 === 0 ? sql.raw(piece) : sql`${values[Number(piece)]}`))
  return sql<T>`${sql.join(parts, sql``)}`
}

/**
 * A statement whose answer need not arrive before the next statement is sent. If the connection supports it, the result
 * has no rows, and `later` resolves to them. A failure also fails later statements of the transaction and its commit.
 */
export class SentQuery extends TextQuery {
  readonly #statement: CompiledQuery

  constructor(statement: CompiledQuery) {
    super(statement.sql, statement.parameters)
    this.#statement = statement
  }

  get name(): string | undefined {
    return this.#statement instanceof PreparedQuery ? this.#statement.name : undefined
  }
}

/** The `streamQuery` of every connection: it always rejects. */
// biome-ignore lint/correctness/useYield: the store does not stream
export async function* rejectStream(): AsyncIterableIterator<never> {
  throw new TypeError('Streaming is not supported.')
}

export interface SentResult<Row> extends QueryResult<Row> {
  readonly later?: Promise<Row[]>
}

export async function awaitRows<Row>(result: SentResult<Row>): Promise<Row[]> {
  return result.later ?? result.rows
}

/** The columns of {@link runBulk}, in order. */
export const listColumns = (types: Readonly<Record<string, BulkColumn['type']>>): BulkColumn[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }))

/** Compiles a statement over rows, which are its table `v`. */
export function compileBulk(
  { bulkSource, placeholder }: Pick<SqlDialect, 'bulkSource' | 'placeholder'>,
  columns: readonly BulkColumn[],
  rows: readonly (readonly unknown[])[],
  statement: StatementText,
) {
  const { sql: source, parameters } = bulkSource(columns, rows)
  const names = columns.map(({ name }) => name).join(', ')
  const text = statement((value) => placeholder(parameters.push(value)))
  return { sql: `with v (${names}) as (${source}) ${text}`, parameters }
}

/**
 * Runs a statement over many rows, its table `v`, in as few parts as the database allows.
 * @param isPrepared - False: the statement is planned each time, for its rows.
 */
export async function runBulk<Row>(
  db: Connection,
  columns: readonly BulkColumn[],
  rows: readonly (readonly unknown[])[],
  statement: StatementText,
  isPrepared = true,
): Promise<Row[]> {
  const answers: Row[] = []
  for (let from = 0; from < rows.length; ) {
    const part = rows.slice(from, from + db.dialect.bulkRows(rows.length - from, columns.length))
    from += part.length
    const { sql, parameters } = compileBulk(db.dialect, columns, part, statement)
    const query = isPrepared ? new PreparedQuery(sql, parameters) : CompiledQuery.raw(sql, parameters)
    for (const row of (await db.executeQuery<Row>(query)).rows) answers.push(row)
  }
  return answers
}
