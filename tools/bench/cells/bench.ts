/** Measures cells on one feed: processor time, WAL, connections, and calls to nodes. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { createFeedConnection, createFeedPublisher, type FeedConnection } from '@payment-integration/chain-feed'
import { systemClock } from '@payment-integration/core'
import type { Chain } from '@payment-integration/core/ports'
import { parseBlock } from '../../../packages/chain-feed/src/feed-message.js'
import { createFeedStream } from '../../../packages/chain-feed/src/feed-stream.js'
import { natsMissing, startNats } from '../../../packages/chain-feed/test/nats-server.js'
import { createDraws } from '../../../packages/testing/src/builders.js'
import { buildPayment, createTwinChain } from '../../../packages/testing/src/twin/chain.js'
import { type Cell as Figure, formatCell, round, type Table } from '../report.js'
import { type Cell, openCell, updateStates } from './cell.js'

export interface CellsEffort {
  readonly blocks: number
  /** Payments of each block. */
  readonly perBlock: number
}

/** A layout: the number of cells, and whether their integrations are those of the payments. */
interface Layout {
  readonly name: string
  readonly cells: number
  readonly isOwner: boolean
}

const layouts: readonly Layout[] = [
  { name: 'one cell with all integrations', cells: 1, isOwner: true },
  { name: 'three cells with a third each', cells: 3, isOwner: true },
  { name: 'one cell with none of them', cells: 1, isOwner: false },
]

/** A cell without integrations reads this many times the payments: it skips each, so the cost of one is small. */
const foreignFactor = 2

const chainId = 137
/** Divisible by three, so that each of three cells has the same share. */
const integrations = Array.from({ length: 12 }, (_, n) => `0x${(n + 10).toString(16).padStart(2, '0').repeat(20)}`)

export async function benchCells(effort: CellsEffort): Promise<Table[]> {
  if (natsMissing !== null) throw new Error(natsMissing)
  const rows: Figure[][] = []
  for (const layout of layouts) {
    const nats = await startNats()
    const connection = createFeedConnection({ servers: nats.urls })
    try {
      const perBlock = effort.perBlock * (layout.isOwner ? 1 : foreignFactor)
      const node = await publish(connection, { ...effort, perBlock })
      rows.push(await run(layout, { ...effort, perBlock }, nats.urls, node))
    } finally {
      await connection.close()
      await nats.remove()
    }
  }
  const { blocks, perBlock } = effort
  return [
    {
      title: 'Cells on one feed, PostgreSQL',
      columns: [
        '',
        'processor time of a cell for each payment of the chain, µs',
        'of its process',
        'of its database',
        'stored by a cell',
        'delivered by a cell',
        'WAL of a cell for each payment of the chain, bytes',
        'calls of a cell to its node',
      ],
      rows,
      notes: [
        `${formatCell(blocks * perBlock)} payments in ${formatCell(blocks)} blocks, each with ${updateStates.length} updates and ${updateStates.length + 1} deliveries; ${foreignFactor} times as many where no cell has their integrations. All cells run in one process, each on a PostgreSQL server of its own. The sender answers at once and posts nothing.`,
      ],
    },
  ]
}

// Publishes a chain, and resolves a node with its blocks once they are in the feed. The node does not keep the
// payments, which would burden the cells' garbage collection.
async function publish(connection: FeedConnection, { blocks, perBlock }: CellsEffort): Promise<Chain> {
  const draws = createDraws(1)
  const twin = createTwinChain(chainId, { clock: Date, newHash: () => draws.hex(32), stepMs: 0 })
  for (let block = 0; block < blocks; block += 1)
    twin.mine(
      Array.from({ length: perBlock }, (_, n) => {
        const integrationAddress = integrations[(block * perBlock + n) % integrations.length] ?? null
        return buildPayment({ chainId, integrationAddress }, draws)
      }),
    )
  const limits = { startDepth: blocks + 1, replicas: 1, maxBytes: 1_000_000_000, pollMs: 3_600_000 }
  const publisher = createFeedPublisher({ chain: twin, connection, ...limits })
  const stop = new AbortController()
  const running = publisher.run(stop.signal)
  const stream = createFeedStream(connection, chainId, systemClock)
  await waitUntil(async () => {
    const newest = await stream.last().catch(() => null)
    return newest !== null && parseBlock(chainId, newest.data).block.number === twin.height()
  })
  stop.abort()
  await running
  const newest = await twin.head()
  const twinBlocks = await Promise.all(Array.from({ length: newest.number + 1 }, (_, n) => twin.block(n)))
  const { routers } = twin
  return {
    chainId,
    routers,
    nodes: () => [],
    watch: async () => undefined,
    block: async (n: number) => twinBlocks[n] ?? null,
    head: async () => newest,
    ranges() {
      throw new Error('The cells read the feed alone.')
    },
    transactionFate: async () => ({ fate: 'unknown', blockNumber: null }),
  }
}

async function run(
  { name, cells: count, isOwner }: Layout,
  { blocks, perBlock }: CellsEffort,
  servers: readonly string[],
  node: Chain,
): Promise<Figure[]> {
  const share = (cell: number) => (isOwner ? integrations.filter((_, n) => n % count === cell) : [])
  const cells: Cell[] = []
  try {
    for (let cell = 0; cell < count; cell += 1)
      cells.push(await openCell({ servers, node, integrations: share(cell), warmUp: Math.floor(blocks / 3) }))
    const height = (await node.head()).number
    globalThis.gc?.()
    const before = process.cpuUsage()
    for (const cell of cells) cell.start()
    const deliveries = isOwner ? Math.floor((blocks * perBlock) / count) * (updateStates.length + 1) : 0
    await Promise.all(cells.map((cell) => waitUntil(() => cell.isDone(height, deliveries))))
    const { user, system } = process.cpuUsage(before)
    const figures = await Promise.all(cells.map((cell) => cell.figures()))
    const total = blocks * perBlock
    const mean = (of: (figure: (typeof figures)[number]) => number) =>
      figures.reduce((sum, figure) => sum + of(figure), 0) / count
    // A cell without payments of its own is done in a moment, so its start would take most of the measured time.
    const [foreignCost] = isOwner ? [] : cells.map((cell) => cell.measurePerBlock())
    const service = foreignCost === undefined ? (user + system) / count / total : (foreignCost.service * 1e6) / perBlock
    const database =
      foreignCost === undefined
        ? (mean(({ databaseSeconds }) => databaseSeconds) * 1e6) / total
        : (foreignCost.database * 1e6) / perBlock
    const columns = [
      service + database,
      service,
      database,
      mean(({ payments }) => payments),
      mean(({ delivered }) => delivered),
      mean(({ wal }) => wal / total),
      mean(({ calls }) => calls),
    ]
    return [name, ...columns.map((value) => round(value))]
  } finally {
    for (const cell of cells) await cell.remove()
  }
}

async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(100)
}
