/** A cell of the bench: a service on its own PostgreSQL server, which reads the feed. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { createFeedChain, createFeedConnection } from '@payment-integration/chain-feed'
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { Chain, Sender } from '@payment-integration/core/ports'
import pg from 'pg'
import { type Calls, counted } from '../../../packages/chain-feed/test/feed-world.js'
import { createServiceOn, openDatabase, readServerCpuMs } from '../databases.js'

export interface CellOptions {
  /** Addresses of the feed. */
  readonly servers: readonly string[]
  /** The chain on the cell's node. */
  readonly node: Chain
  readonly integrations: readonly string[]
  /** Height at which {@link openCell} begins to measure blocks. */
  readonly warmUp: number
}

/** Processor time at a height, in seconds. */
interface Spent {
  readonly block: number
  readonly service: number
  readonly database: number
}

export type Cell = Awaited<ReturnType<typeof openCell>>

/** Updates of each payment: with version 1 there are three deliveries. */
export const updateStates = ['pending', 'success'] as const
/** The most payments whose updates one call applies. */
const batch = 50

/** Opens a cell with its integrations. Nothing runs yet. */
export async function openCell({ servers, node, integrations, warmUp }: CellOptions) {
  const database = await openDatabase('PostgreSQL')
  const { url, serverData: folder } = database
  const store = database.openStore()
  await store.migrate()
  const connection = createFeedConnection({ servers })
  const { chain, calls } = counted(node)
  let delivered = 0
  const indexed: { readonly txHash: string; readonly integrationAddress: string | null }[] = []
  const sender: Sender = {
    async post() {
      delivered += 1
      return { kind: 'answer', status: 204, retryAfter: null, excerpt: null, latencyMs: 1 }
    },
  }
  let warmAt: Spent | null = null
  let readAt: Spent | null = null
  const readSpent = () => {
    const { user, system } = process.cpuUsage()
    return { service: (user + system) / 1e6, database: readServerCpuMs(folder) / 1_000 }
  }
  const service = createServiceOn(store, {
    sender,
    recording: 'own',
    onEvent(event) {
      if (event.type === 'payment.indexed') indexed.push(event)
      if (event.type !== 'chain.indexed') return
      if (warmAt === null && event.blockNumber >= warmUp) warmAt = { block: event.blockNumber, ...readSpent() }
      if (event.blockNumber === event.head) readAt = { block: event.blockNumber, ...readSpent() }
    },
    chains: [{ chain: createFeedChain({ chain, connection }), startBlock: 0 }],
    confirmations: { [node.chainId]: 40 },
  })
  for (const address of integrations)
    await service.integrations.create({ address, notificationUrl: 'http://127.0.0.1:9/' })
  const before = await readCounts(url)
  const control = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  let databaseMsAtStart = 0

  /** Sends the updates of indexed payments, as a processor does. */
  async function update(): Promise<void> {
    while (!control.signal.aborted) {
      const updates = indexed.splice(0, batch).flatMap(({ txHash, integrationAddress }) =>
        updateStates.map(
          (state): ProcessorUpdate => ({
            id: `${state}-${txHash}`,
            chainId: String(node.chainId),
            txHash,
            state,
            integrationAddress: integrationAddress ?? undefined,
          }),
        ),
      )
      if (updates.length === 0) await wait(5)
      else await service.applyUpdates(updates)
    }
  }
  return {
    start() {
      databaseMsAtStart = readServerCpuMs(folder)
      running = Promise.all([service.run(control.signal), update()])
    },
    isDone: async (head: number, deliveries: number) =>
      delivered >= deliveries && (await store.payments.checkpoint(node.chainId))?.blockNumber === head,
    /** Processor time of a block, in seconds, from the warm-up to the newest block. */
    measurePerBlock() {
      if (warmAt === null || readAt === null) throw new Error('The cell has not read every block.')
      const blocks = readAt.block - warmAt.block
      return {
        service: (readAt.service - warmAt.service) / blocks,
        database: (readAt.database - warmAt.database) / blocks,
      }
    },
    /**
     * `wal`: bytes since the cell was opened. `databaseSeconds`: processor time of its PostgreSQL server since `start`.
     * `calls`: calls to the node.
     */
    async figures() {
      const databaseSeconds = (readServerCpuMs(folder) - databaseMsAtStart) / 1_000
      const { payments, wal } = await readCounts(url)
      return { payments, wal: wal - before.wal, calls: getCalls(calls), delivered, databaseSeconds }
    },
    async remove() {
      control.abort()
      await running
      await connection.close()
      await store.close()
      await database.end()
    },
  }
}

/** Payments, and bytes of WAL since the server began. */
async function readCounts(connectionString: string): Promise<{ readonly payments: number; readonly wal: number }> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const { rows } = await client.query(
    `select (select count(*)::int from payment_integration.payments) as payments,
       pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal`,
  )
  await client.end()
  return rows[0]
}

const getCalls = ({ head, block, ranges }: Calls): number => head + block + ranges.length
