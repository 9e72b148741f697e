/** Runs other installed indexers on the same chain, PostgreSQL and events. @module */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { ReplayNode } from './chain.js'

export interface Peer {
  readonly name: string
  readonly command: readonly string[]
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
  /** Statements that create the peer's tables, if the peer does not. */
  readonly prepare?: string
  /** The table of payments that the peer fills. */
  readonly table: string
}

/** The longest run of a peer. Rates are steady, so a run that is stopped early shows the rate too. */
const maxSeconds = 600

const folder = fileURLToPath(new URL('./peers/', import.meta.url))
const ponder = { folder: 'ponder', table: 'peer.payments' }
const ponderCommand = [`${folder}node_modules/.bin/ponder`, 'start', '--schema', 'peer', '--port', '42069']

/** The peers, or none when they are not installed. */
export const peers: readonly Peer[] = existsSync(`${folder}node_modules`)
  ? [
      { ...ponder, name: 'ponder 0.16.10', command: ponderCommand },
      { ...ponder, name: 'ponder 0.16.10, limiter lifted', command: ponderCommand, env: { ENDPOINTS: '30' } },
      {
        name: 'squid 1.27.2',
        command: [process.execPath, 'main.js'],
        folder: 'squid',
        prepare: `create table payment (id text primary key, block_number int not null, time bigint not null, sender text not null,
          receiver text not null, token text not null, gross text not null, net text not null, memo text not null, integration text not null);
          create table outbox (id text primary key, body text not null)`,
        table: 'payment',
      },
    ]
  : []

/** Runs a peer until it has stored `payments` rows or its time is over; then fewer are stored. */
export async function runPeer(peer: Peer, chain: ReplayNode, databaseUrl: string, payments: number) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  if (peer.prepare !== undefined) await client.query(peer.prepare)
  const startedAt = performance.now()
  const [program = '', ...rest] = peer.command
  const child = spawn(program, rest, {
    cwd: `${folder}${peer.folder}`,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PI_DATABASE_URL: databaseUrl,
      DB_URL: databaseUrl,
      RPC_URL: chain.rpcUrl,
      ROUTER: chain.router.address,
      FROM: String(chain.firstBlock),
      TO: String(chain.head),
      ...peer.env,
    },
  })
  try {
    for (;;) {
      const seconds = (performance.now() - startedAt) / 1_000
      const stored = await countRows(client, peer.table)
      if (stored >= payments || (stored > 0 && seconds > maxSeconds)) return { seconds, stored }
      if (seconds > maxSeconds || child.exitCode !== null || child.signalCode !== null)
        throw new Error(
          `${peer.name} ended with code ${child.exitCode} after ${seconds.toFixed(0)} s, ${stored} stored.`,
        )
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  } finally {
    await kill(child)
    await client.end()
  }
}

async function countRows(client: pg.Client, table: string): Promise<number> {
  const answer = await client.query<{ n: string }>(`select count(*) as n from ${table}`).catch(() => null)
  return Number(answer?.rows[0]?.n ?? 0)
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
