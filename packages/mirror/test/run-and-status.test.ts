import { EventEmitter, once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { integrationAddress } from '../../client/test/fixtures.js'
import { findTime, startService } from '../../client/test/service.js'
import { range } from '../../client/test/shop.js'
import { createMirror } from '../src/exports/index.js'
import { firstPayment, getDelivery, makeSnapshot, secret } from './copy.js'
import { engines, nextPrefix } from './engines.js'
import { useEngine } from './open-mirror.js'

describe.each(engines)('$name', async ({ open }) => {
  const { engine, openMirror } = await useEngine(open)
  const sleep = async () => undefined

  test('status shows the lag, and the error of a service that does not answer', async () => {
    await using service = await startService()
    await service.index(5)
    const mirror = await openMirror(service, { clock: { now: () => Date.UTC(2026, 0, 3), sleep } })
    await mirror.reconcile()
    await service.index(0)
    const at = new Date(Date.UTC(2026, 0, 3)).toISOString()
    expect(await mirror.status()).toMatchObject({
      ...{ rows: 1, newest: findTime(5).toISOString(), newestAtService: findTime(0).toISOString() },
      ...{ lagMs: 5_000, serviceError: null, reconciledAt: at, reconciledFullyAt: at, deliveredAt: null },
    })
    const silent = service.client({ maxRetries: 0, fetch: () => Promise.reject(new TypeError('fetch failed')) })
    const cut = await openMirror(service, { client: silent, prefix: mirror.prefix })
    const unknown = { rows: 1, lagMs: null, newestAtService: null, serviceError: 'ERR_NETWORK' }
    expect(await cut.status()).toMatchObject(unknown)
  })

  test('deliveredAt follows a clock that steps back', async () => {
    await using service = await startService()
    await service.index(0)
    let at = Date.now()
    const mirror = await openMirror(service, { clock: { now: () => at, sleep } })
    await mirror.deliver(0)
    at -= 60_000
    await mirror.deliver(0)
    expect((await mirror.status()).deliveredAt).toBe(new Date(at).toISOString())
  })

  test('run reconciles at once, completes rows as deliveries arrive, and resolves at the signal', async () => {
    await using service = await startService()
    await service.index(0, 1)
    const stop = new AbortController()
    const events = new EventEmitter()
    const [copied, completed] = [once(events, 'reconciled'), once(events, 'completed')]
    const mirror = await openMirror(service, { onEvent: ({ type }) => void events.emit(type) })
    const running = mirror.run({ signal: stop.signal })
    await copied
    await service.update(1, 'success')
    await mirror.deliver(1)
    await completed
    await mirror.expectFullCopy()
    stop.abort()
    await running
  })

  test('run goes on after a service that does not answer, and rejects at once for a wrong secret', async () => {
    await using service = await startService()
    await service.index(0)
    const stop = new AbortController()
    let requests = 0
    const client = service.client({
      maxRetries: 0,
      fetch: (url, init) => (++requests === 1 ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init)),
    })
    const seen: string[] = []
    const mirror = await openMirror(service, {
      client,
      onEvent: (event) => {
        seen.push(event.type)
        if (event.type === 'reconciled') stop.abort()
      },
    })
    await mirror.run({ everyMs: 1, signal: stop.signal })
    expect(seen).toEqual(['failed', 'progress', 'reconciled'])
    await mirror.expectFullCopy()
    const locked = await openMirror(service, { client: service.client({ apiSecret: 'wrong' }) })
    const { signal } = new AbortController()
    await expect(locked.run({ signal })).rejects.toMatchObject({ code: 'ERR_UNAUTHORIZED' })
  })

  test('a missing table and a table of someone else are errors of the mirror', async () => {
    await using service = await startService()
    const prefix = nextPrefix()
    const options = { database: engine.connect(), client: service.client(), integrationAddress, prefix }
    await expect(createMirror(options).reconcile()).rejects.toMatchObject({ code: 'ERR_MIRROR_TABLES_MISSING' })
    const texts = ['integration_address', 'block_timestamp', 'tx_hash', 'chain_id'].map((name) => `${name} text`)
    await engine.query(`CREATE TABLE ${prefix}payments (${texts.join(', ')}, body_version int, version int)`)
    await expect(createMirror(options).migrate()).rejects.toMatchObject({ code: 'ERR_MIRROR_TABLE_FOREIGN' })
  })

  test('migrate may run in several processes at once, and again', async () => {
    await using service = await startService()
    const prefix = nextPrefix()
    await Promise.all(range(6).map(() => openMirror(service, { database: engine.connect(), prefix })))
    const mirror = await openMirror(service, { prefix })
    expect(await mirror.status()).toMatchObject({ rows: 0, incomplete: 0, lagMs: null, copied: false })
  })
})

test('a SQLite connection waits for the lock of another one, and then reports that it is busy', async () => {
  await using service = await startService()
  await service.index(0)
  const [sqlite] = engines
  const engine = await sqlite.open()
  try {
    const options = { client: service.client(), integrationAddress, secrets: secret, prefix: nextPrefix() }
    const locker = engine.connect()
    const clock = { now: () => Date.now(), sleep: async () => release() }
    const waiting = createMirror({ database: engine.connect(), clock, ...options })
    const hasty = createMirror({ database: engine.connect(), busyTimeoutMs: 0, ...options })
    await hasty.migrate()
    if (!('exec' in locker)) throw new Error('the fixtures are broken')
    const delivery = await getDelivery(makeSnapshot(await firstPayment(service)))
    const release = () => void locker.exec('COMMIT')
    locker.exec('BEGIN IMMEDIATE')
    await expect(hasty.receive(delivery)).rejects.toMatchObject({ code: 'ERR_VERSION_STORE_BUSY' })
    expect((await waiting.receive(delivery)).decision).toBe('apply')
  } finally {
    await engine.close()
  }
})
