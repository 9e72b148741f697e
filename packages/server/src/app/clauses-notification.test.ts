/** docs/interface.md 2.3 and 6, clause by clause: when notifications are sent, their content, signature and answers. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Clauses,
  processorSignature,
  receiveUpdate,
  type Shop,
  startClauses,
} from '../../test/support/clause-service.js'
import type { Arrived } from '../../test/support/recording-receiver.js'
import { type ClosableReceiptSource, createHttpReceiptSource } from '../receipts/http-receipt-source.js'

const wallet = (byte: string) => `0x${byte.repeat(20)}`
const recipient = { title: 'Café ☕', subtitle: null }
const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.37', settlementCurrency: 'USD' }

/** The processor's answer for a transaction; without one, 404. */
const receipts = new Map<string, object>()
const processor = createServer((request, response) => {
  const txHash = /0x[0-9a-f]{64}/.exec(request.url ?? '')?.[0] ?? ''
  const receipt = receipts.get(txHash)
  if (receipt === undefined) return void response.writeHead(404).end()
  const body = JSON.stringify({ id: `receipt of ${txHash}`.replaceAll(' ', '-'), chainId: '1', txHash, ...receipt })
  response.writeHead(200, { 'content-type': 'application/json', 'x-service-signature': processorSignature(body) })
  response.end(body)
})
let source: ClosableReceiptSource
let clauses: Clauses
let shop: Shop
let paid = 0
let shops = 0
beforeAll(async () => {
  await new Promise<void>((resolve) => processor.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(processor.address() as AddressInfo).port}/receipts`
  source = createHttpReceiptSource({ url, receiveUpdate })
  clauses = await startClauses({ receipts: source })
})
afterAll(async () => {
  await clauses.stop()
  await source.close()
  processor.closeAllConnections()
  processor.close()
})
// One shop per test: an endpoint that failed in one test would be blocked in the next.
beforeEach(async () => {
  shops += 1
  shop = await clauses.createShop(`0xAb${shops.toString(16).padStart(38, '0')}`)
  clauses.receiver.arrived.length = 0
  clauses.receiver.answer = (_, response) => void response.writeHead(204).end()
})

/** Indexes a payment of the shop and resolves its hash. */
async function pay({ address }: Shop = shop): Promise<string> {
  paid += 1
  const txHash = `0x${paid.toString(16).padStart(64, '0')}`
  clauses.chain().mine([{ txHash, integrationAddress: address }])
  await clauses.index()
  return txHash
}
const versions = (txHash: string) => clauses.receiver.snapshots(txHash).map(({ version }) => version)
const deliveries = (txHash: string) => clauses.store.deliveries.list({ chainId: 1, txHash, limit: 10 })
const getSignature = ({ headers }: Arrived) => String(headers['x-service-signature'])

describe('a notification is sent', () => {
  it('on the first indexing, with every field, and null for unknown values', async () => {
    const txHash = await pay()
    await clauses.deliver()
    expect(clauses.receiver.snapshots(txHash)).toStrictEqual([
      {
        integrationAddress: shop.address,
        chainId: '1',
        txHash,
        version: 1,
        state: null,
        recipient: null,
        invoice: null,
      },
    ])
  })

  it('on every accepted update with a change, as a full snapshot and not a patch', async () => {
    const txHash = await pay()
    for (const change of [
      { state: 'pending' },
      { recipient },
      { invoice },
      { state: 'success' },
      { recipient: null },
    ]) {
      expect((await clauses.update({ txHash, ...change })).body).toMatchObject({ outcome: 'applied' })
      await clauses.deliver()
    }
    const same = { integrationAddress: shop.address, chainId: '1', txHash }
    expect(clauses.receiver.snapshots(txHash).slice(1)).toStrictEqual([
      { ...same, version: 2, state: 'pending', recipient: null, invoice: null },
      { ...same, version: 3, state: 'pending', recipient, invoice: null },
      { ...same, version: 4, state: 'pending', recipient, invoice },
      { ...same, version: 5, state: 'success', recipient, invoice },
      { ...same, version: 6, state: 'success', recipient: null, invoice },
    ])
  })

  it('not on an update without a change, nor on a refused one', async () => {
    const txHash = await pay()
    await clauses.update({ txHash, state: 'refund_success', recipient, invoice })
    expect((await clauses.update({ txHash, state: 'refund_success', recipient, invoice })).body).toMatchObject({
      outcome: 'unchanged',
    })
    expect((await clauses.update({ txHash, state: 'pending' })).status).toBe(422)
    expect((await clauses.update({ txHash, state: 'nonsense' })).status).toBe(400)
    await clauses.deliver()
    expect(versions(txHash).sort()).toEqual([1, 2])
  })

  it('when receipt polling advances the state, and not when the receipt is unchanged', async () => {
    const txHash = await pay()
    await clauses.deliver()
    const poll = async () => {
      await clauses.service.receipts?.runOnce()
      await clauses.deliver()
    }
    await poll()
    expect(versions(txHash)).toEqual([1])
    receipts.set(txHash, { state: 'pending' })
    for (let round = 0; round < 3; round += 1) await poll()
    expect(clauses.receiver.snapshots(txHash).map(({ version, state }) => [version, state])).toEqual([
      [1, null],
      [2, 'pending'],
    ])
    receipts.delete(txHash)
  })

  it('with a version that increases by one on every state change, and never decreases', async () => {
    const txHash = await pay()
    for (const state of ['pending', 'success', 'refund_pending', 'refund_failure', 'refund_pending', 'refund_success'])
      await clauses.update({ txHash, state })
    for (const state of ['pending', 'success', null, 'failure']) await clauses.update({ txHash, state })
    await clauses.deliver()
    expect(versions(txHash).sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
    const { body } = await clauses.get(`payments/${txHash}`, shop.authorization)
    expect(body).toMatchObject({ version: 7, state: 'refund_success' })
  })

  it('to the integration that the payment names, and to no other', async () => {
    const other = await clauses.createShop(wallet('Bc'))
    const [own, theirs] = [await pay(), await pay(other)]
    await clauses.deliver()
    const sent = clauses.receiver.arrived.map(({ path, headers, body }) => [
      path,
      headers['x-service-integration'],
      JSON.parse(body.toString()).txHash,
    ])
    expect(sent.sort()).toEqual(
      [
        [`/${shop.address}`, shop.address, own],
        [`/${other.address}`, other.address, theirs],
      ].sort(),
    )
  })
})

describe('a notification', () => {
  it('is a POST of UTF-8 JSON of one kind, with the content type of JSON', async () => {
    const txHash = await pay()
    await clauses.update({ txHash, state: 'pending', recipient, invoice })
    await clauses.deliver()
    expect(clauses.receiver.arrived).toHaveLength(2)
    for (const { method, headers, body } of clauses.receiver.arrived) {
      expect([method, headers['content-type']]).toEqual(['POST', 'application/json'])
      expect(headers['content-encoding']).toBeUndefined()
      const snapshot = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
      expect(snapshotWriteSchema.safeParse(snapshot).success).toBe(true)
    }
    expect(clauses.receiver.snapshots(txHash).at(-1).recipient.title).toBe('Café ☕')
  })

  it('names its integration in the header, lowercased, as in the body', async () => {
    expect(shop.registered).not.toBe(shop.address)
    const txHash = await pay()
    await clauses.deliver()
    const rawHeaders = clauses.receiver.arrived[0]?.rawHeaders ?? []
    expect(rawHeaders[rawHeaders.indexOf('X-Service-Integration') + 1]).toBe(shop.address)
    expect(clauses.receiver.snapshots(txHash)[0].integrationAddress).toBe(shop.address)
  })

  it('carries t and v1 and nothing else: the HMAC-SHA256 of t, a dot and the bytes as sent', async () => {
    const before = Math.floor(Date.now() / 1_000)
    const txHash = await pay()
    await clauses.update({ txHash, recipient })
    await clauses.deliver()
    for (const delivery of clauses.receiver.arrived) {
      const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(getSignature(delivery)) ?? []
      expect(v1).toBe(createHmac('sha256', shop.signingSecret).update(`${t}.`).update(delivery.body).digest('hex'))
      expect(Number(t)).toBeGreaterThanOrEqual(before)
      expect(Number(t)).toBeLessThanOrEqual(Date.now() / 1_000)
      const { rawHeaders } = delivery
      expect(rawHeaders.filter((name) => name.toLowerCase() === 'x-service-signature')).toEqual(['X-Service-Signature'])
    }
  })

  it('is signed with the active secret of its own integration, and never with a prepared one', async () => {
    const other = await clauses.createShop(wallet('Cd'))
    const { integrations } = clauses.service
    const { signingSecret } = await integrations.prepareSigningSecret(other.address)
    await pay(other)
    await clauses.deliver()
    await integrations.activateSigningSecret(other.address)
    await pay(other)
    await clauses.deliver()
    const isSignedBy = (delivery: Arrived, secret: string) => {
      const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(getSignature(delivery)) ?? []
      return v1 === createHmac('sha256', secret).update(`${t}.`).update(delivery.body).digest('hex')
    }
    const secrets = [other.signingSecret, signingSecret, shop.signingSecret, other.apiSecret]
    const signers = clauses.receiver.arrived.map((delivery) => secrets.map((secret) => isSignedBy(delivery, secret)))
    expect(signers).toEqual([
      [true, false, false, false],
      [false, true, false, false],
    ])
  })

  it('never holds a secret, and neither does any answer of the API', async () => {
    const txHash = await pay()
    await clauses.deliver()
    const { signingSecret, apiSecret, authorization } = shop
    const forms = [signingSecret, apiSecret].flatMap((secret) => [
      secret,
      secret.slice(secret.indexOf('_') + 1),
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64'),
    ])
    const sent = clauses.receiver.arrived.map(
      ({ path, rawHeaders, body }) => `${path} ${rawHeaders.join(' ')} ${body.toString()}`,
    )
    expect(sent).toHaveLength(1)
    for (const path of ['payments', `payments/${txHash}`, 'payments?limit=0', 'payments/0x1', 'nothing']) {
      const { headers, text } = await clauses.get(path, authorization)
      sent.push(`${JSON.stringify([...headers])} ${text}`)
    }
    for (const text of sent) for (const secret of forms) expect(text).not.toContain(secret)
  })
})

describe('the answer of the endpoint', () => {
  it.each([200, 201, 202, 204, 206, 299])(
    '%i is success: the delivery is settled and not sent again',
    async (status) => {
      clauses.receiver.answer = (_, response) => void response.writeHead(status).end()
      const txHash = await pay()
      await clauses.deliver()
      const [delivery] = await deliveries(txHash)
      expect(delivery).toMatchObject({ status: 'delivered', nextAttemptAt: null, attempts: [{ status, reason: null }] })
      expect(await clauses.deliver()).toBe(0)
    },
  )

  it.each([300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503])(
    '%i is recorded as a failure',
    async (status) => {
      clauses.receiver.answer = (_, response) =>
        void response.writeHead(status, { location: `${clauses.receiver.url}/elsewhere` }).end()
      const txHash = await pay()
      await clauses.deliver()
      const [delivery] = await deliveries(txHash)
      expect(delivery?.status).not.toBe('delivered')
      expect(delivery?.attempts).toMatchObject([{ status, reason: `status_${status}` }])
      // Retries for earlier shops may arrive as well.
      const places = [`/${shop.address}`, '/elsewhere']
      const paths = clauses.receiver.arrived.map(({ path }) => path).filter((path) => places.includes(path))
      expect(paths).toEqual([places[0]])
    },
  )

  it('has 5 seconds: after 4 seconds it counts, and a missing one is recorded as a failure', async () => {
    const [slow, silent] = [await pay(), await pay()]
    const timers: NodeJS.Timeout[] = []
    clauses.receiver.answer = ({ body }, response) => {
      if (body.includes(slow)) timers.push(setTimeout(() => response.writeHead(200).end(), 4_000))
    }
    await clauses.deliver()
    expect(await deliveries(slow)).toMatchObject([{ status: 'delivered', attempts: [{ status: 200 }] }])
    const [given] = await deliveries(silent)
    expect(given).toMatchObject({ status: 'pending', attempts: [{ status: null, reason: 'timeout' }] })
    expect(given?.attempts[0]?.latencyMs).toBeGreaterThanOrEqual(4_950)
    for (const timer of timers) clearTimeout(timer)
  })
})
