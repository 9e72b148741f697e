import { randomBytes } from 'node:crypto'
import type { Anvil, DevDeployment } from '@payment-integration/chain-evm/dev'
import { createPayer, deployDevRouter, startAnvil } from '@payment-integration/chain-evm/dev'
import { createClient } from '@payment-integration/client'
import { createTestDelivery } from '@payment-integration/webhook/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startRecordingReceiver } from '../../../packages/server/test/support/recording-receiver.js'
import { startPostgres, type TestPostgres } from '../../../packages/store-sql/test/postgres.js'
import { describeOnPostgres } from '../../../packages/store-sql/test/support/on-postgres.js'
import { type Host, startHost } from './host.js'
import { addOrder } from './orders.js'

const integrationAddress = '0xabcdef0123456789abcdef0123456789abcdef01'
const receiver = '0x2222222222222222222222222222222222222222'

describeOnPostgres('a host on PostgreSQL', () => {
  let postgres: TestPostgres
  let anvil: Anvil
  let deployment: DevDeployment
  let host: Host
  let shop: Awaited<ReturnType<typeof startRecordingReceiver>>
  let apiSecret: string

  beforeAll(async () => {
    postgres = await startPostgres()
    anvil = await startAnvil()
    deployment = await deployDevRouter(anvil)
    shop = await startRecordingReceiver()
    host = await startHost({
      databaseUrl: postgres.connectionString,
      masterKey: randomBytes(32).toString('hex'),
      chainId: anvil.chainId,
      rpcUrl: anvil.rpcUrl,
      routers: [deployment.router],
      startBlock: 0,
      port: 0,
      allowLoopbackHttp: true,
    })
    const created = await host.service.integrations.create({
      address: integrationAddress,
      notificationUrl: `${shop.url}/hook`,
    })
    apiSecret = created.apiSecret
  })
  afterAll(async () => {
    await host?.stop()
    await shop?.stop()
    await anvil?.stop()
    await postgres?.remove()
  })

  async function payFor(orderId: string) {
    const payer = createPayer({ ...anvil, deployment })
    const txHash = await payer.pay({ integrationAddress, receiver, amount: 12_500_000n, memo: orderId })
    await addOrder(host.pool, { id: orderId, txHash, chainId: String(anvil.chainId), integrationAddress })
    await arrived(txHash, [1])
    return txHash
  }
  const arrived = (txHash: string, versions: readonly number[]) =>
    expect.poll(() => shop.snapshots(txHash).map(({ version }) => version), { timeout: 300_000 }).toEqual(versions)
  const settle = (orderId: string, body: object = { amount: '12.50', merchant: 'Example Coffee' }) =>
    fetch(`${host.url}/orders/${orderId}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const settledAt = async (orderId: string) =>
    (await host.pool.query('select settled_at from orders where id = $1', [orderId])).rows[0]?.settled_at

  test('settling an order makes a new version of its payment, which the integration receives and reads', async () => {
    const txHash = await payFor('order-1')
    expect((await settle('order-1')).status).toBe(204)
    await arrived(txHash, [1, 2])
    const client = createClient({ baseUrl: `${host.url}/payments-service`, integrationAddress, apiSecret })
    const settled = { version: 2, state: 'success', recipient: { title: 'Example Coffee' } }
    expect(await client.payments.get(txHash)).toMatchObject(settled)
    expect((await settle('order-1')).status).toBe(404)
  })

  test('an order stays unsettled when the update of its payment fails', async () => {
    const txHash = await payFor('order-2')
    expect((await settle('order-2', { amount: '12.50', merchant: 5 })).status).toBe(500)
    expect(await settledAt('order-2')).toBe(null)
    expect((await settle('order-2')).status).toBe(204)
    expect(await settledAt('order-2')).not.toBe(null)
    await arrived(txHash, [1, 2])
  })

  /** Expects settling to fail with the reason and to leave the order unchanged. */
  async function expectUnsettled(orderId: string, reason: string) {
    const answer = await settle(orderId)
    expect([answer.status, await answer.json()]).toEqual([
      409,
      expect.objectContaining({ message: `Order ${orderId} is not settled: ${reason}.` }),
    ])
    expect(await settledAt(orderId)).toBe(null)
  }

  test('an order whose payment rejects the state is not settled', async () => {
    const txHash = await payFor('order-3')
    const chainId = String(anvil.chainId)
    await host.service.applyUpdate({ id: 'refund-3', chainId, txHash, state: 'refund_success' })
    await expectUnsettled('order-3', 'state refund_success cannot become success')
  })

  test('only a payment of its own integration settles an order', async () => {
    const txHash = await payFor('order-4')
    const strange = { txHash, chainId: String(anvil.chainId), integrationAddress: receiver }
    await addOrder(host.pool, { id: 'order-5', ...strange })
    await expectUnsettled('order-5', 'no payment of the transaction names this integrationAddress')
    expect((await settle('order-4')).status).toBe(204)
  })

  test('an order whose payment is not indexed yet is settled once it is, by the same call', async () => {
    const early = { txHash: `0x${'f'.repeat(64)}`, chainId: String(anvil.chainId), integrationAddress }
    await addOrder(host.pool, { id: 'order-6', ...early })
    await expectUnsettled('order-6', 'its payment is not indexed yet')
    const txHash = await payFor('order-7')
    await host.pool.query('update orders set tx_hash = $1 where id = $2', [txHash, 'order-6'])
    expect((await settle('order-6')).status).toBe(204)
  })

  test('the payment API has its own authentication, and receives bodies that Fastify has not parsed', async () => {
    const api = `${host.url}/payments-service/api/v1/integration`
    expect((await fetch(`${api}/payments`)).status).toBe(401)
    const { body } = await createTestDelivery({ secret: 'whsec_any' })
    const basic = Buffer.from(`${integrationAddress}:${apiSecret}`).toString('base64')
    const share = await fetch(`${api}/idv-share-token`, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/json' },
      body,
    })
    const off = { error: 'Identity verification sharing is not enabled' }
    expect([share.status, await share.json()]).toEqual([404, off])
    expect(await (await fetch(host.url)).text()).toBe('The host application')
  })
})
