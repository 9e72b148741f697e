/** Kills the servers of a feed under load, and compares each cell's store with the chain. @module */
import type { FeedConnection } from '@payment-integration/chain-feed'
import { createFeedChain, createFeedConnection, createFeedPublisher } from '@payment-integration/chain-feed'
import { createService, systemClock } from '@payment-integration/core'
import type { Chain, Store } from '@payment-integration/core/ports'
import { parseBlock } from '../../../packages/chain-feed/src/feed-message.js'
import { createFeedStream } from '../../../packages/chain-feed/src/feed-stream.js'
import { startNats } from '../../../packages/chain-feed/test/nats-server.js'
import { createDraws, simulatedMasterKey } from '../random.js'
import { openStore } from '../world/stores.js'
import { judge, type Verdict } from '../world/verdict.js'
import { createMovingChain, type MovingChain } from './moving-chain.js'

export interface FeedReport {
  readonly seed: number
  readonly verdict: Verdict
  readonly blocks: number
  readonly reorgs: number
  /** Servers that were killed. */
  readonly kills: number
  /** Blocks that the cells read from the feed and from their nodes, and changes between both. */
  readonly feed: number
  readonly node: number
  readonly switches: number
  readonly seconds: number
}

const finalityBlocks = 40
const tickMs = 25
/** Blocks that each cell reads from the feed before the next kill. */
const fedBlocks = 150
/** Time after which a seed counts as hanging, in milliseconds. */
const maxMs = 1_200_000

/**
 * Runs a seed: three servers in a cluster, two publishers and two cells. Each server is killed and restarted while the
 * chain moves, and then two servers together. At the end every server runs, and the chain becomes final.
 */
export async function runFeedSeed(seed: number): Promise<FeedReport> {
  const startedAt = Date.now()
  const draws = createDraws(`feed/${seed}`)
  const chainId = 1_000 + seed
  const moving = createMovingChain(chainId, draws.fork('chain'))
  const nats = await startNats({ count: 3 })
  const connections = Array.from({ length: 3 }, () => createFeedConnection({ servers: nats.urls }))
  const [observer, ...publishing] = connections
  if (observer === undefined) throw new Error('There is no connection.')
  const stream = createFeedStream(observer, chainId, systemClock)
  const publishers = publishing.map((connection) => startPublisher(connection, moving))
  const cells = await Promise.all([1, 2].map(() => startCell(nats.urls, moving.chain)))
  let isMoving = true
  const load = (async () => {
    while (isMoving) {
      moving.tick()
      await pause(tickMs)
    }
  })()
  let kills = 0
  /** Newest height of the feed, or -1 while it does not answer. */
  const findPublishedHeight = async () => {
    const message = await stream.last().catch(() => null)
    return message === null ? -1 : parseBlock(chainId, message.data).block.number
  }
  /** Waits until the feed has published blocks that were mined after now. */
  async function waitUntilPublished(): Promise<void> {
    const from = moving.chain.height() + 10
    await waitUntil(async () => (await findPublishedHeight()) > from, `feed above ${from}`)
  }
  /** Waits until both cells have read blocks from the feed again. */
  async function waitUntilRead(): Promise<void> {
    const targets = cells.map(({ counts }) => counts.feed + fedBlocks)
    const haveRead = async () => cells.every(({ counts }, index) => counts.feed >= (targets[index] ?? 0))
    await waitUntil(haveRead, 'cells on the feed')
  }
  async function waitUntilIndexed(): Promise<void> {
    const from = moving.chain.height() + 10
    await waitUntil(async () => (await findLowestIndexed(cells)) > from, `cells above ${from}`)
  }
  try {
    await waitUntilRead()
    for (const server of draws.shuffled(nats.servers)) {
      await server.kill()
      kills += 1
      // A publisher that is replaced leaves appends in flight; their outcome is unknown.
      const replaced = publishers[kills % publishers.length]
      await replaced?.restart()
      await waitUntilPublished()
      await waitUntilIndexed()
      await server.start()
      await waitUntilRead()
    }
    // Without a majority nothing is published: the cells read their nodes.
    const pair = draws.shuffled(nats.servers).slice(1)
    for (const server of pair) await server.kill()
    kills += pair.length
    await waitUntilIndexed()
    await waitUntilIndexed()
    for (const server of pair) await server.start()
    await waitUntilRead()
    isMoving = false
    await load
    for (let block = 0; block < 2 * finalityBlocks; block += 1) {
      moving.mineEmpty()
      await pause(1)
    }
    const tip = moving.chain.height()
    await waitUntil(async () => (await findPublishedHeight()) === tip, 'feed at the head')
    await waitUntil(async () => (await findLowestIndexed(cells)) === tip, 'cells at the head')
    const verdicts = await Promise.all(cells.map(({ store }) => judgeStore(store, chainId, moving)))
    const feedFindings = await judgeFeed(stream, chainId, moving)
    return {
      seed,
      kills,
      blocks: tip,
      reorgs: moving.reorgs(),
      verdict: joinVerdicts(verdicts, feedFindings),
      feed: cells.reduce((sum, { counts }) => sum + counts.feed, 0),
      node: cells.reduce((sum, { counts }) => sum + counts.node, 0),
      switches: cells.reduce((sum, { counts }) => sum + counts.switches, 0),
      seconds: (Date.now() - startedAt) / 1_000,
    }
  } finally {
    isMoving = false
    await Promise.all([load, ...publishers.map((publisher) => publisher.stop()), ...cells.map((cell) => cell.stop())])
    await Promise.all(connections.map((connection) => connection.close()))
    await nats.remove()
  }

  async function waitUntil(isTrue: () => Promise<boolean>, wanted: string): Promise<void> {
    while (!(await isTrue())) {
      if (Date.now() - startedAt > maxMs) {
        const errors = cells.map((cell) => cell.lastError()).join('; ')
        throw new Error(`seed ${seed}: no ${wanted} after ${maxMs} ms. ${errors}`)
      }
      await pause(20)
    }
  }
}

