import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createRedisVersionStore, type RedisClient } from '../src/exports/redis.js'
import { busy, collect, hold, nothing, payment, unwanted } from './payment.js'
import { describeRedis, newPrefix, redisConformance } from './redis-suite.js'

describeRedis((ioredis, path) => {
  let nodeRedis: ReturnType<typeof createClient>
  beforeAll(async () => {
    nodeRedis = createClient({ socket: { path: path(), tls: false } })
    await nodeRedis.connect()
  })
  afterAll(() => nodeRedis?.destroy())

  // The orders of deliveries run in redis-conformance.slow.test.ts.
  const excuse = ['every order', 'every interleaving'].map((each) => ({ test: each, reason: 'slow', run: false }))
  redisConformance('ioredis', ioredis, ioredis, excuse)
  redisConformance('node-redis', () => nodeRedis, ioredis, excuse)

  /** A store of its own keys, and another of the same, as in two processes. */
  const pair = (leaseMs: number, leaseThereMs = leaseMs) => {
    const prefix = newPrefix()
    const make = (ms: number) =>
      createRedisVersionStore({ redis: ioredis(), prefix, leaseMs: ms, busyTimeoutMs: 600_000 })
    return { prefix, here: make(leaseMs), there: make(leaseThereMs) }
  }

  test('a listing finds what a client with a prefix of its own stored, and asks each node of a cluster', async () => {
    const open = (options: { keyPrefix?: string; db?: number }) => {
      const client = new Redis(path(), options)
      onTestFinished(() => client.disconnect())
      return client
    }
    const prefix = newPrefix()
    const nodes = [open({ keyPrefix: 'shop:' }), open({ keyPrefix: 'shop:', db: 1 })]
    for (const [index, redis] of nodes.entries())
      await createRedisVersionStore({ redis, prefix }).advance({ ...payment, chainId: `${index + 1}` }, nothing)
    const chains = async (redis: RedisClient) => {
      const keys = createRedisVersionStore({ redis, prefix }).list(payment.integrationAddress)
      return (await collect(keys)).map(({ chainId }) => chainId)
    }
    expect(await chains(nodes[0] as Redis)).toEqual(['1'])
    const cluster = { call: async () => 'not asked', options: { keyPrefix: 'shop:' }, nodes: () => nodes }
    expect(await chains(cluster)).toEqual(['1', '2'])
  })

  test('a process that dies in the middle of an effect keeps the payment until its lease ends; what it did elsewhere repeats', async () => {
    const { prefix, here, there } = pair(200, 60_000)
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
    expect(await ioredis().get(`${prefix}order`)).toBe('paid')
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
    expect(await ioredis().lrange(`${prefix}log`, 0, -1)).toEqual(['second'])
    expect(await here.current(payment)).toBe(2)
  })

  test('who waits for another delivery for busyTimeoutMs is ERR_VERSION_STORE_BUSY', async () => {
    const { prefix, here } = pair(60_000)
    const { delivery, release } = await hold(here)
    let time = 0
    const waiting = createRedisVersionStore({
      redis: ioredis(),
      prefix,
      busyTimeoutMs: 100,
      clock: {
        now: () => time,
        sleep: async (ms) => {
          time += ms
        },
      },
    })
    await expect(waiting.advance(payment, unwanted)).rejects.toMatchObject({ ...busy, waitedFor: 'effect' })
    expect(time).toBe(100)
    release()
    expect(await delivery).toBe('apply')
  })

  test('a version that something else has overwritten is reported, not read in part', async () => {
    const { prefix, here } = pair(60_000)
    const { integrationAddress, chainId, txHash } = payment
    const key = `${prefix}{${JSON.stringify([integrationAddress, chainId, txHash])}}`
    for (const value of ['12abc', '0x5', '-3', '']) {
      await ioredis().set(key, value)
      await expect(here.current(payment), value).rejects.toThrow(TypeError)
    }
  })

  test('a command that Redis rejects leaves the version, and the payment is free at once', async () => {
    const { prefix, here } = pair(60_000)
    await ioredis().set(`${prefix}text`, 'no list')
    const rejected = here.advance(payment, (tx) => tx.write('RPUSH', `${prefix}text`, 'x'))
    await expect(rejected).rejects.toThrow(/WRONGTYPE/)
    expect(await here.current(payment)).toBeUndefined()
    expect(await here.advance(payment, nothing)).toBe('apply')
  })
})
