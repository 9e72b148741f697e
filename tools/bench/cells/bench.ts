/** Measures cells on one feed: payments a second, WAL, connections, and calls to nodes. @module */
import { loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { createFeedConnection, createFeedPublisher } from '@payment-integration/chain-feed'
import { parseBlock } from '../../../packages/chain-feed/src/feed-message.js'
import { createFeedStream } from '../../../packages/chain-feed/src/feed-stream.js'
import { counted } from '../../../packages/chain-feed/test/feed-world.js'
import { natsMissing, startNats } from '../../../packages/chain-feed/test/nats-server.js'
import { createDraws } from '../../../packages/testing/src/builders/draws.js'
import { createTwinChain } from '../../../packages/testing/src/twin/chain.js'
import { paymentOf } from '../../../packages/testing/src/twin/payment-input.js'
import { type CellFigures, openCell } from './cell.js'

/** The size of a run. */
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
  { name: 'one cell with none of them', cells: 1, isOwner: false },
  { name: 'three cells with a third each', cells: 3, isOwner: true },
]

const chainId = 137
/** Divisible by three, so that each of three cells has the same share. */
const integrations = Array.from({ length: 12 }, (_, n) => `0x${(n + 10).toString(16).padStart(2, '0').repeat(20)}`)

/** Runs each layout on the blocks of one feed and returns Markdown. */
export async function benchCells(effort: CellsEffort): Promise<string> {
  if (natsMissing !== null) return `### Cells\n\nSkipped: ${natsMissing}.\n`
  const { blocks, perBlock } = effort
  const nats = await startNats()
  const connection = createFeedConnection({ servers: nats.urls })
  try {
    const draws = createDraws(1)
    const twin = createTwinChain(chainId, { now: Date.now, newHash: () => draws.hex(32), stepMs: 0 })
    for (let block = 0; block < blocks; block += 1)
      twin.mine(
        Array.from({ length: perBlock }, (_, n) => {
          const integrationAddress = integrations[(block * perBlock + n) % integrations.length] ?? null
          return paymentOf({ chainId, integrationAddress }, draws)
        }),
      )
    const source = counted(twin)
    const publisher = createFeedPublisher({
      ...{ chain: source.chain, connection, startDepth: blocks + 1, replicas: 1, maxBytes: 1_000_000_000 },
      pollMs: 3_600_000,
    })
    const stop = new AbortController()
    const running = publisher.run(stop.signal)
    const stream = createFeedStream(connection, chainId)
    await until(async () => {
      const newest = await stream.last().catch(() => null)
      return newest !== null && parseBlock(chainId, newest.data).block.number === twin.height()
    })
    const rows: string[] = []
    for (const layout of layouts) rows.push(await run(layout, effort, nats.urls, twin))
    stop.abort()
    await running
    return [
      '### Cells on one feed, PostgreSQL',
      '',
      `${(blocks * perBlock).toLocaleString('en')} payments in ${blocks.toLocaleString('en')} blocks; load ${loadavg()[0]?.toFixed(1)}.`,
      '',
      '| | payments/s of the chain | stored by a cell | delivered by a cell | WAL of a cell for each payment of the chain, bytes | connections of a cell | calls of a cell to its node |',
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
      ...rows,
      '',
    ].join('\n')
  } finally {
    await connection.close()
    await nats.remove()
  }
}

async function run(
  { name, cells: count, isOwner }: Layout,
  { blocks, perBlock }: CellsEffort,
  servers: readonly string[],
  node: ReturnType<typeof createTwinChain>,
): Promise<string> {
  const total = blocks * perBlock
  const share = (cell: number) => (isOwner ? integrations.filter((_, n) => n % count === cell) : [])
  const cells: Awaited<ReturnType<typeof openCell>>[] = []
  try {
    for (let cell = 0; cell < count; cell += 1) cells.push(await openCell({ servers, node, integrations: share(cell) }))
    const startedAt = performance.now()
    for (const cell of cells) cell.start()
    const deliveries = isOwner ? Math.floor(total / count) : 0
    await Promise.all(cells.map((cell) => until(() => cell.isDone(node.height(), deliveries))))
    const seconds = (performance.now() - startedAt) / 1_000
    const figures: CellFigures[] = []
    for (const cell of cells) figures.push(await cell.figures())
    const mean = (of: (figure: CellFigures) => number) =>
      Math.round(figures.reduce((sum, figure) => sum + of(figure), 0) / count).toLocaleString('en')
    const rate = Math.round(total / seconds).toLocaleString('en')
    const columns = [
      rate,
      mean(({ payments }) => payments),
      mean(({ delivered }) => delivered),
      mean(({ wal }) => wal / total),
      mean(({ connections }) => connections),
      mean(({ calls }) => calls),
    ]
    return `| ${name} | ${columns.join(' | ')} |`
  } finally {
    for (const cell of cells) await cell.remove()
  }
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await wait(20)
}
