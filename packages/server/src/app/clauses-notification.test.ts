/** docs/interface.md 2.3 and 6, clause by clause: when notifications are sent, their content, signature and answers. */
import { createHmac } from 'node:crypto'
import type { ProcessorUpdate } from '@payment-integration/contract'
import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'

const wallet = (byte: string) => `0x${byte.repeat(20)}`
const recipient = { title: 'Café ☕', subtitle: null }
const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.37', settlementCurrency: 'USD' }

let clauses: Clauses
let shop: Shop
let paid = 0
let shops = 0
/** The answer of the source of receipts about any payment. */
let receipt: ProcessorUpdate | null = null
beforeAll(async () => {
  clauses = await startClauses({
    receipts: { lookup: async ({ txHash }) => (receipt?.txHash === txHash ? receipt : null) },
  })
})
afterAll(() => clauses.stop())
beforeEach(async () => {
  shops += 1
  shop = await clauses.createShop(`0xAb${shops.toString(16).padStart(38, '0')}`)
  clauses.receiver.arrived.length = 0
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

describe('a notification is sent', () => {
  it('on the first indexing, with every field, and null for unknown values', async () => {
    const txHash = await pay()
    await clauses.deliver()
    expect(clauses.receiver.snapshots(txHash)).toStrictEqual([
      {
        ...{ integrationAddress: shop.address, chainId: '1', txHash, version: 1 },
        ...{ state: null, recipient: null, invoice: null },
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

  it('not on an update without a change, nor on a rejected one', async () => {
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
    for (const answer of [null, { id: 'receipt', chainId: '1', txHash, state: 'pending' } as const]) {
      receipt = answer
      for (let round = 0; round < 2; round += 1) await clauses.service.receipts?.runOnce()
      await clauses.deliver()
    }
    receipt = null
    const sent = clauses.receiver.snapshots(txHash).map(({ version, state }) => [version, state])
    expect(sent).toEqual([
      [1, null],
      [2, 'pending'],
    ])
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
  it('is a POST of UTF-8 JSON of one kind that names its integration in the header, lowercased, as in the body', async () => {
    expect(shop.registered).not.toBe(shop.address)
    const txHash = await pay()
    await clauses.update({ txHash, state: 'pending', recipient, invoice })
    await clauses.deliver()
    expect(clauses.receiver.arrived).toHaveLength(2)
    for (const { method, headers, rawHeaders, body } of clauses.receiver.arrived) {
      expect([method, headers['content-type']]).toEqual(['POST', 'application/json'])
      expect(headers['content-encoding']).toBeUndefined()
      expect(rawHeaders[rawHeaders.indexOf('X-Service-Integration') + 1]).toBe(shop.address)
      const snapshot = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
      expect(snapshotWriteSchema.safeParse(snapshot).success).toBe(true)
      expect(snapshot.integrationAddress).toBe(shop.address)
    }
    expect(clauses.receiver.snapshots(txHash).at(-1).recipient.title).toBe('Café ☕')
  })

  it('carries t and v1 and nothing else: the HMAC-SHA256 of t, a dot and the bytes as sent', async () => {
    const before = Math.floor(Date.now() / 1_000)
    const txHash = await pay()
    await clauses.update({ txHash, recipient })
    await clauses.deliver()
    for (const delivery of clauses.receiver.arrived) {
      const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(delivery.headers['x-service-signature'])) ?? []
      expect(v1).toBe(createHmac('sha256', shop.signingSecret).update(`${t}.`).update(delivery.body).digest('hex'))
      expect(Number(t)).toBeGreaterThanOrEqual(before)
      expect(Number(t)).toBeLessThanOrEqual(Date.now() / 1_000)
      const { rawHeaders } = delivery
      expect(rawHeaders.filter((name) => name.toLowerCase() === 'x-service-signature')).toEqual(['X-Service-Signature'])
    }
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
