/** A node of a cluster that has the slot of one payment, and no other slot. */
import { Cluster, Redis } from 'ioredis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findFreePort } from '../../webhook/test/free-port.js'
import { createRedisVersionStore } from '../src/exports/redis.js'
import { collect } from './payment.js'
import { redisMissing, startRedis } from './redis-server.js'

const payment = { integrationAddress: `0x${'A1'.repeat(20)}`, chainId: '1', txHash: `0x${'B2'.repeat(32)}`, version: 1 }
/** As the README spells it. */
const hashTag = `{["0x${'a1'.repeat(20)}","1","0x${'b2'.repeat(32)}"]}`

describe.skipIf(redisMissing !== null)(`Redis${redisMissing === null ? '' : ` (${redisMissing})`}`, () => {
  test('a key with the hash tag of its payment is written with the version, one of another node is rejected', async () => {
    const server = await startRedis(
      ...['--cluster-enabled', 'yes', '--cluster-port', `${await findFreePort()}`, '--bind', '127.0.0.1'],
      ...['--cluster-require-full-coverage', 'no'],
    )
    onTestFinished(() => server.remove())
    const redis = new Redis(server.path)
    onTestFinished(() => redis.disconnect())
    await redis.cluster('ADDSLOTS', await redis.cluster('KEYSLOT', hashTag))
    await vi.waitUntil(async () => /cluster_state:ok/.test(await redis.cluster('INFO')), { timeout: 300_000 })

    const store = createRedisVersionStore({ redis })
    const elsewhere = store.advance(payment, (tx) => tx.write('SET', 'order', 'paid'))
    await expect(elsewhere).rejects.toThrow(/non local key/)
    expect(await store.current(payment)).toBeUndefined()
    expect(await store.advance(payment, (tx) => tx.write('SET', `order:${hashTag}`, 'paid'))).toBe('apply')
    expect(await redis.get(`order:${hashTag}`)).toBe('paid')
  })

  test('a cluster of three masters is listed whole, also as the first that is asked of its client', async () => {
    const ports = [await findFreePort(), await findFreePort(), await findFreePort()]
    const busPorts = [await findFreePort(), await findFreePort(), await findFreePort()]
    const nodes = await Promise.all(
      ports.map(async (port, index) => {
        const server = await startRedis(
          ...['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--bind', '127.0.0.1'],
          ...['--port', `${port}`, '--cluster-port', `${busPorts[index]}`],
        )
        onTestFinished(() => server.remove())
        const node = new Redis(server.path)
        onTestFinished(() => node.disconnect())
        await node.cluster('ADDSLOTSRANGE', getSlots(index), getSlots(index + 1) - 1)
        return node
      }),
    )
    const [first, ...others] = nodes as [Redis, ...Redis[]]
    for (const [index] of others.entries())
      await first.call('CLUSTER', 'MEET', '127.0.0.1', `${ports[index + 1]}`, `${busPorts[index + 1]}`)
    const areJoined = async () => {
      const states = await Promise.all(nodes.map((node) => node.cluster('INFO')))
      return states.every((state) => /cluster_state:ok/.test(state) && /cluster_known_nodes:3/.test(state))
    }
    await vi.waitUntil(areJoined, { timeout: 300_000 })

    const open = (lazyConnect = false) => {
      const cluster = new Cluster([{ host: '127.0.0.1', port: ports[0] as number }], { lazyConnect })
      onTestFinished(() => cluster.disconnect())
      return createRedisVersionStore({ redis: cluster })
    }
    const hashes = Array.from({ length: 60 }, (_, n) => `0x${n.toString(16).padStart(64, '0')}`)
    const store = open()
    for (const txHash of hashes) expect(await store.advance({ ...payment, txHash }, () => undefined)).toBe('apply')
    for (const fresh of [store, open(), open(true)]) {
      const listed = await collect(fresh.list(payment.integrationAddress))
      expect([...new Set(listed.map(({ txHash }) => txHash))].sort()).toEqual(hashes)
    }
  })
})

/** The first slot of the one of three masters at `index`. */
const getSlots = (index: number) => Math.floor((16_384 * index) / 3)

test('a cluster that names no master is an error, and no empty listing', async () => {
  const redis = { call: async () => 'PONG', nodes: () => [] }
  const listing = createRedisVersionStore({ redis }).list(payment.integrationAddress)[Symbol.asyncIterator]()
  await expect(listing.next()).rejects.toThrow(/no master/)
})
