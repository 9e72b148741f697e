import { createService, parseMasterKey, systemClock } from '@payment-integration/core'
import type { BlockRange, Chain } from '@payment-integration/core/ports'
import { chainConformance } from '@payment-integration/testing/conformance'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../core/test/support/store.js'
import { type FeedWorld, openFeedOn } from '../test/feed-world.js'
import { natsMissing, startNats, type TestCluster } from '../test/nats-server.js'
import { readBlocks } from './feed-blocks.js'
import type { FeedChainOptions } from './feed-chain.js'
import { createFeedConnection } from './feed-connection.js'
import { formatBlock, parseBlock } from './feed-message.js'

const skipped = natsMissing === null ? '' : ` (skipped: ${natsMissing})`

describe.skipIf(natsMissing)(`a chain on the feed${skipped}`, () => {
  let nats: TestCluster
  beforeAll(async () => {
    nats = await startNats()
  })
  afterAll(() => nats.remove())

  async function openWorld(...payments: readonly number[]) {
    const world = await openFeedOn(nats, ...payments)
    onTestFinished(() => world.close())
    return world
  }

  /** A reader of three blocks on a server that the test may suspend. */
  async function openWithOwnServer(options: Partial<FeedChainOptions> = {}) {
    const server = await startNats()
    onTestFinished(() => server.remove())
    const world = await openFeedOn(server, 1, 1, 1)
    onTestFinished(() => world.close())
    return { world, server: server.servers[0], ...world.openReader(options) }
  }

  async function readAll(chain: Chain, from: number, to: number): Promise<BlockRange[]> {
    const ranges: BlockRange[] = []
    for await (const range of chain.ranges({ from, to, head: to })) ranges.push(range)
    return ranges
  }

  const heights = (ranges: readonly BlockRange[]) => ranges.flatMap(({ blocks }) => blocks.map(({ number }) => number))
  const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
  const hashes = (ranges: readonly BlockRange[]) => ranges.flatMap((range) => range.payments.map((it) => it.txHash))
  /** The ranges have every height once, and the payments of the chain that was published. */
  async function expectTwin({ twin }: FeedWorld, ranges: readonly BlockRange[], from: number, to: number) {
    expect(heights(ranges)).toEqual(upTo(from, to))
    expect(hashes(ranges)).toEqual(hashes(await readAll(twin, from, to)))
  }
  /** The text of a message, changed. */
  const changed = (message: { readonly data: Uint8Array } | null, change: (text: string) => string) =>
    Buffer.from(change(Buffer.from(message?.data ?? []).toString('latin1')), 'latin1')

  let requests: readonly unknown[] = []
  // Every answer but the fate of a transaction comes from a real server.
  chainConformance('chain-feed', async () => {
    const world = await openFeedOn(nats)
    await world.publish()
    const { chain, calls } = world.openReader()
    return {
      chain,
      async mine(payments) {
        world.mine(payments)
        await world.publish()
      },
      async replaceNewest() {
        world.twin.orphan(1)
        world.twin.mine()
        await world.publish()
      },
      async close() {
        requests = [calls.head, calls.block, calls.ranges.filter((range) => Number.parseInt(range, 10) < 1_000)]
        await world.close()
      },
    }
  })

  test('the suite asked the nodes for nothing that the feed has', () => {
    // Two heights above the head were asked for: a block far above it, and a range.
    expect(requests).toEqual([0, 1, []])
  })

  test('several thousand blocks come in few ranges, each once, and no node is asked', async () => {
    const world = await openWorld()
    const blocks = 3_000
    world.mine(...upTo(1, blocks).map((height) => (height % 50 === 0 ? 2 : 0)))
    await world.openPublisher({ startDepth: blocks }).step()
    const { chain, calls } = world.openReader()
    const ranges = await readAll(chain, 1, blocks)
    await expectTwin(world, ranges, 1, blocks)
    expect(ranges.length).toBeLessThan(blocks / 50)
    expect(calls).toEqual({ head: 0, block: 0, ranges: [] })
  })

  test('a reader behind the oldest block reads the nodes up to there, then the feed', async () => {
    const world = await openWorld()
    world.mine(...upTo(1, 50).map(() => 1))
    await world.openPublisher({ startDepth: 10 }).step()
    const { chain, calls } = world.openReader()
    await expectTwin(world, await readAll(chain, 3, 50), 3, 50)
    expect(calls.ranges).toEqual(['3-39'])
  })

  test.each<[string, string | RegExp, string]>([
    ['is not JSON', /^.*$/s, '{"v":1'],
    ['has an unknown version', '"v":1', '"v":2'],
    ['is of another chain', '"chainId":', '"chainId":9'],
    ['has a shortened hash', /"txHash":"0x../, '"txHash":"0x'],
    ['has an amount that is no number', '"gross":"', '"gross":"-'],
    ['has no proof', '"proof":"root"', '"proof":"none"'],
    ['was read for other routers', '"routers":["0x7b', '"routers":["0x7c'],
    ['names no SpokePools', '"spokePools":[]', '"spokePools":null'],
    ['is nested over 32 levels', '"v":1', `"v":1,"a":${'['.repeat(32)}${']'.repeat(32)}`],
    ['is not UTF-8', /^.*$/s, '{\xff}'],
  ])('a block whose message %s comes from the nodes', async (_name, from, to) => {
    const world = await openWorld(1, 1, 1, 1, 1)
    const damaged = changed(await world.stream.at(3), (text) => text.replace(from, to))
    // The newest message again, so that the damaged one is not the head.
    const newest = await world.stream.at(5)
    await world.append(3, damaged)
    await world.append(5, newest?.data)
    const { chain, calls } = world.openReader()
    expect((await chain.head()).number).toBe(5)
    await expectTwin(world, await readAll(chain, 1, 5), 1, 5)
    expect(calls.ranges).toEqual(['3-5'])
    expect(chain.nodes()[0]).toMatchObject({ name: 'feed', inUse: true, failures: 1 })
  })

  test('a newest message that cannot be read leaves the head to the nodes, until a sound one follows', async () => {
    const world = await openWorld(1, 1)
    const { message } = await world.stream.tail()
    const newer = changed(message, (text) => text.replace('"v":1', '"v":7'))
    await world.append(3, newer)
    const { chain, calls } = world.openReader()
    expect((await chain.head()).number).toBe(2)
    expect(calls.head).toBe(1)
    expect(chain.nodes().map(({ name, inUse }) => [name, inUse])).toEqual([
      ['feed', false],
      ['simulated', true],
    ])
    expect(chain.nodes()[0]?.lastError).toMatch(/version is 7/)
    await world.append(2, message?.data)
    expect((await chain.head()).number).toBe(2)
    expect(calls.head).toBe(1)
  })

  test.each([0, 3])(
    'a block that does not continue the feed comes from the nodes, and the feed goes on; the clock steps back %i hours',
    async (hours) => {
      const world = await openWorld(1, 1, 1, 1)
      const stored = await world.stream.at(2)
      const fed = parseBlock(world.chainId, stored?.data ?? new Uint8Array())
      const block = { ...fed.block, hash: `0x${'ab'.repeat(32)}` }
      const data = formatBlock(world.chainId, { ...fed, block, payments: [] })
      const { message } = await world.stream.tail()
      await world.append(2, data)
      await world.append(4, message?.data)
      const { chain, calls } = world.openReader()
      // Block 2 continues block 1, so it is believed; block 3 contradicts it. The nodes contradict it too.
      await expect(readAll(chain, 1, 4)).rejects.toMatchObject({ code: 'ERR_CHAIN_RANGE_GONE' })
      expect(calls.ranges).toEqual(['3-4'])
      world.clock.advance(-hours * 3_600_000)
      await chain.head()
      world.clock.advance(5_001)
      expect(heights(await readAll(chain, 3, 4))).toEqual([3, 4])
      expect(calls.ranges).toEqual(['3-4', '3-4'])
      expect(heights(await readAll(chain, 4, 4))).toEqual([4])
      expect(calls.ranges).toHaveLength(2)
    },
  )

  test('a silent feed is replaced by the nodes, and returns once it is hardly behind them', async () => {
    const world = await openWorld(1, 1)
    const { chain, calls } = world.openReader()
    expect((await chain.head()).number).toBe(2)
    world.clock.advance(61_000)
    expect(calls.head).toBe(0)
    world.mine(1)
    world.clock.advance(7_000)
    world.mine(1)
    expect((await chain.head()).number).toBe(4)
    expect(chain.nodes()[0]?.lastError).toMatch(/6[89] s old/)
    const read = await readAll(chain, 2, 4)
    expect(heights(read)).toEqual([2, 3, 4])
    expect(calls).toMatchObject({ head: 1, ranges: ['3-4'] })
    // A publisher that catches up is still far behind the checkpoint.
    const lagging = { ...world.twin, head: async () => (await world.twin.block(3)) ?? world.twin.head() }
    await world.openPublisher({ chain: lagging, standbyMs: 1 }).step()
    expect((await chain.head()).number).toBe(4)
    expect(calls.head).toBe(2)
    await world.openPublisher({ standbyMs: 1 }).step()
    expect((await chain.head()).number).toBe(4)
    expect(calls.head).toBe(2)
    expect(chain.nodes()[0]).toMatchObject({ inUse: true, head: 4 })
  })

  test('an indexer gets past an orphaned end of the feed whose publisher is dead, in one more reorg', async () => {
    const world = await openWorld(1, 1, 1, 1)
    const { chain } = world.openReader({ restMs: 3_600_000 })
    const store = openStore({ clock: world.clock })
    const masterKey = parseMasterKey('0123456789abcdef'.repeat(4))
    const sender = { post: () => new Promise<never>(() => undefined) }
    const chains = [{ chain, startBlock: 0 }]
    const [indexer] = createService({ store, clock: world.clock, masterKey, chains, sender }).indexers
    while (!(await indexer?.step()));
    expect(indexer?.status()).toMatchObject({ indexed: 4, reorgs: 0 })
    world.twin.orphan(2)
    world.clock.advance(61_000)
    world.mine(1, 1, 1)
    for (let steps = 0; steps < 10; steps += 1) await indexer?.step()
    expect(indexer?.status()).toMatchObject({ indexed: 5, reorgs: 2 })
    expect((await store.payments.checkpoint(world.chainId))?.blockHash).toBe((await world.twin.head()).hash)
    expect(chain.nodes()[0]?.lastError).toMatch(/Block 5 of chain \d+ does not continue block 4/)
  })

  test('a publisher that does not know a router of the reader is not believed', async () => {
    const world = await openWorld(1, 1)
    const added = `0x${'7d'.repeat(20)}`
    const { chain, calls } = world.openReader({ chain: { ...world.twin, routers: [...world.twin.routers, added] } })
    await chain.head()
    expect(heights(await readAll(chain, 1, 2))).toEqual([1, 2])
    expect(calls).toEqual({ head: 1, block: 0, ranges: ['1-2'] })
    expect(chain.nodes()[0]?.lastError).toContain(added)
    // The blocks of the known routers still come from the feed, as in a backfill.
    for await (const { payments } of chain.ranges({ from: 1, to: 2, head: 2, routers: world.twin.routers }))
      expect(payments).toHaveLength(2)
    expect(calls.ranges).toHaveLength(1)
  })

  const otherDemands = {
    'with a weaker proof than the reader demands': [{ minProof: 'root' }, /has the proof bloom.* demands root/],
    'of a publisher without a SpokePool of the reader': [{ spokePools: [pool, otherPool] }, /other SpokePools/],
    'of a publisher with a SpokePool that the reader does not trust': [{ spokePools: [] }, /other SpokePools/],
  } as const
  test.each(Object.entries(otherDemands))('blocks %s come from the nodes', async (_name, [demands, reason]) => {
    const world = await openWorld()
    world.mine(1, 1)
    const weak: Chain = {
      ...world.twin,
      async *ranges(...args) {
        for await (const range of world.twin.ranges(...args)) yield { ...range, proof: 'bloom' }
      },
    }
    await world.openPublisher({ chain: weak, spokePools: [pool.toUpperCase().replace('X', 'x')] }).step()
    const { chain, calls } = world.openReader({ spokePools: [pool], ...demands })
    await chain.head()
    expect(heights(await readAll(chain, 1, 2))).toEqual([1, 2])
    expect(calls).toEqual({ head: 1, block: 0, ranges: ['1-2'] })
    expect(chain.nodes()[0]?.lastError).toMatch(reason)
    // A reader that demands what the publisher does reads the feed.
    const same = world.openReader({ spokePools: [pool], minProof: 'bloom' })
    await same.chain.head()
    expect(heights(await readAll(same.chain, 1, 2))).toEqual([1, 2])
    expect(same.calls).toEqual({ head: 0, block: 0, ranges: [] })
  })

  test('a feed without a server never delays a reading, and returns with its server', async () => {
    const { world, server, chain, calls } = await openWithOwnServer({ clock: systemClock, restMs: 1 })
    await server?.kill()
    await expect.poll(() => chain.head().then(() => calls.head), waiting).toBeGreaterThan(0)
    expect(heights(await readAll(chain, 1, 3))).toEqual([1, 2, 3])
    expect(await chain.block(2)).toEqual(await world.twin.block(2))
    let wakes = 0
    const stop = new AbortController()
    const watching = chain.watch(() => {
      wakes += 1
    }, stop.signal)
    await server?.start()
    await expect.poll(() => chain.head().then(() => chain.nodes()[0]?.inUse), waiting).toBe(true)
    await expect
      .poll(async () => {
        world.mine(0)
        await world.publish().catch(() => undefined)
        return wakes
      }, waiting)
      .toBeGreaterThan(0)
    stop.abort()
    await watching
  })

  test('a server that stopped answering costs one wait, then the nodes are read without one', async () => {
    const { world, server, chain, calls } = await openWithOwnServer()
    await chain.head()
    await server?.suspend(true)
    await chain.head()
    expect(chain.nodes()[0]).toMatchObject({ inUse: false, failures: 1 })
    for (let reads = 0; reads < 100; reads += 1) {
      await chain.head()
      await readAll(chain, 1, 2)
    }
    expect(chain.nodes()[0]).toMatchObject({ failures: 1 })
    expect(calls.ranges).toHaveLength(100)
    await server?.suspend(false)
    world.clock.advance(5_001)
    await chain.head()
    expect(chain.nodes()[0]?.inUse).toBe(true)
  })

  test('a server that stopped answering during a reading costs one wait: the oldest block is not asked for', async () => {
    const { server, chain, calls } = await openWithOwnServer()
    await server?.suspend(true)
    expect(heights(await readAll(chain, 1, 2))).toEqual([1, 2])
    expect(calls.ranges).toEqual(['1-2'])
    expect(chain.nodes()[0]).toMatchObject({ failures: 1 })
    await server?.suspend(false)
  })

  test('the block below a reading is requested together with its first blocks', async () => {
    const world = await openWorld()
    const heights: number[] = []
    const stream = { ...world.stream, at: (height: number) => world.stream.at(heights.push(height) && height) }
    const demands = { routers: new Set<string>(), spokePools: new Set<string>(), minProof: 'bloom' } as const
    const reading = readBlocks(stream, { from: 5, to: 7, demands })
    const first = reading.next()
    expect(heights.toSorted()).toEqual([4, 5, 6, 7])
    await first
  })

  test('a connection that is closed during its first attempt closes', async () => {
    const connection = createFeedConnection({ servers: nats.urls })
    expect(() => connection.current()).toThrow('not connected yet')
    await connection.close()
  })

  test('options out of range are rejected', async () => {
    const world = await openWorld()
    expect(() => world.openReader({ maxHeadAgeMs: 0 })).toThrow(RangeError)
    expect(() => world.openReader({ restMs: 1.5 })).toThrow(RangeError)
    expect(() => world.openReader({ minProof: 'strong' as never })).toThrow(RangeError)
  })
})

const [pool, otherPool] = [`0x${'5a'.repeat(20)}`, `0x${'5b'.repeat(20)}`] as const
const waiting = { timeout: 120_000, interval: 50 }
