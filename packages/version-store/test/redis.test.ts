import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createRedisVersionStore, type RedisClient } from '../src/exports/redis.js'
import { redisMissing, startRedis, type TestRedis } from './redis-server.js'
import { redisConformance } from './redis-suite.js'

const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash: `0x${'b2'.repeat(32)}`, version: 1 }
const nothing = () => undefined

let server: TestRedis
let ioredis: Redis
let nodeRedis: ReturnType<typeof createClient>
let prefixes = 0

const clients: readonly { readonly name: string; readonly client: () => RedisClient }[] = [
  { name: 'ioredis', client: () => ioredis },
  { name: 'node-redis', client: () => nodeRedis },
]

describe.skipIf(redisMissing !== null)(`Redis${redisMissing === null ? '' : ` (${redisMissing})`}`, () => {
  beforeAll(async () => {
    server = await startRedis()
    ioredis = new Redis(server.path)
    nodeRedis = createClient({ socket: { path: server.path, tls: false } })
    await nodeRedis.connect()
  })
  afterAll(async () => {
    ioredis?.disconnect()
    nodeRedis?.destroy()
    await server?.remove()
  })

  // The orders of deliveries run in redis-conformance.slow.test.ts.
  const excuse = ['every order', 'every interleaving'].map((each) => ({ test: each, reason: 'slow', run: false }))
  for (const { name, client } of clients) redisConformance(name, client, () => ioredis, excuse)

  /** A store of its own keys, and another of the same, as in two processes. */
  const pair = (leaseMs: number, leaseThereMs = leaseMs) => {
    const prefix = `pair-${++prefixes}:`
    const make = (ms: number) => createRedisVersionStore({ redis: ioredis, prefix, leaseMs: ms })
    return { prefix, here: make(leaseMs), there: make(leaseThereMs) }
  }

  test('a listing finds what a client with a prefix of its own stored, and asks each node of a cluster', async () => {
    const open = (options: { keyPrefix?: string; db?: number }) => {
      const client = new Redis(server.path, options)
      onTestFinished(() => client.disconnect())
      return client
    }
    const prefix = `nodes-${++prefixes}:`
    const nodes = [open({ keyPrefix: 'shop:' }), open({ keyPrefix: 'shop:', db: 1 })]
    for (const [index, redis] of nodes.entries())
      await createRedisVersionStore({ redis, prefix }).advance({ ...payment, chainId: `${index + 1}` }, nothing)
    const chains = async (redis: RedisClient) => {
      const found: string[] = []
      for await (const { chainId } of createRedisVersionStore({ redis, prefix }).list(payment.integrationAddress))
        found.push(chainId)
      return found
    }
    expect(await chains(nodes[0] as Redis)).toEqual(['1'])
    const cluster = { call: async () => 'not asked', options: { keyPrefix: 'shop:' }, nodes: () => nodes }
    expect(await chains(cluster)).toEqual(['1', '2'])
  })

  test('a process that dies in the middle of an effect keeps the payment until its lease ends; what it did elsewhere repeats', async () => {
    const { prefix, here, there } = pair(200)
    const sent: string[] = []
    void here.advance(payment, async () => {
      sent.push('mail')
      await new Promise(nothing)
    })
    await expect.poll(() => sent).toEqual(['mail'])
    const redelivery = there.advance(payment, (tx) => {
      sent.push('mail')
      tx.write('SET', `${prefix}order`, 'paid')
    })
    expect(await redelivery).toBe('apply')
    expect(sent).toEqual(['mail', 'mail'])
    expect(await ioredis.get(`${prefix}order`)).toBe('paid')
  })

  test('an effect that outlives its lease is ERR_LEASE_LOST, writes nothing, and leaves the version to the delivery that took over', async () => {
    const { prefix, here, there } = pair(50, 60_000)
    let release = () => {}
    const slow = here.advance(payment, async (tx) => {
      tx.write('RPUSH', `${prefix}log`, 'slow')
      await new Promise<void>((resolve) => (release = resolve))
    })
    const second = there.advance({ ...payment, version: 2 }, (tx) => tx.write('RPUSH', `${prefix}log`, 'second'))
    expect(await second).toBe('apply')
    release()
    await expect(slow).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
    expect(await ioredis.lrange(`${prefix}log`, 0, -1)).toEqual(['second'])
    expect(await here.current(payment)).toBe(2)
  })

  test('who waits for another delivery for busyTimeoutMs is ERR_VERSION_STORE_BUSY', async () => {
    const { prefix, here } = pair(60_000)
    let release = () => {}
    let started = false
    const holder = here.advance(payment, async () => {
      started = true
      await new Promise<void>((resolve) => (release = resolve))
    })
    await expect.poll(() => started).toBe(true)
    let clock = 0
    const waiting = createRedisVersionStore({
      redis: ioredis,
      prefix,
      busyTimeoutMs: 100,
      monotonicNow: () => clock,
      sleep: async (ms) => {
        clock += ms
      },
    })
    const call = waiting.advance(payment, () => expect.unreachable('an effect ran that must not run'))
    await expect(call).rejects.toMatchObject({ code: 'ERR_VERSION_STORE_BUSY', status: 503, waitedFor: 'effect' })
    expect(clock).toBe(100)
    release()
    expect(await holder).toBe('apply')
  })

  test('a version that something else has overwritten is reported, not read in part', async () => {
    const { prefix, here } = pair(60_000)
    const { integrationAddress, chainId, txHash } = payment
    const key = `${prefix}{${JSON.stringify([integrationAddress, chainId, txHash])}}`
    for (const value of ['12abc', '0x5', '-3', '']) {
      await ioredis.set(key, value)
      await expect(here.current(payment), value).rejects.toThrow(TypeError)
    }
  })

  test('a command that Redis rejects leaves the version, and the payment is free at once', async () => {
    const { prefix, here } = pair(60_000)
    await ioredis.set(`${prefix}text`, 'no list')
    const rejected = here.advance(payment, (tx) => tx.write('RPUSH', `${prefix}text`, 'x'))
    await expect(rejected).rejects.toThrow(/WRONGTYPE/)
    expect(await here.current(payment)).toBeUndefined()
    expect(await here.advance(payment, nothing)).toBe('apply')
  })
})

test.each([undefined, null, {}, 'redis://localhost'])('the client %j is rejected', (redis) => {
  expect(() => createRedisVersionStore({ redis: redis as unknown as RedisClient })).toThrow(TypeError)
})

test.each([0, 1.5, -1, Number.NaN, '5'])('a leaseMs of %s is rejected', (leaseMs) => {
  const redis = { call: async () => null }
  expect(() => createRedisVersionStore({ redis, leaseMs: leaseMs as number })).toThrow(RangeError)
})
