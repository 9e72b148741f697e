/** A connection that breaks before its answer came: ioredis connects again and sends the command again. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createRedisVersionStore } from '../src/exports/redis.js'
import { redisMissing, startRedis, type TestRedis } from './redis-server.js'
import { tie } from './tie-sockets.js'

const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash: `0x${'b2'.repeat(32)}`, version: 1 }

describe.skipIf(redisMissing !== null)(`Redis${redisMissing === null ? '' : ` (${redisMissing})`}`, () => {
  let server: TestRedis
  let direct: Redis
  let prefixes = 0
  beforeAll(async () => {
    server = await startRedis()
    direct = new Redis(server.path)
  })
  afterAll(async () => {
    direct?.disconnect()
    await server?.remove()
  })

  /** A client behind a relay. `lose` breaks the connection instead of answering the next command with this text. */
  async function relayed() {
    const folder = mkdtempSync(join(tmpdir(), 'version-store-resend-'))
    const sockets = new Set<Socket>()
    let sought: string | undefined
    let lost = 0
    const relay = createServer((client) => {
      const upstream = connect(server.path)
      let losing = false
      const sever = tie(client, upstream, sockets)
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
    const path = join(folder, 'relay.sock')
    relay.listen(path)
    await once(relay, 'listening')
    const redis = new Redis(path, { retryStrategy: () => 1 })
    redis.on('error', () => {})
    onTestFinished(async () => {
      redis.disconnect()
      for (const socket of sockets) socket.destroy()
      relay.close()
      await once(relay, 'close')
      rmSync(folder, { recursive: true, force: true })
    })
    const prefix = `resend-${++prefixes}:`
    return {
      prefix,
      store: createRedisVersionStore({ redis, prefix, leaseMs: 60_000 }),
      lose(text: string) {
        sought = text
      },
      lost: () => lost,
    }
  }

  const scripts = [
    ['claim', "return 'claimed'"],
    ['commit', "return 'kept'"],
  ] as const

  test.each(scripts)(
    'a %s that is sent again is answered as the first one was: the effect happens once',
    async (_, text) => {
      const { prefix, store, lose, lost } = await relayed()
      let effects = 0
      lose(text)
      const decision = store.advance(payment, (tx) => {
        effects++
        tx.write('RPUSH', `${prefix}notes`, 'once')
      })
      expect(await decision).toBe('apply')
      expect([lost(), effects, await direct.lrange(`${prefix}notes`, 0, -1)]).toEqual([1, 1, ['once']])
      expect(await store.current(payment)).toBe(1)
      expect(await store.advance(payment, () => expect.unreachable())).toBe('duplicate')
      expect(await direct.keys(`${prefix}*:lease`)).toEqual([])
    },
  )

  test('a claim that is sent again does not take the payment from the delivery that holds it', async () => {
    const { prefix, store, lose, lost } = await relayed()
    let release: (() => void) | undefined
    const holder = createRedisVersionStore({ redis: direct, prefix, leaseMs: 60_000 }).advance(
      payment,
      () => new Promise<void>((resolve) => (release = resolve)),
    )
    await expect.poll(() => release).toBeDefined()
    lose("return 'claimed'")
    const copy = store.advance(payment, () => expect.unreachable())
    await expect.poll(lost).toBe(1)
    release?.()
    expect(await Promise.all([holder, copy])).toEqual(['apply', 'duplicate'])
  })

  test('where another delivery took over and stored the same version, the first one is ERR_LEASE_LOST, not applied', async () => {
    const prefix = `resend-${++prefixes}:`
    const store = createRedisVersionStore({ redis: direct, prefix })
    const call = store.advance(payment, async (tx) => {
      tx.write('RPUSH', `${prefix}notes`, 'first')
      await direct.del(...(await direct.keys(`${prefix}*:lease`)))
      await createRedisVersionStore({ redis: direct, prefix }).advance(payment, (taken) =>
        taken.write('RPUSH', `${prefix}notes`, 'second'),
      )
    })
    await expect(call).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
    expect(await direct.lrange(`${prefix}notes`, 0, -1)).toEqual(['second'])
  })

  test('great versions come back exactly', async () => {
    const { store } = await relayed()
    const version = Number.MAX_SAFE_INTEGER
    expect(await store.advance({ ...payment, version: version - 1 }, () => {})).toBe('apply')
    expect(await store.advance({ ...payment, version }, () => {})).toBe('apply')
    expect(await store.current(payment)).toBe(version)
  })
})