function startPublisher(connection: FeedConnection, { chain }: MovingChain) {
  const start = () => {
    const stop = new AbortController()
    const publisher = createFeedPublisher({ chain, connection, standbyMs: 1_000, pollMs: 50, maxBytes: 100_000_000 })
    return { stop, running: publisher.run(stop.signal) }
  }
  let current = start()
  async function stop(): Promise<void> {
    current.stop.abort()
    await current.running
  }
  return {
    stop,
    async restart() {
      await stop()
      current = start()
    },
  }
}

async function findLowestIndexed(cells: readonly Cell[]): Promise<number> {
  return Math.min(...(await Promise.all(cells.map(async (cell) => (await cell.readCheckpoint())?.blockNumber ?? -1))))
}

async function judgeStore(store: Store, chainId: number, moving: MovingChain): Promise<Verdict> {
  const [tip, truth] = [await moving.chain.head(), await moving.readTruth()]
  const { findLastingFacts } = moving
  const noUpdates = { updates: new Map(), received: null }
  return judge({ chainId, store, finalityBlocks, firstBlock: 0, ...noUpdates, tip, truth, findLastingFacts })
}

/** Every height of the feed has the chain's block, as far as the feed reaches back. */
async function judgeFeed(
  stream: ReturnType<typeof createFeedStream>,
  chainId: number,
  { chain }: MovingChain,
): Promise<string[]> {
  const findings: string[] = []
  for (let height = 1; height <= chain.height(); height += 1) {
    const [message, block] = [await stream.at(height), await chain.block(height)]
    const hash = message === null ? null : parseBlock(chainId, message.data).block.hash
    if (hash !== block?.hash) findings.push(`the feed has ${hash} at ${height}, the chain ${block?.hash}`)
  }
  return findings
}

function joinVerdicts(verdicts: readonly Verdict[], feedFindings: readonly string[]): Verdict {
  const sum = (name: 'missing' | 'wrong' | 'repeated' | 'payments') =>
    verdicts.reduce((total, verdict) => total + verdict[name], 0)
  const wrong = sum('wrong') + feedFindings.length
  const findings = [...verdicts.flatMap((verdict) => verdict.findings), ...feedFindings.slice(0, 8)]
  return { missing: sum('missing'), wrong, repeated: sum('repeated'), findings, payments: sum('payments') }
}

/** Formats a seed's report, with the command that replays it. */
export function describeFeed({ seed, verdict, ...report }: FeedReport): string {
  const { missing, wrong, repeated, payments, findings } = verdict
  const { blocks, reorgs, kills, feed, node, switches, seconds } = report
  return [
    `seed ${seed}: ${findings.length > 0 ? 'FAILED' : 'passed'} in ${seconds.toFixed(1)} s; ${missing} missing, ${wrong} wrong, ${repeated} repeated; ` +
      `${payments} payments in two cells, ${blocks} blocks, ${reorgs} reorgs, ${kills} kills; ` +
      `${feed} blocks read from the feed, ${node} from nodes, ${switches} changes between them`,
    ...findings.map((finding) => `  ${finding}`),
    `  replay: npm run soak -- --suite=feed --seed=${seed}`,
  ].join('\n')
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Lower than in real deployments, so that a seed sees many changes between feed and node. */
const timing = { maxHeadAgeMs: 5_000, restMs: 500, pollMs: 50 }

/** Starts a cell. @param node - The chain on the cell's own node. */
async function startCell(servers: readonly string[], node: Chain) {
  const { store, close } = await openStore('sqlite', systemClock)
  const connection = createFeedConnection({ servers })
  const chain = createFeedChain({ chain: node, connection, ...timing })
  const counts = { feed: 0, node: 0, switches: 0 }
  let isOnFeed = false
  const counting: Chain = {
    ...chain,
    async *ranges(request, signal) {
      for await (const range of chain.ranges(request, signal)) {
        const source = range.node.startsWith('feed') ? 'feed' : 'node'
        counts[source] += range.blocks.length
        yield range
      }
    },
    async head(signal) {
      const head = await chain.head(signal)
      const isOnFeedNow = chain.nodes()[0]?.inUse === true
      if (isOnFeedNow !== isOnFeed) counts.switches += 1
      isOnFeed = isOnFeedNow
      return head
    },
  }
  const service = createService({
    store,
    sender: { post: () => new Promise(() => undefined) },
    masterKey: simulatedMasterKey,
    chains: [{ chain: counting, startBlock: 0, pollMs: timing.pollMs }],
    confirmations: { [node.chainId]: finalityBlocks },
  })
  const controller = new AbortController()
  const running = Promise.all(service.indexers.map((indexer) => indexer.run(controller.signal)))
  return {
    store,
    counts,
    readCheckpoint: async () => (await store.payments.checkpoint(node.chainId)) ?? null,
    lastError: () => service.indexers[0]?.status().lastError?.message ?? null,
    async stop() {
      controller.abort()
      await running
      await connection.close()
      await close()
    },
  }
}

type Cell = Awaited<ReturnType<typeof startCell>>
