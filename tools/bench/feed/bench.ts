/** Calls to nodes with and without the feed, and blocks a second through it. @module */
import { createFeedChain, createFeedConnection, createFeedPublisher } from '@payment-integration/chain-feed'
import type { Chain } from '@payment-integration/core/ports'
import { counted } from '../../../packages/chain-feed/test/feed-world.js'
import { natsMissing, startNats } from '../../../packages/chain-feed/test/nats-server.js'
import { createDraws } from '../../../packages/testing/src/builders/draws.js'
import { createTwinChain } from '../../../packages/testing/src/twin/chain.js'
import { paymentOf } from '../../../packages/testing/src/twin/payment-input.js'

/** The size of a run. */
export interface FeedEffort {
  readonly blocks: number
  /** Blocks that are mined one by one while the cells follow the head. */
  readonly live: number
  readonly cells: readonly number[]
  readonly servers: number
}

const chainId = 137

/** Runs it, on one server or on a cluster. */
export async function benchFeed({ blocks, live, cells, servers }: FeedEffort): Promise<string> {
  if (natsMissing !== null) return `### The feed\n\nSkipped: ${natsMissing}.\n`
  const nats = await startNats({ count: servers })
  const connection = createFeedConnection({ servers: nats.urls })
  try {
    const draws = createDraws(1)
    const twin = createTwinChain(chainId, { now: Date.now, newHash: () => draws.hex(32), stepMs: 0 })
    const mine = (payments: number) =>
      twin.mine(Array.from({ length: payments }, () => paymentOf({ chainId, integrationAddress: null }, draws)))
    for (let block = 1; block < blocks; block += 1) mine(block % 10 === 0 ? 1 : 0)
    const published = counted(twin)
    const stop = new AbortController()
    const publisher = createFeedPublisher({
      ...{ chain: published.chain, connection, startDepth: blocks, replicas: servers, maxBytes: 1_000_000_000 },
      pollMs: 3_600_000,
    })
    const startedAt = performance.now()
    const running = publisher.run(stop.signal)
    await until(async () => (await headOf(twin, connection)) === twin.height())
    const publishMs = performance.now() - startedAt
    const readAt = performance.now()
    const reader = createFeedChain({ chain: twin, connection })
    for await (const _ of reader.ranges({ from: 0, to: blocks - 1, head: blocks - 1 }));
    const readMs = performance.now() - readAt

    const rows: string[] = []
    for (const count of cells) {
      const before = callsOf(published.calls)
      const onNode = Array.from({ length: count }, () => counted(twin))
      const onFeed = Array.from({ length: count }, () => counted(twin))
      const readers = onFeed.map(({ chain }) => createFeedChain({ chain, connection }))
      for (let block = 0; block < live; block += 1) {
        const { number } = mine(1)
        await until(async () => (await headOf(twin, connection)) === number)
        for (const chain of [...onNode.map((node) => node.chain), ...readers]) await follow(chain, number)
      }
      const sum = (list: typeof onNode) => list.reduce((total, { calls }) => total + callsOf(calls), 0)
      const ofPublisher = callsOf(published.calls) - before
      const perBlock = (calls: number) => (calls / live).toFixed(1)
      rows.push(`| ${count} | ${perBlock(sum(onNode))} | ${perBlock(ofPublisher)} | ${perBlock(sum(onFeed))} |`)
    }
    stop.abort()
    await running
    const perSecond = (ms: number) => Math.round((1_000 * blocks) / ms).toLocaleString('en')
    return [
      `### The feed, ${servers === 1 ? 'one server' : `${servers} servers`}\n`,
      `${blocks.toLocaleString('en')} blocks: ${perSecond(publishMs)} blocks/s published, ${perSecond(readMs)} blocks/s read by one cell.\n`,
      '| cells | calls of the port for each block, cells on the node | publisher | cells on the feed |',
      '| --- | ---: | ---: | ---: |',
      ...rows,
      '',
    ].join('\n')
  } finally {
    await connection.close()
    await nats.remove()
  }
}

/** One step of an indexer at the head: the head, then the new block. */
async function follow(chain: Chain, number: number): Promise<void> {
  const head = await chain.head()
  for await (const _ of chain.ranges({ from: number, to: head.number, head: head.number }));
}

/** Height of the feed, or -1. */
async function headOf(chain: Chain, connection: ReturnType<typeof createFeedConnection>): Promise<number> {
  const reader = createFeedChain({
    chain: { ...chain, head: async () => Promise.reject(new Error('none')) },
    connection,
  })
  return reader.head().then(
    ({ number }) => number,
    () => -1,
  )
}

function callsOf({ head, block, ranges }: { head: number; block: number; ranges: readonly string[] }): number {
  return head + block + ranges.length
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 2))
}
