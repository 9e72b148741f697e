/** The SQLite drivers. @module */
import { StoreBusyError } from '@payment-integration/version-store'
import type { MirrorSqlite } from '../database.js'
import type { Driver, Row } from './driver.js'

/** How long a statement waits for a lock of another connection. */
export interface SqliteWait {
  readonly busyTimeoutMs: number
  readonly sleep: (ms: number) => Promise<void>
  /** Milliseconds; never goes back. */
  readonly monotonicNow: () => number
}

const retryEveryMs = 10

/** Makes the driver. A connection runs a statement without interruption. */
export function sqliteDriver(database: MirrorSqlite, { busyTimeoutMs, sleep, monotonicNow }: SqliteWait): Driver {
  const prepared = new Map<string, ReturnType<MirrorSqlite['prepare']>>()

  function prepare(sql: string) {
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    return statement
  }

  async function whileLocked<Result>(run: () => Result): Promise<Result> {
    const deadline = monotonicNow() + busyTimeoutMs
    for (;;) {
      try {
        return run()
      } catch (error) {
        if (!isBusy(error)) throw error
        if (monotonicNow() >= deadline) throw new StoreBusyError(busyTimeoutMs, 'lock', error)
        await sleep(retryEveryMs)
      }
    }
  }

  return {
    dialect: 'sqlite',
    query: (sql, values = []) => whileLocked(() => prepare(sql).all(...values) as Row[]),
    async create(statements) {
      for (const sql of statements) await whileLocked(() => database.exec(sql))
    },
  }
}

/** Each driver says it differently: by a number of SQLite (5), or by its name. */
function isBusy(error: unknown): boolean {
  // No `instanceof`: the error of a driver may come from another realm.
  const { code, errcode, message } = Object(error) as { code?: unknown; errcode?: unknown; message?: unknown }
  if (typeof errcode === 'number') return (errcode & 0xff) === 5
  return (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) || /database is locked/.test(String(message))
}
