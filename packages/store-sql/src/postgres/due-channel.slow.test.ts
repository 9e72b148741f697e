import type { Store } from '@payment-integration/core/ports'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onPostgres } from '../../test/support/on-postgres.js'

const { claimOne, failed, hash, indexed, settleOne } = fixtures

onPostgres('word of due deliveries', ({ admin, nextSchema, open, openMigrated, onEnd }) => {
  /** Two stores over one new schema, as two processes have them. */
  async function twoStores(): Promise<readonly [Store, Store]> {
    const schema = nextSchema()
    return [await openMigrated({ schema }), open({ schema })]
  }

  /** Listens, and waits until it is heard that listening began. */
  async function listen(store: Store) {
    let heard = 0
    let wake: () => void = () => undefined
    const stop = store.deliveries.whenDue(() => {
      heard += 1
      wake()
    })
    onEnd(stop)
    const next = () =>
      new Promise<void>((resolve) => {
        wake = resolve
      })
    if (heard === 0) await next()
    return { stop, next, heard: () => heard }
  }

  const listening = async () => {
    const { rows } = await admin().query<{ pid: number }>(
      `select pid from pg_stat_activity where query like 'listen payment_integration_%'`,
    )
    return rows.map(({ pid }) => pid)
  }

  test('a commit of another store is announced long before the next poll', async () => {
    const [publisher, dispatcher] = await twoStores()
    const { next } = await listen(dispatcher)
    const delays: number[] = []
    for (let n = 1; n <= 10; n += 1) {
      const word = next()
      await indexed(publisher, { txHash: hash(n) })
      const committed = performance.now()
      await word
      delays.push(performance.now() - committed)
      await claimOne(dispatcher)
    }
    // The fastest of ten: how busy this machine is says nothing of the word.
    expect(Math.min(...delays)).toBeLessThan(100)
  })

  test('a replay is announced too; a commit without due deliveries is not', async () => {
    const [publisher, dispatcher] = await twoStores()
    await indexed(publisher)
    await settleOne(publisher, await claimOne(publisher), failed, { kind: 'exhausted' })
    const { next, heard } = await listen(dispatcher)
    const before = heard()
    await indexed(publisher, { txHash: hash(2), integrationAddress: null })
    await publisher.transaction((tx) => tx.replayDeliveries({ deliveryId: '987654321', limit: 1 }))
    const word = next()
    await publisher.transaction((tx) => tx.replayDeliveries({ limit: 10 }))
    await word
    expect(heard()).toBe(before + 1)
  })

  test('many concurrent commits cost few announcements', async () => {
    const [publisher, dispatcher] = await twoStores()
    const { next, heard } = await listen(dispatcher)
    const before = heard()
    const word = next()
    await Promise.all(Array.from({ length: 40 }, (_, n) => indexed(publisher, { txHash: hash(n + 1) })))
    await word
    expect(heard() - before).toBeLessThan(40)
  })

  test('a listener reconnects after its connection broke, and wakes', async () => {
    const [publisher, dispatcher] = await twoStores()
    const { next } = await listen(dispatcher)
    for (let cut = 1; cut <= 2; cut += 1) {
      const again = next()
      const [pid] = await listening()
      expect(pid).toBeDefined()
      await admin().query('select pg_terminate_backend($1)', [pid])
      await again
      const word = next()
      await indexed(publisher, { txHash: hash(cut) })
      await word
    }
  })

  test('two listeners of one store share a connection, which is closed with the last of them', async () => {
    const [publisher, dispatcher] = await twoStores()
    const first = await listen(dispatcher)
    const secondHeard: string[] = []
    const stopSecond = dispatcher.deliveries.whenDue(() => secondHeard.push('word'))
    expect(await listening()).toHaveLength(1)
    first.stop()
    first.stop()
    await indexed(publisher)
    await expect.poll(() => secondHeard.length, { timeout: 300_000 }).toBeGreaterThan(0)
    expect(first.heard()).toBe(1)
    stopSecond()
    await expect.poll(listening, { timeout: 300_000 }).toEqual([])
  })

  test('a closed store stops listening, and schemas are independent', async () => {
    const [publisher] = await twoStores()
    const [, stranger] = await twoStores()
    const { heard } = await listen(stranger)
    await indexed(publisher)
    await indexed(publisher, { txHash: hash(2) })
    expect(heard()).toBe(1)
    await stranger.close()
    await expect.poll(listening, { timeout: 300_000 }).toEqual([])
  })
})
