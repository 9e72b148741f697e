import { describe, expect, test } from 'vitest'
import { findTime, paymentHash, startService } from '../../client/test/service.js'
import { range } from '../../client/test/shop.js'
import { firstPayment, getBodies, getCopy, getDelivery, makeSnapshot, payments } from './copy.js'
import { engines, nextPrefix } from './engines.js'
import { failingDatabase } from './failing-database.js'
import { useEngine } from './open-mirror.js'

describe.each(engines)('$name', async ({ open }) => {
  const { engine, openMirror } = await useEngine(open)

  test('the first run copies every payment of several pages, field by field', async () => {
    await using service = await startService()
    await service.index(...range(7))
    await service.update(3, 'success')
    const mirror = await openMirror(service)
    const whole = { full: true, stopped: 'end', pages: 3, added: 7, updated: 0, incomplete: 0, unknown: { count: 0 } }
    expect(await mirror.reconcile({ pageSize: 3 })).toMatchObject(whole)
    await mirror.expectFullCopy()
  })

  test('a delivery stores its snapshot at once, and complete() reads the other columns', async () => {
    await using service = await startService()
    await service.index(0)
    await service.update(0, 'pending')
    const mirror = await openMirror(service)
    const requests = service.requests.length
    expect((await mirror.deliver(0)).decision).toBe('apply')
    // The test itself looked the payment up; receive() asked nothing.
    expect(service.requests).toHaveLength(requests + 1)
    expect(await getCopy(engine, mirror.prefix)).toMatchObject([{ version: 2, state: 'pending', sender: null }])
    expect(await mirror.status()).toMatchObject({ rows: 1, incomplete: 1, newest: null })
    expect(await mirror.complete()).toEqual({ completed: 1, incomplete: 0 })
    await mirror.expectFullCopy()
    expect(await mirror.status()).toMatchObject({ incomplete: 0, newest: findTime(0).toISOString(), lagMs: 0 })
  })

  test('duplicate and reordered deliveries leave the newest version', async () => {
    await using service = await startService()
    await service.index(0)
    const mirror = await openMirror(service)
    const first = await firstPayment(service)
    await service.update(0, 'pending')
    await service.update(0, 'success')
    expect((await mirror.deliver(0)).decision).toBe('apply')
    expect((await mirror.deliver(0)).decision).toBe('duplicate')
    expect((await mirror.receive(await getDelivery(makeSnapshot(first)))).decision).toBe('stale')
    await mirror.complete()
    await mirror.expectFullCopy()
  })

  test('an older read replaces no column of a newer delivery', async () => {
    await using service = await startService()
    await service.index(0)
    const old = await firstPayment(service)
    await service.update(0, 'success')
    const behind = { ...service.client().payments, get: async () => old }
    const mirror = await openMirror(service, { client: { ...service.client(), payments: behind } })
    await mirror.receive(await getDelivery({ ...makeSnapshot(old), version: 2, state: 'success' }))
    expect(await mirror.complete()).toEqual({ completed: 0, incomplete: 1 })
    expect(await getCopy(engine, mirror.prefix)).toEqual([{ ...old, version: 2, state: 'success' }])
    // The read was not of the newest version, so the row is still to be read.
    expect(await mirror.status()).toMatchObject({ incomplete: 1 })
  })

  test('a run repairs lost deliveries: missing, stale and incomplete payments', async () => {
    await using service = await startService()
    await service.index(...range(4))
    const mirror = await openMirror(service)
    await mirror.reconcile()
    await service.index(-1)
    await service.update(2, 'failure')
    await service.update(3, 'success')
    await mirror.deliver(3)
    expect(await mirror.reconcile()).toMatchObject({ full: false, added: 1, updated: 1, completed: 1, incomplete: 0 })
    await mirror.expectFullCopy()
    expect(await mirror.reconcile()).toMatchObject({ added: 0, updated: 0, completed: 0, refreshed: 0 })
  })

  test('a run finds facts that a reorg changed without a new version', async () => {
    await using service = await startService()
    await service.index(...range(3))
    const mirror = await openMirror(service)
    await mirror.reconcile()
    await service.move(1, findTime(-5))
    expect(await mirror.reconcile()).toMatchObject({ added: 0, updated: 0, refreshed: 1 })
    await mirror.expectFullCopy()
  })

  test('a run to the end reports rows that the service does not have, and deletes none', async () => {
    await using service = await startService()
    await service.index(0)
    const client = service.client()
    const asked: string[] = []
    const get: typeof client.payments.get = (...given) =>
      asked.push('get') === 2 ? Promise.reject(new Error('cut')) : client.payments.get(...given)
    const mirror = await openMirror(service, { client: { ...client, payments: { ...client.payments, get } } })
    const one = await firstPayment(service)
    await mirror.receive(await getDelivery({ ...makeSnapshot(one), txHash: paymentHash(77) }))
    await expect(mirror.reconcile({ full: true })).rejects.toThrow('cut')
    expect(await mirror.status()).toMatchObject({ copied: true })
    const { unknown, incomplete } = await mirror.reconcile({ full: true })
    expect(unknown?.samples).toEqual([{ chainId: '137', txHash: paymentHash(77), reason: 'not_found' }])
    expect(incomplete).toBe(1)
    expect(await getCopy(engine, mirror.prefix)).toHaveLength(2)
  })

  test('a hash on two chains is two rows, which a run to the end completes', async () => {
    await using service = await startService()
    await service.index(0, 1)
    await service.indexOn(10, 0)
    const mirror = await openMirror(service)
    for (const payment of await payments(service.client()))
      await mirror.receive(await getDelivery(makeSnapshot(payment)))
    expect(await mirror.complete()).toEqual({ completed: 1, incomplete: 2 })
    expect(await mirror.reconcile({ full: true })).toMatchObject({ completed: 2, incomplete: 0 })
    await mirror.expectFullCopy()
  })

  test('an interrupted run goes on at its page after a restart with the same database', async () => {
    await using service = await startService()
    await service.index(...range(6))
    const before = await openMirror(service)
    expect(await before.reconcile({ pageSize: 2, maxPages: 1 })).toMatchObject({ stopped: 'max_pages', compared: 2 })
    expect(await before.status()).toMatchObject({ rows: 2, copied: false, lagMs: 0 })
    const after = await openMirror(service, { database: engine.connect(), prefix: before.prefix })
    expect(await after.reconcile({ pageSize: 2 })).toMatchObject({ stopped: 'end', pages: 2, added: 4 })
    expect(await after.status()).toMatchObject({ rows: 6, copied: true })
    await after.expectFullCopy()
  })

  test('a database that fails in the middle of a page loses nothing', async () => {
    await using service = await startService()
    await service.index(...range(6))
    let writes = 0
    const failing = failingDatabase(engine.connect(), (sql) => /body_version = excluded/.test(sql) && ++writes === 4)
    const before = await openMirror(service, { database: failing })
    await expect(before.reconcile({ pageSize: 2 })).rejects.toThrow('the disk is gone')
    expect(await before.status()).toMatchObject({ rows: 3, copied: false })
    const after = await openMirror(service, { prefix: before.prefix })
    expect(await after.reconcile({ pageSize: 2 })).toMatchObject({ stopped: 'end', added: 3 })
    await after.expectFullCopy()
  })

  test('a process that ends between the commit and the look-up leaves a row that the next process completes', async () => {
    await using service = await startService()
    await service.index(0)
    const client = service.client()
    const dying = { ...client.payments, get: () => Promise.reject(new Error('killed')) }
    const before = await openMirror(service, { client: { ...client, payments: dying } })
    await before.deliver(0)
    await expect(before.complete()).rejects.toThrow('killed')
    const after = await openMirror(service, { database: engine.connect(), prefix: before.prefix })
    expect(await after.complete()).toEqual({ completed: 1, incomplete: 0 })
    await after.expectFullCopy()
  })

  test('two mirrors on one database share the copy', async () => {
    await using service = await startService()
    await service.index(...range(12))
    const prefix = nextPrefix()
    const both = await Promise.all([
      openMirror(service, { database: engine.connect(), prefix }),
      openMirror(service, { database: engine.connect(), prefix }),
    ])
    const [one, other] = both
    const found = await Promise.all(both.map(({ reconcile }) => reconcile({ pageSize: 3 })))
    expect(found.map(({ stopped }) => stopped)).toEqual(['end', 'end'])
    await service.update(2, 'success')
    const decisions = await Promise.all([one.deliver(2), other.deliver(2)])
    expect(decisions.map(({ decision }) => decision).sort()).toEqual(['apply', 'duplicate'])
    await Promise.all(both.map(({ complete }) => complete()))
    await one.expectFullCopy()
  })

  test('mirrors of two integrations share the tables', async () => {
    await using service = await startService()
    const other = `0x${'cd'.repeat(20)}`
    await service.index(0)
    const mirror = await openMirror(service)
    await mirror.reconcile()
    const foreign = await openMirror(service, { integrationAddress: other, prefix: mirror.prefix })
    const one = await firstPayment(service)
    await foreign.receive(await getDelivery({ ...makeSnapshot(one), integrationAddress: other }))
    expect(await foreign.status()).toMatchObject({ rows: 1, incomplete: 1, copied: false })
    expect(await mirror.status()).toMatchObject({ rows: 1, incomplete: 0, copied: true })
  })

  test('a delivery and a client of another integration are rejected, even before its first payment, and store nothing', async () => {
    await using service = await startService()
    const mirror = await openMirror(service, { integrationAddress: `0x${'cd'.repeat(20)}` })
    await expect(mirror.reconcile()).rejects.toMatchObject({ code: 'ERR_MIRROR_OTHER_INTEGRATION' })
    await service.index(0)
    await expect(mirror.deliver(0)).rejects.toMatchObject({ code: 'ERR_MIRROR_OTHER_INTEGRATION' })
    expect(await getCopy(engine, mirror.prefix)).toEqual([])
  })

  test('hostile text and an unknown state pass, and body keeps unknown fields and what no text column holds', async () => {
    await using service = await startService()
    await service.index(0)
    const hostile = `'); DROP\u001b[2J\u202e$1 ? "🏴`
    const memo = `${hostile}a\u0000b\ud800c`
    const newer = (payment: object) => ({ ...payment, state: 'charged_back', memo, channel: { name: 'app' } })
    const client = service.client({
      fetch: async (url, init) => {
        const answer = (await (await fetch(url, init)).json()) as { payments?: object[] }
        return Response.json(answer.payments ? { ...answer, payments: answer.payments.map(newer) } : newer(answer))
      },
    })
    const mirror = await openMirror(service, { client })
    await mirror.reconcile()
    const stored = { state: 'charged_back', memo: `${hostile}a\ufffdb\ufffdc` }
    expect(await getCopy(engine, mirror.prefix)).toMatchObject([stored])
    expect(await getBodies(engine, mirror.prefix)).toMatchObject([{ memo, channel: { name: 'app' } }])
    expect(await mirror.reconcile()).toMatchObject({ refreshed: 0 })
    const one = await firstPayment(service)
    const title = 'Caf\u0000é'
    const next = { ...makeSnapshot(one), version: 2, state: 'charged_back', recipient: { title, subtitle: null } }
    expect((await mirror.receive(await getDelivery({ ...next, risk: 1 } as typeof next))).decision).toBe('apply')
    expect(await getCopy(engine, mirror.prefix)).toMatchObject([{ version: 2, recipient: { title: 'Caf\ufffdé' } }])
  })
})
