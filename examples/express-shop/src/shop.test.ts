import { createClient } from '@payment-integration/client'
import { createDeliveries } from '@payment-integration/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startClauses } from '../../../packages/server/test/support/clause-service.js'
import { facts, indexPayments } from '../../../packages/server/test/support/index-payments.js'
import { postgresMissing, startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import type { Order } from './orders.js'
import { type Shop, startShop } from './shop.js'

const address = `0x${'ab'.repeat(20)}`
const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.61', settlementCurrency: 'USD' }

describe.skipIf(postgresMissing)(
  `on PostgreSQL, beside a real service${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    let postgres: TestPostgres
    let pool: pg.Pool
    let service: Awaited<ReturnType<typeof startClauses>>
    let shop: Shop
    let restart: (reconcileMs: number) => Promise<void>
    let signingSecret: string
    const reports: string[] = []

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
        shop = await startShop({
          pool,
          client,
          secrets,
          reconcileMs,
          port: 0,
          report: (line) => void reports.push(line),
        })
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
    const orderOf = async (id: string) => (await (await fetch(`${shop.url}/orders/${id}`)).json()) as Order
    let made = 0
    /** An order whose payment the service has indexed. */
    async function pay(id: string, price = '12.50') {
      made += 1
      const txHash = `0x${String(made).padStart(64, '0')}`
      await post('/orders', { id, price, currency: 'EUR' })
      await post(`/orders/${id}/payment`, { chainId: '1', txHash })
      await indexPayments(service.store, [facts({ txHash, integrationAddress: address })])
      return txHash
    }
    const succeed = (txHash: string) => service.update({ txHash, state: 'success', invoice })

    test('an order follows its payment, and the goods are released once', async () => {
      const txHash = await pay('order-1')
      await service.deliver()
      expect(await orderOf('order-1')).toMatchObject({ state: null, releasedAt: null })
      await succeed(txHash)
      await service.deliver()
      const released = await orderOf('order-1')
      expect(released).toMatchObject({ state: 'success', releasedAt: expect.any(String) })
      await service.update({ txHash, state: 'refund_pending' })
      await service.deliver()
      expect(await orderOf('order-1')).toEqual({ ...released, state: 'refund_pending' })
    })

    test('a payment of another price moves the order and releases nothing', async () => {
      await succeed(await pay('order-2', '99.00'))
      await service.deliver()
      expect(await orderOf('order-2')).toMatchObject({ state: 'success', releasedAt: null })
    })

    test('a forged delivery is refused, and changes nothing', async () => {
      const txHash = await pay('order-3')
      await service.deliver()
      const forger = createDeliveries({ secret: 'whsec_of_somebody_else' })
      const forged = await forger.good({
        integrationAddress: address,
        chainId: '1',
        txHash,
        version: 9,
        state: 'success',
        recipient: null,
        invoice,
      })
      expect((await fetch(`${shop.url}/webhook`, { method: 'POST', ...forged })).status).toBe(401)
      expect(await orderOf('order-3')).toMatchObject({ state: null, releasedAt: null })
    })

    test('what was never delivered is repaired by the next run of the timer, and by a delivery after it not again', async () => {
      const txHash = await pay('order-4')
      await service.service.integrations.setNotificationUrl(address, null)
      await succeed(txHash)
      expect(await orderOf('order-4')).toMatchObject({ state: null, releasedAt: null })
      await restart(100)
      await expect.poll(() => orderOf('order-4'), { timeout: 20_000 }).toMatchObject({ state: 'success' })
      const released = await orderOf('order-4')
      expect(released.releasedAt).not.toBe(null)
      await service.deliver()
      expect(await orderOf('order-4')).toEqual(released)
      expect(reports.join()).toContain('reconciled: ')
      expect((await pool.query('select checkpoint from reconcile_checkpoint')).rows).toHaveLength(1)
    })
  },
)
