/** Replaces the binding of SQLite in crash tests: the same classes, with probes in every transaction. @module */
import {
  loadSqlite as loadBinding,
  type SqliteConstructor,
  type SqliteStatement,
} from '../../../packages/store-sql/src/sqlite/sqlite-file.js'
import type { Point } from './probes.js'

let cross: (point: Point) => void = () => undefined

/** From now on reports each point of a transaction to `onPoint`. */
export function probeSqlite(onPoint: (point: Point) => void): void {
  cross = onPoint
}

/** Loads the class of the replaced module, with probes. */
export async function loadSqlite(): Promise<SqliteConstructor> {
  const Database = await loadBinding()
  return class extends Database {
    #inTransaction = false

    override exec(sql: string): void {
      if (sql === 'commit') cross('before commit')
      super.exec(sql)
      this.#inTransaction = sql.startsWith('begin') || (this.#inTransaction && sql !== 'commit' && sql !== 'rollback')
      if (sql.startsWith('begin')) cross('transaction begun')
      if (sql === 'commit') cross('after commit')
    }

    override prepare(sql: string): SqliteStatement {
      return addProbe(super.prepare(sql), () => this.#inTransaction && cross('statement'))
    }
  }
}

function addProbe(statement: SqliteStatement, onUse: () => void): SqliteStatement {
  return {
    all(...parameters) {
      onUse()
      return statement.all(...parameters)
    },
    run(...parameters) {
      onUse()
      return statement.run(...parameters)
    },
    ...(statement.setReturnArrays && { setReturnArrays: (on) => statement.setReturnArrays?.(on) }),
    ...(statement.columns && { columns: () => statement.columns?.() ?? [] }),
  }
}
