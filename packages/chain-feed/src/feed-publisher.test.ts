import { systemClock } from '@payment-integration/core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { counted, type FeedWorld, openFeedOn } from '../test/feed-world.js'
import { natsMissing, startNats, type TestCluster } from '../test/nats-server.js'
import { parseBlock } from './feed-message.js'
import type { FeedPublisher } from './feed-publisher.js'

const skipped = natsMissing === null ? '' : ` (skipped: ${natsMissing})`

describe.skipIf(natsMissing)(`a publisher of the feed${skipped}`, () => {
  let nats: TestCluster
  beforeAll(async () => {
    nats = await startNats({ more: 'max_payload: 65536' })
  })
  afterAll(() => nats.remove())

  async function openWorld(...payments: readonly number[]) {
    const world = await openFeedOn(nats, ...payments)
    onTestFinished(() => world.close())
    return world
  }

  /** Every height up to the newest message has the chain's block, and it is the newest message. */
  async function expectWhole(world: FeedWorld, from = 0): Promise<void> {
    const tip = world.twin.height()
    for (let number = from; number <= tip; number += 1) {
      const message = await world.stream.at(number)
      const fed = parseBlock(world.chainId, message?.data ?? new Uint8Array())
      const block = await world.twin.block(number)
      expect(fed.block).toEqual(block)
    }
    const { message } = await world.stream.tail()
    expect(parseBlock(world.chainId, message?.data ?? new Uint8Array()).block.number).toBe(tip)
  }

  test('publishes from below the head on, and continues where the stream ends after a restart', async () => {
    const world = await openWorld()
    world.mine(...Array.from({ length: 40 }, () => 1))
    await world.openPublisher({ startDepth: 8 }).step()
    expect(await world.stream.at(31)).toBeNull()
    world.mine(0, 2)
    const next = world.openPublisher({ standbyMs: 1 })
    world.clock.advance(10)
    await next.step()
    await expectWhole(world, 32)
    expect((await world.stream.tail()).sequence).toBe(11)
  })

  test('stands by while another one publishes, without a call to a node, and takes over when that one is silent', async () => {
    const world = await openWorld(1)
    const nodes = counted(world.twin)
    const late = world.openPublisher({ chain: nodes.chain, standbyMs: 30_000 })
    expect(await late.step()).toBe(true)
    expect(nodes.calls).toEqual({ head: 0, block: 0, ranges: [] })
    world.clock.advance(30_001)
    world.mine(1, 1)
    expect(await late.step()).toBe(false)
    expect(nodes.calls.ranges).toEqual(['2-3'])
    world.mine(1)
    // The first one read the end of the stream before the other one moved it.
    // Of its three appends in flight the third one expects the sequence where the stream ends now.
    const { sequence } = await world.stream.tail()
    await expect(world.publisher.step()).rejects.toMatchObject({ code: 'ERR_FEED_MOVED' })
    expect((await world.stream.tail()).sequence).toBe(sequence)
    await late.step()
    await expectWhole(world)
    expect(await world.openPublisher({ standbyMs: 60_000 }).step()).toBe(true)
  })

  test('takes over at once when the last message was stored by a server whose clock was hours ahead', async () => {
    const world = await openWorld(1)
    world.clock.advance(-3 * 3_600_000)
    world.mine(1)
    expect(await world.openPublisher({ standbyMs: 30_000 }).step()).toBe(false)
    await expectWhole(world)
  })

  test('two publishers that both believe to lead never mix their blocks, in 60 rounds with reorgs', async () => {
    const world = await openWorld()
    const both = [world.openPublisher({ standbyMs: 1 }), world.openPublisher({ standbyMs: 1 })]
    const rejected = { count: 0 }
    const race = async (publisher: FeedPublisher) => {
      world.clock.advance(10)
      await publisher.step().catch((error: { code?: string }) => {
        if (error.code !== 'ERR_FEED_MOVED') throw error
        rejected.count += 1
      })
    }
    for (let round = 0; round < 60; round += 1) {
      if (round % 4 === 3) world.twin.orphan(1 + (round % 5))
      world.mine(...Array.from({ length: 1 + (round % 9) }, () => round % 2))
      await Promise.all(both.map(race))
    }
    // An orphaned tip may be higher than the new one.
    world.mine(...Array.from({ length: 9 }, () => 1))
    for (let turn = 0; turn < 6; turn += 1) for (const publisher of both) await race(publisher)
    expect(rejected.count).toBeGreaterThan(0)
    await expectWhole(world)
  })

  test('an append in flight is rejected when an earlier attempt took the place of the one before it', async () => {
    const { stream } = await openWorld()
    const append = (id: string, sequence: number, previousId: string | null) =>
      stream.append({ height: 1, data: new Uint8Array(1), publisher: 'a', id }, { sequence, previousId })
    // The answer to the first attempt was lost, and its retry follows with another block and the next one.
    const outcomes = await Promise.allSettled([append('a-1', 0, null), append('a-2', 0, null), append('a-3', 1, 'a-2')])
    const answers = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : outcome.value))
    expect(answers).toEqual([1, 'ERR_FEED_MOVED', 'ERR_FEED_MOVED'])
    expect((await stream.tail()).sequence).toBe(1)
  })

  test('publishes a reorg from the common ancestor on, once the new branch is as high', async () => {
    const world = await openWorld(1, 1, 1, 1, 1, 1)
    const { sequence } = await world.stream.tail()
    world.twin.orphan(4)
    world.mine(0, 2)
    expect(await world.publisher.step()).toBe(true)
    expect((await world.stream.tail()).sequence).toBe(sequence)
    world.mine(1, 1)
    await world.publish()
    expect((await world.stream.tail()).sequence).toBe(sequence + 4)
    await expectWhole(world)
    world.twin.orphan(2)
    world.mine(0, 0, 0, 0, 0)
    await world.publish()
    await expectWhole(world)
  })

  test('stops when no block of the stream is on the chain', async () => {
    const world = await openWorld()
    world.mine(1, 1, 1, 1)
    await world.openPublisher({ startDepth: 1 }).step()
    world.twin.orphan(3)
    world.mine(1, 1, 1, 1)
    const publisher = world.openPublisher({ standbyMs: 1 })
    world.clock.advance(10)
    await expect(publisher.step()).rejects.toMatchObject({ code: 'ERR_FEED_DIVERGED' })
  })

  test('rejects unproven blocks, a block above max_payload, and a stream of something else', async () => {
    const world = await openWorld()
    const unproven = {
      ...world.twin,
      async *ranges(...args: Parameters<typeof world.twin.ranges>) {
        for await (const range of world.twin.ranges(...args)) yield { ...range, proof: 'none' as const }
      },
    }
    await expect(world.openPublisher({ chain: unproven }).step()).rejects.toMatchObject({ code: 'ERR_FEED_UNPROVEN' })
    world.mine(1, 200)
    const tooLarge = await world.publisher.step().catch((error: Error) => error)
    expect(tooLarge).toMatchObject({ code: 'ERR_FEED_BLOCK_TOO_LARGE' })
    expect(String(tooLarge)).toMatch(/^FeedError: Block 2 of chain \d+ takes \d+ bytes, and the servers accept 64512\./)
    const { chain } = world.openReader()
    // The blocks before it are published; it comes from the nodes.
    const numbers: number[] = []
    for await (const { payments } of chain.ranges({ from: 1, to: 2, head: 2 })) numbers.push(payments.length)
    expect(numbers).toEqual([1, 200])
    const limits = { replicas: 1, maxAgeMs: 1_000, maxBytes: 1_000_000 }
    await expect(world.stream.prepare(limits)).resolves.toBeUndefined()
  })

  test('runs until its signal aborts, and publishes what a node announces', async () => {
    const world = await openWorld()
    const stop = new AbortController()
    const publisher = world.openPublisher({ clock: systemClock, pollMs: 3_600_000, standbyMs: 1 })
    const running = publisher.run(stop.signal)
    const waiting = { timeout: 120_000, interval: 100 }
    await expect.poll(() => world.stream.at(0), waiting).not.toBeNull()
    const mineOne = async () => {
      world.mine(1)
      return (await world.stream.tail()).sequence
    }
    await expect.poll(mineOne, waiting).toBeGreaterThan(3)
    stop.abort()
    await running
  })

  test('idle waits add nothing to the signal of the caller', async () => {
    const world = await openWorld()
    const stop = new AbortController()
    const sizes: number[] = []
    const sleep = async () => {
      const key = Object.getOwnPropertySymbols(stop.signal).find((each) => String(each) === 'Symbol(kDependantSignals)')
      if (sizes.push(Reflect.get(stop.signal, key ?? '')?.size ?? 0) === 200) stop.abort()
    }
    await world.openPublisher({ clock: { now: world.clock.now, sleep } }).run(stop.signal)
    expect(new Set(sizes)).toEqual(new Set([0]))
  })

  test('options out of range are rejected', async () => {
    const world = await openWorld()
    expect(() => world.openPublisher({ replicas: 0 })).toThrow(RangeError)
    expect(() => world.openPublisher({ startDepth: -1 })).toThrow(RangeError)
  })
})
