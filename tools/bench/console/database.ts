/** Opens the console's databases: temporary, or kept in a folder between runs. @module */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, parseMasterKey, type Service, systemClock } from '@payment-integration/core'
import type { Clock, Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { startPostgres } from '../../../packages/store-sql/test/postgres.js'
import { masterKey } from '../read-api/dataset.js'
import {
  chainIds,
  integrationAt,
  integrationCount,
  postgresWords,
  type SqlWords,
  sqliteWords,
  versions,
} from './dataset.js'
import { fillOthers, fillStatements } from './fill-statements.js'

/** The two databases. */
export type Engine = 'SQLite' | 'PostgreSQL'

/** A filled database. */
export interface FilledDatabase {
  readonly engine: Engine
  /** A value for `PI_DATABASE_URL`. */
  readonly url: string
  openStore(): Store
  /** The folder of a server's data; null: there is no server. */
  readonly serverData: string | null
  /** Closes it; removes it unless it is kept. */
  end(): Promise<void>
}

/** What to fill. */
export interface FillOptions {
  readonly payments: number
  /** The folder of databases that stay; null: a temporary one. */
  readonly keep: string | null
  /** Whether to make the console's indexes. @default true */
  readonly isPrepared?: boolean
}

/** Payments of a transaction. */
const batch = 50_000

interface Server {
  readonly url: string
  readonly words: SqlWords
  openStore(): Store
  /** Opens a connection for plain statements. */
  connect(): Promise<{ run(sql: string): Promise<unknown>; close(): Promise<unknown> }>
  stop(): Promise<void>
}

/** Opens a database, and fills it unless a former run kept it. */
export async function openFilled(engine: Engine, options: FillOptions): Promise<FilledDatabase> {
  const { payments, keep, isPrepared = true } = options
  const name = `${engine.toLowerCase()}-${payments}${isPrepared ? '' : '-plain'}`
  const folder = keep === null ? await mkdtemp(join(tmpdir(), 'bench-console-')) : join(keep, name)
  await mkdir(folder, { recursive: true })
  const marker = join(folder, 'filled')
  const server = await (engine === 'SQLite' ? sqlite(folder) : postgres(folder))
  const end = async () => {
    await server.stop()
    if (keep === null) await rm(folder, { recursive: true, force: true })
  }
  try {
    if (!existsSync(marker)) {
      await fill(server, payments, isPrepared)
      await writeFile(marker, '')
    }
  } catch (error) {
    await end()
    throw error
  }
  const serverData = engine === 'SQLite' ? null : join(folder, 'data')
  return { engine, url: server.url, openStore: server.openStore, serverData, end }
}

/** The service on a store, without running loops. */
export function serviceOn(store: Store, clock?: Pick<Clock, 'now'>): Service {
  const sender = { post: () => Promise.reject(new Error('Nothing is sent here.')) }
  return createService({
    store,
    sender,
    masterKey: parseMasterKey(masterKey),
    allowLoopbackHttp: true,
    ...(clock === undefined ? {} : { clock: { ...systemClock, ...clock } }),
  })
}

async function fill(server: Server, payments: number, isPrepared: boolean): Promise<void> {
  const store = server.openStore()
  await store.migrate()
  const { integrations } = serviceOn(store)
  for (let n = 0; n < integrationCount; n += 1)
    await integrations.create({
      address: integrationAt(n),
      name: `Shop ${n}`,
      notificationUrl: `http://127.0.0.1:9/${n}`,
    })
  await store.close()
  const connection = await server.connect()
  for (let from = 1; from <= payments; from += batch) {
    const to = Math.min(payments, from + batch - 1)
    await connection.run(['begin', ...fillStatements(server.words, from, to, payments), 'commit'].join(';\n'))
  }
  await connection.run(['begin', ...fillOthers(server.words, chainIds), 'commit'].join(';\n'))
  const { schema } = server.words
  if (schema !== '')
    for (const [table, column] of [
      ['payments', 'id'],
      ['snapshots', 'id'],
      ['updates', 'seq'],
    ] as const)
      await connection.run(
        `select setval(pg_get_serial_sequence('${schema}${table}', '${column}'), ${payments * versions + 1})`,
      )
  const filled = server.openStore()
  if (isPrepared) await filled.console.prepare()
  await filled.close()
  // An operator's maintenance after a bulk load.
  if (schema !== '') await connection.run('vacuum analyze')
  await connection.close()
}

async function sqlite(folder: string): Promise<Server> {
  const path = join(folder, 'bench.db')
  return {
    url: `sqlite:${path}`,
    words: sqliteWords,
    openStore: () => createSqliteStore({ path }),
    async connect() {
      const database = new DatabaseSync(path)
      database.exec('pragma synchronous = off; pragma cache_size = -1000000; pragma foreign_keys = off')
      return {
        run: async (sql) => database.exec(sql),
        close: async () => {
          database.exec('pragma wal_checkpoint(truncate)')
          database.close()
        },
      }
    },
    stop: async () => {},
  }
}

async function postgres(folder: string): Promise<Server> {
  const server = await startPostgres({ folder })
  const { connectionString } = server
  return {
    url: connectionString,
    words: postgresWords,
    openStore: () => createPostgresStore({ connectionString }),
    async connect() {
      const client = new pg.Client({ connectionString })
      await client.connect()
      await client.query('set synchronous_commit = off')
      return { run: (sql) => client.query(sql), close: () => client.end() }
    },
    stop: () => server.halt(),
  }
}
