/** A cell of the bench: a service on its own PostgreSQL server, which reads the feed. @module */
import { createFeedChain, createFeedConnection } from '@payment-integration/chain-feed'
import { createService, parseMasterKey } from '@payment-integration/core'
import type { Chain, Sender } from '@payment-integration/core/ports'
import pg from 'pg'
import { type Calls, counted } from '../../../packages/chain-feed/test/feed-world.js'
import { masterKey } from '../read-api/dataset.js'
import { openEmpty } from '../updates/open.js'
import { serverFigures } from '../updates/server-figures.js'

/** Options of a cell. */
export interface CellOptions {
  /** Addresses of the feed. */
  readonly servers: readonly string[]
  /** The chain on the cell's node. */
  readonly node: Chain
  readonly integrations: readonly string[]
}

/** Figures of a cell after a run. */
export interface CellFigures {
  readonly payments: number
  /** Bytes of WAL since the cell was opened. */
  readonly wal: number
  /** Connections of clients at the end of the run. */
  readonly connections: number
  /** Calls of the Chain port to the cell's node. */
  readonly calls: number
  readonly delivered: number
}

/** Opens a cell with its integrations. Nothing runs yet. */
export async function openCell({ servers, node, integrations }: CellOptions) {
  const opened = await openEmpty('PostgreSQL')
  const url = opened.url ?? ''
  const connection = createFeedConnection({ servers })
  const { chain, calls } = counted(node)
  let delivered = 0
  const sender: Sender = {
    async post() {
      delivered += 1
      return { kind: 'answer', status: 204, retryAfter: null, excerpt: null, latencyMs: 1 }
    },
  }
  const { store } = opened
  const service = createService({
    ...{ store, sender, masterKey: parseMasterKey(masterKey), allowLoopbackHttp: true },
    chains: [{ chain: createFeedChain({ chain, connection }), startBlock: 0 }],
    confirmations: { [node.chainId]: 40 },
  })
  for (const address of integrations)
    await service.integrations.create({ address, notificationUrl: 'http://127.0.0.1:9/' })
  const before = await serverFigures(url)
  const control = new AbortController()
  let running: Promise<void> = Promise.resolve()
  return {
    start() {
      running = service.run(control.signal)
    },
    isDone: async (head: number, deliveries: number) =>
      delivered >= deliveries && (await store.payments.checkpoint(node.chainId))?.blockNumber === head,
    async figures(): Promise<CellFigures> {
      const connections = await connectionsOf(url)
      const { payments, wal } = await serverFigures(url)
      return { payments, wal: wal - before.wal, connections, calls: callsOf(calls), delivered }
    },
    async remove() {
      control.abort()
      await running
      await connection.close()
      await opened.remove()
    },
  }
}

async function connectionsOf(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query(
    `select count(*)::int as count from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  await client.end()
  return rows[0].count
}

const callsOf = ({ head, block, ranges }: Calls): number => head + block + ranges.length
