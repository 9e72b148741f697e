/** Opens the databases of the benches, and reads the processor time of their servers. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, parseMasterKey, type Service } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { startPostgres } from '../../packages/store-sql/test/postgres.js'

export type Engine = 'SQLite' | 'PostgreSQL'

/** The master key of every bench database. */
export const masterKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'

/** A connection for plain statements. */
export interface Connection {
  run(sql: string): Promise<unknown>
  all(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  close(): Promise<unknown>
}

export interface BenchDatabase {
  readonly engine: Engine
  /** A value for `PI_DATABASE_URL`. */
  readonly url: string
  /** The folder of a server's data; null: there is no server. */
  readonly serverData: string | null
  openStore(): Store
  connect(): Promise<Connection>
  /** Runs an operator's maintenance after a bulk load. */
  settle(): Promise<void>
  /** Stops the database, and removes it unless its folder was given. */
  end(): Promise<void>
}

/** Opens a database. @param keep - The folder of a database that stays; null: a temporary database. */
export async function openDatabase(engine: Engine, keep: string | null = null): Promise<BenchDatabase> {
  const folder = keep ?? (await mkdtemp(join(tmpdir(), 'bench-')))
  await mkdir(folder, { recursive: true })
  return engine === 'SQLite' ? openSqlite(folder, keep !== null) : openPostgres(folder, keep !== null)
}

function openSqlite(folder: string, isKept: boolean): BenchDatabase {
  const path = join(folder, 'bench.db')
  return {
    engine: 'SQLite',
    url: `sqlite:${path}`,
    serverData: null,
    openStore: () => createSqliteStore({ path }),
    async connect() {
      const database = new DatabaseSync(path)
      database.exec('pragma synchronous = off; pragma cache_size = -1000000; pragma foreign_keys = off')
      return {
        run: async (sql) => database.exec(sql),
        all: async (sql) => database.prepare(sql).all() as Record<string, unknown>[],
        close: async () => {
          database.exec('pragma wal_checkpoint(truncate)')
          database.close()
        },
      }
    },
    settle: async () => {},
    end: async () => (isKept ? undefined : rm(folder, { recursive: true, force: true })),
  }
}

async function openPostgres(folder: string, isKept: boolean): Promise<BenchDatabase> {
  const server = await startPostgres({ folder })
  const { connectionString } = server
  const connect = async (): Promise<Connection> => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    await client.query('set synchronous_commit = off; set search_path = payment_integration, public')
    return {
      run: (sql) => client.query(sql),
      all: async (sql) => (await client.query(sql)).rows,
      close: () => client.end(),
    }
  }
  return {
    engine: 'PostgreSQL',
    url: connectionString,
    serverData: join(folder, 'data'),
    openStore: () => createPostgresStore({ connectionString }),
    connect,
    async settle() {
      const connection = await connect()
      await connection.run('vacuum analyze')
      await connection.close()
    },
    end: () => (isKept ? server.halt() : server.remove()),
  }
}

/** The store on a database by its address, for a measured process. */
export function openStoreAt(url: string): Store {
  return url.startsWith('sqlite:')
    ? createSqliteStore({ path: url.slice('sqlite:'.length) })
    : createPostgresStore({ connectionString: url })
}

/** The service on a store, without running loops. It sends nothing unless it is given a sender. */
export function createServiceOn(store: Store, options: Partial<Parameters<typeof createService>[0]> = {}): Service {
  const sender = { post: () => Promise.reject(new Error('Nothing is sent here.')) }
  return createService({ store, sender, masterKey: parseMasterKey(masterKey), allowLoopbackHttp: true, ...options })
}

/** Processor time of this process and of the server with the data in a folder, in ms. Other work hardly changes it. */
export function readCpuMs(serverData: string | null): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + readServerCpuMs(serverData)
}

/** Processor time of a server with its processes, ended ones included, in ms. 0: no server. NaN: unknown. */
export function readServerCpuMs(serverData: string | null): number {
  if (serverData === null) return 0
  try {
    const [server = ''] = readFileSync(`${serverData}/postmaster.pid`, 'utf8').split('\n')
    const children = readdirSync(`/proc/${server}/task`).flatMap((thread) =>
      readFileSync(`/proc/${server}/task/${thread}/children`, 'utf8').trim().split(' '),
    )
    const stat = readFileSync(`/proc/${server}/stat`, 'utf8')
    // Fields cutime and cstime: ended children, in ticks of 10 ms.
    const [user = '', system = ''] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13)
    return [server, ...children].reduce((sum, pid) => sum + readProcessCpuMs(pid), (Number(user) + Number(system)) * 10)
  } catch {
    return Number.NaN
  }
}

/** Reads the first number: nanoseconds on a processor. 0 for a process that has ended. */
function readProcessCpuMs(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}
