/** A node of a cluster that has the slot of one payment, and no other slot. */
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { redisVersionStore } from '../src/exports/redis.js'
import { freePort } from './free-port.js'
import { redisMissing, startRedis } from './redis-server.js'

const payment = { integrationAddress: `0x${'A1'.repeat(20)}`, chainId: '1', txHash: `0x${'B2'.repeat(32)}`, version: 1 }
/** As the README spells it. */
const hashTag = `{["0x${'a1'.repeat(20)}","1","0x${'b2'.repeat(32)}"]}`

describe.skipIf(redisMissing !== null)(`Redis${redisMissing === null ? '' : ` (${redisMissing})`}`, () => {
  test('a key with the hash tag of its payment is written with the version, one of another node is refused', async () => {
    const server = await startRedis(
      ...['--cluster-enabled', 'yes', '--cluster-port', `${await freePort()}`, '--bind', '127.0.0.1'],
      ...['--cluster-require-full-coverage', 'no'],
    )
    onTestFinished(() => server.remove())
    const redis = new Redis(server.path)
    onTestFinished(() => redis.disconnect())
    await redis.cluster('ADDSLOTS', await redis.cluster('KEYSLOT', hashTag))
    await vi.waitUntil(async () => /cluster_state:ok/.test(await redis.cluster('INFO')), { timeout: 20_000 })

    const store = redisVersionStore({ redis })
    const elsewhere = store.advance(payment, (tx) => tx.write('SET', 'order', 'paid'))
    await expect(elsewhere).rejects.toThrow(/non local key/)
    expect(await store.current(payment)).toBeUndefined()
    expect(await store.advance(payment, (tx) => tx.write('SET', `order:${hashTag}`, 'paid'))).toBe('apply')
    expect(await redis.get(`order:${hashTag}`)).toBe('paid')
  }, 30_000)
})
