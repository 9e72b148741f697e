import { createClient } from '@payment-integration/client'
import { createDeliveries } from '@payment-integration/testing'
import { runDoctor } from '@payment-integration/testing/doctor'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startClauses } from '../../../packages/server/test/support/clause-service.js'
import { facts, indexPayments } from '../../../packages/server/test/support/index-payments.js'
import { startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { describeOnPostgres } from '../../../packages/store-sql/test/support/on-postgres.js'
import { inTransaction } from './in-transaction.js'
import { applySnapshot, type Order } from './orders.js'
import { type Shop, startShop } from './shop.js'

const address = `0x${'ab'.repeat(20)}`
const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
const receiver = `0x${'6A'.repeat(20)}`
const report = (line: string) => void reports.push(line)
const reports: string[] = []
const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.61', settlementCurrency: 'USD' }

/** A success of the invoice, as the service sends it. */
const makeSnapshot = (txHash: string) => ({
  ...{ integrationAddress: address, chainId: '1', txHash, version: 2, recipient: null, invoice },
  state: 'success' as const,
})

describeOnPostgres('on PostgreSQL, beside a real service', () => {
  let postgres: TestPostgres
  let pool: pg.Pool
  let service: Awaited<ReturnType<typeof startClauses>>
  let shop: Shop
  let restart: (reconcileMs: number) => Promise<void>
  let signingSecret: string

  beforeAll(async () => {
    postgres = await startPostgres()
    pool = new pg.Pool({ connectionString: postgres.connectionString })
    service = await startClauses()
    const created = await service.service.integrations.create({ address })
    signingSecret = created.signingSecret
    const client = createClient({ baseUrl: service.url, integrationAddress: address, apiSecret: created.apiSecret })
    restart = async (reconcileMs) => {
      await shop?.stop()
      const secrets = [signingSecret]
      shop = await startShop({ pool, client, secrets, receiver, reconcileMs, port: 0, report })
      await service.service.integrations.setNotificationUrl(address, `${shop.url}/webhook`)
    }
    await restart(3_600_000)
  })
  afterAll(async () => {
    await shop?.stop()
    await service?.stop()
    await pool?.end()
    await postgres?.remove()
  })

  const post = (path: string, body: object) =>
    fetch(`${shop.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const getOrder = async (id: string) => (await (await fetch(`${shop.url}/orders/${id}`)).json()) as Order
  async function order(item = 'beans') {
    const answer = await post('/orders', { item })
    return ((await answer.json()) as Order).id
  }
  const attach = async (id: string, txHash: string) => (await post(`/orders/${id}/payment`, { txHash })).status
  let made = 0
  /** A payment that the service has indexed. */
  async function pay(memo: string, to = receiver) {
    made += 1
    const txHash = `0x${String(made).padStart(64, '0')}`
    const memoHex = `0x${Buffer.from(memo).toString('hex').padEnd(64, '0')}`
    const payment = { txHash, memoHex, integrationAddress: address, receiver: to.toLowerCase() }
    await indexPayments(service.store, [facts(payment)])
    return txHash
  }
  /** An order with its payment. */
  async function sell(item?: string) {
    const id = await order(item)
    const txHash = await pay(id)
    expect(await attach(id, txHash)).toBe(204)
    return { id, txHash }
  }
  const succeed = (txHash: string, change: object = {}) =>
    service.update({ txHash, state: 'success', invoice: { ...invoice, ...change } })

  test('an order follows its payment, and the goods are released once', async () => {
    const { id, txHash } = await sell()
    await service.deliver()
    expect(await getOrder(id)).toMatchObject({ payments: [{ txHash, state: null }], releasedAt: null })
    await succeed(txHash)
    await service.deliver()
    const released = await getOrder(id)
    expect(released).toMatchObject({ payments: [{ txHash, state: 'success' }], releasedAt: expect.any(String) })
    await service.update({ txHash, state: 'refund_pending' })
    await service.deliver()
    expect(await getOrder(id)).toEqual({ ...released, payments: [{ txHash, state: 'refund_pending' }] })
  })

  test('a success before the payment is attached releases the goods at the attachment', async () => {
    const id = await order()
    const txHash = await pay(id)
    await succeed(txHash)
    await service.deliver()
    expect(await getOrder(id)).toMatchObject({ payments: [], releasedAt: null })
    expect(await attach(id, txHash)).toBe(204)
    const released = await getOrder(id)
    expect(released).toMatchObject({ payments: [{ txHash, state: 'success' }], releasedAt: expect.any(String) })
    expect(await attach(id, txHash)).toBe(204)
    expect(await getOrder(id)).toEqual(released)
  })

  test('a success that is revoked before the payment is attached releases nothing', async () => {
    const id = await order()
    const txHash = await pay(id)
    await succeed(txHash)
    await service.update({ txHash, state: 'refund_pending' })
    await service.deliver()
    expect(await attach(id, txHash)).toBe(204)
    expect(await getOrder(id)).toMatchObject({ payments: [{ txHash, state: 'refund_pending' }], releasedAt: null })
  })

  test('a success that a reorg revokes after the release is reported, and releases nothing again', async () => {
    const { id, txHash } = await sell()
    await succeed(txHash)
    await service.deliver()
    const released = await getOrder(id)
    const apply = (change: object) =>
      inTransaction(pool, (tx) => applySnapshot(tx, { ...makeSnapshot(txHash), ...change }, report))
    reports.length = 0
    await apply({ version: 3, state: 'failure' })
    expect(reports).toEqual([`order ${id} was released, and its payment ${txHash} is a failure now`])
    await apply({ version: 4 })
    expect(reports).toHaveLength(1)
    expect(await getOrder(id)).toEqual(released)
  })

  test('a payment that is attached while its success is being recorded releases the goods', async () => {
    const id = await order()
    const txHash = await pay(id)
    let attaching: Promise<number> | undefined
    await inTransaction(pool, async (tx) => {
      await applySnapshot(tx, makeSnapshot(txHash), () => undefined)
      attaching = attach(id, txHash)
      const waits = async () => (await pool.query(waiting)).rowCount
      await expect.poll(waits, { timeout: 300_000 }).toBe(1)
    })
    expect(await attaching).toBe(204)
    expect(await getOrder(id)).toMatchObject({ releasedAt: expect.any(String) })
  })

  test('a payment of another order, one to another receiver and one that is not indexed are not attached', async () => {
    const { id, txHash } = await sell()
    const thief = await order()
    expect(await attach(thief, txHash)).toBe(409)
    expect(await attach(id, await pay(id, `0x${'66'.repeat(20)}`))).toBe(409)
    expect(await attach(id, `0x${'f'.repeat(64)}`)).toBe(404)
    expect(await attach('no-such-order', await pay('no-such-order'))).toBe(404)
    expect(await attach(id, 'no hash')).toBe(400)
    await succeed(txHash)
    await service.deliver()
    expect(await getOrder(thief)).toMatchObject({ payments: [], releasedAt: null })
    expect(await getOrder(id)).toMatchObject({ payments: [{ txHash, state: 'success' }] })
  })

  test('a payment without an order is accepted, so that the endpoint stays open', async () => {
    const delivery = await createDeliveries({ secret: signingSecret }).good(makeSnapshot(await pay('dust')))
    expect((await fetch(`${shop.url}/webhook`, { method: 'POST', ...delivery })).status).toBe(204)
  })

  test('the price comes from the catalog, never from the request', async () => {
    const answer = await post('/orders', { item: 'grinder', price: '0.01', currency: 'EUR' })
    const ordered = { id: expect.any(String), price: '99.00', currency: 'EUR' }
    expect([answer.status, await answer.json()]).toEqual([201, ordered])
    expect((await post('/orders', { item: 'constructor' })).status).toBe(400)
  })

  test.each([
    ['the same amount in other digits', 'beans', { amount: '12.5' }, true],
    ['another amount', 'grinder', {}, false],
    ['the amount in another currency', 'beans', { currency: 'USD' }, false],
  ])('a success over %s: released or reported', async (_, item, change, isReleased) => {
    const { id, txHash } = await sell(item)
    await succeed(txHash, change)
    await service.deliver()
    const found = await getOrder(id)
    expect([found.payments[0]?.state, found.releasedAt !== null]).toEqual(['success', isReleased])
    expect(reports.some((line) => line.startsWith(`order ${id} costs `))).toBe(!isReleased)
  })

  test('a forged delivery is rejected, and changes nothing; the report has its code', async () => {
    const { id, txHash } = await sell()
    await service.deliver()
    const forger = createDeliveries({ secret: 'whsec_of_somebody_else' })
    const forged = await forger.good({ ...makeSnapshot(txHash), version: 9 })
    expect((await fetch(`${shop.url}/webhook`, { method: 'POST', ...forged })).status).toBe(401)
    expect(await getOrder(id)).toMatchObject({ payments: [{ state: null }], releasedAt: null })
    expect(reports).toContain('a delivery was rejected: ERR_SIGNATURE_MISMATCH')
  })

  test('the shop passes the doctor', async () => {
    const url = `${shop.url}/webhook`
    const outcome = await runDoctor({ url, signingSecret, integrationAddress: address, timeoutMs: 120_000 })
    expect([outcome.findings, outcome.notRun]).toEqual([[], 0])
  })

  test('a lost delivery is repaired by the next run of the timer, and a later delivery does not repeat the effect', async () => {
    const { id, txHash } = await sell()
    await service.service.integrations.setNotificationUrl(address, null)
    await succeed(txHash)
    expect(await getOrder(id)).toMatchObject({ payments: [{ state: null }], releasedAt: null })
    await restart(100)
    await expect.poll(() => getOrder(id), { timeout: 300_000 }).toMatchObject({ payments: [{ state: 'success' }] })
    const released = await getOrder(id)
    expect(released.releasedAt).not.toBe(null)
    await service.deliver()
    expect(await getOrder(id)).toEqual(released)
    expect(reports.join()).toContain('reconciled: ')
    expect((await pool.query('select checkpoint from reconcile_checkpoint')).rows).toHaveLength(1)
  })
})
