/** A connection that breaks before its answer came: ioredis connects again and sends the command again. */
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { createRedisVersionStore } from '../src/exports/redis.js'
import { hold, payment, unwanted } from './payment.js'
import { describeRedis, newPrefix } from './redis-suite.js'
import { openRelay } from './relay.js'

describeRedis((direct, server) => {
  /** A client behind a relay. `lose` breaks the connection instead of answering the next command with this text. */
  async function relayed() {
    let sought: string | undefined
    let lost = 0
    const relay = await openRelay(server(), 'redis.sock', (client, upstream, sever) => {
      let losing = false
      client.on('data', (data) => {
        if (sought !== undefined && data.includes(sought)) {
          sought = undefined
          losing = true
        }
        upstream.write(data)
      })
      upstream.on('data', (data) => {
        if (!losing) {
          client.write(data)
          return
        }
        lost++
        sever()
      })
    })
    const redis = new Redis(relay.path, { retryStrategy: () => 1 })
    redis.on('error', () => {})
    onTestFinished(async () => {
      redis.disconnect()
      await relay.close()
    })
    const prefix = newPrefix()
    return {
      prefix,
      store: createRedisVersionStore({ redis, prefix, leaseMs: 60_000 }),
      lose(text: string) {
        sought = text
      },
      lost: () => lost,
    }
  }

  test.each([
    ['claim', "return 'apply'"],
    ['commit', "return 'kept'"],
  ])('a %s that is sent again is answered as the first one was: the effect happens once', async (_, text) => {
    const { prefix, store, lose, lost } = await relayed()
    let effects = 0
    lose(text)
    const decision = store.advance(payment, (tx) => {
      effects++
      tx.write('RPUSH', `${prefix}notes`, 'once')
    })
    expect(await decision).toBe('apply')
    expect([lost(), effects, await direct().lrange(`${prefix}notes`, 0, -1)]).toEqual([1, 1, ['once']])
    expect(await store.current(payment)).toBe(1)
    expect(await store.advance(payment, unwanted)).toBe('duplicate')
    expect(await direct().keys(`${prefix}*:lease`)).toEqual([])
  })

  test('a claim that is sent again does not take the payment from the delivery that holds it', async () => {
    const { prefix, store, lose, lost } = await relayed()
    const holder = createRedisVersionStore({ redis: direct(), prefix, leaseMs: 60_000 })
    const { delivery, release } = await hold(holder)
    lose("return 'apply'")
    const copy = store.advance(payment, unwanted)
    await expect.poll(lost).toBe(1)
    release()
    expect(await Promise.all([delivery, copy])).toEqual(['apply', 'duplicate'])
  })

  test('where another delivery took over and stored the same version, the first one is ERR_LEASE_LOST, not applied', async () => {
    const prefix = newPrefix()
    const store = createRedisVersionStore({ redis: direct(), prefix })
    const call = store.advance(payment, async (tx) => {
      tx.write('RPUSH', `${prefix}notes`, 'first')
      await direct().del(...(await direct().keys(`${prefix}*:lease`)))
      await createRedisVersionStore({ redis: direct(), prefix }).advance(payment, (taken) =>
        taken.write('RPUSH', `${prefix}notes`, 'second'),
      )
    })
    await expect(call).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
    expect(await direct().lrange(`${prefix}notes`, 0, -1)).toEqual(['second'])
  })
})
