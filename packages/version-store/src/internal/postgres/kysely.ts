/** The query builder Kysely, on any of its PostgreSQL dialects. @module */
import { type PostgresDriver, type Row, sealed } from './driver.js'
import { plain } from './statements.js'

interface Database {
  executeQuery(query: CompiledQuery): Promise<{ readonly rows: readonly Row[] }>
  transaction(): {
    setIsolationLevel(level: 'read committed'): {
      execute<Result>(work: (tx: Database) => Promise<Result>): Promise<Result>
    }
  }
}

/** Kysely's own form of SQL that is text already. */
interface CompiledQuery {
  readonly sql: string
  readonly parameters: readonly string[]
  readonly query: {
    readonly kind: 'RawNode'
    readonly sqlFragments: readonly string[]
    readonly parameters: readonly []
  }
  readonly queryId: { readonly queryId: string }
}

const savepoint = 'payment_version_effect'

/** Makes the driver. */
export function kyselyDriver(database: Database): PostgresDriver<Database> {
  const query: PostgresDriver<Database>['query'] = async (tx, { statement: { text: sql }, values: parameters }) => {
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
        .execute((tx) => sealed(query, tx, first, work)),
    async nested(tx, first, work) {
      const run = (text: string) => query(tx, { statement: plain(text), values: [] })
      await run(`SAVEPOINT ${savepoint}`)
      try {
        const { result } = await work(tx, await query(tx, first))
        await run(`RELEASE ${savepoint}`)
        return result
      } catch (error) {
        // Its failure never hides the error that led here.
        await run(`ROLLBACK TO ${savepoint}`).then(
          () => run(`RELEASE ${savepoint}`),
          () => {},
        )
        throw error
      }
    },
  }
}
