/** Chooses the driver by the methods of the database. postgres.js, Kysely and Drizzle begin and commit. @module */
import type { DrizzleSql } from '../../postgres-database.js'
import { type PostgresDriver, plainStatement, type Row, withCommitCheck, workAtSavepoint } from './driver.js'
import { createPgDriver } from './pg.js'

type Tag = (pieces: TemplateStringsArray, ...values: readonly string[]) => PromiseLike<readonly Row[]>

interface Sql extends Tag {
  begin<Result>(options: string, work: (tx: Transaction) => Promise<Result>): Promise<Result>
}

interface Transaction extends Tag {
  savepoint<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result>
}

function createPostgresJsDriver(sql: Sql): PostgresDriver<Transaction> {
  const query: PostgresDriver<Transaction>['query'] = async (tx, { statement, values }) =>
    (tx ?? sql)(statement.pieces, ...values)
  return {
    // postgres.js 3.4 continues a broken transaction on a new connection: porsager/postgres 1155, 1215.
    survivesIdleTimeout: false,
    query,
    transaction: (first, work) => sql.begin('isolation level read committed', withCommitCheck(query, first, work)),
    nested: (outer, first, work) => outer.savepoint(withCommitCheck(query, first, work)),
  }
}

interface Drizzle {
  execute(query: unknown): PromiseLike<readonly Row[] | { readonly rows: readonly Row[] }>
  transaction<Result>(
    work: (tx: Drizzle) => Promise<Result>,
    config?: { readonly isolationLevel: 'read committed' },
  ): Promise<Result>
}

/** Makes the driver. Each driver below Drizzle gives rows in its own way. */
function createDrizzleDriver(database: Drizzle, sql: DrizzleSql): PostgresDriver<Drizzle> {
  const query: PostgresDriver<Drizzle>['query'] = async (tx, { statement, values }) => {
    const result = await (tx ?? database).execute(sql(statement.pieces, ...values))
    return 'rows' in result ? result.rows : result
  }
  return {
    survivesIdleTimeout: false,
    query,
    transaction: (first, work) =>
      database.transaction(withCommitCheck(query, first, work), { isolationLevel: 'read committed' }),
    nested: (outer, first, work) => outer.transaction(withCommitCheck(query, first, work)),
  }
}

interface Kysely {
  /** Kysely's `CompiledQuery`. */
  executeQuery(query: object): Promise<{ readonly rows: readonly Row[] }>
  transaction(): {
    setIsolationLevel(level: 'read committed'): {
      execute<Result>(work: (tx: Kysely) => Promise<Result>): Promise<Result>
    }
  }
}

function createKyselyDriver(database: Kysely): PostgresDriver<Kysely> {
  const query: PostgresDriver<Kysely>['query'] = async (tx, { statement: { text: sql }, values: parameters }) => {
    const { rows } = await (tx ?? database).executeQuery({
      sql,
      parameters,
      query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
      queryId: { queryId: 'payment-version' },
    })
    return rows
  }
  return {
    survivesIdleTimeout: false,
    query,
    transaction: (first, work) =>
      database
        .transaction()
        .setIsolationLevel('read committed')
        .execute(withCommitCheck(query, first, work)),
    nested: (tx, first, work) =>
      workAtSavepoint(
        (sql) => query(tx, plainStatement(sql)),
        async () => work(tx, await query(tx, first)),
      ),
  }
}

/** @throws {TypeError} When the database has the shape of no driver, or `sql` is missing for Drizzle. */
export function chooseDriver(database: unknown, sql: DrizzleSql | undefined, prepare: boolean): PostgresDriver<object> {
  const given = (database ?? {}) as Readonly<Record<string, unknown>>
  const has = (...names: string[]) => names.every((name) => typeof given[name] === 'function')
  const create = <Driver>(make: (given: never) => Driver) => make(given as never) as unknown as PostgresDriver<object>

  if (has('begin', 'unsafe')) return create(createPostgresJsDriver)
  if (has('executeQuery', 'transaction')) return create(createKyselyDriver)
  if (has('execute', 'transaction')) {
    if (typeof sql !== 'function')
      throw new TypeError('sql is missing; pass the sql of drizzle-orm beside the database.')
    return create((db: never) => createDrizzleDriver(db, sql))
  }
  if (has('connect', 'query')) return create((pg: never) => createPgDriver(pg, prepare))
  throw new TypeError('database is none of: a Pool or Client of pg, postgres(), a Kysely, a drizzle(); pass one.')
}
