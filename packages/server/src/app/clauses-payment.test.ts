/** docs/interface.md 2.1, 2.3 and 6, clause by clause: a payment over HTTP, and its notifications. */
import { createHmac } from 'node:crypto'
import type { ProcessorUpdate } from '@payment-integration/contract'
import { snapshotWriteSchema } from '@payment-integration/contract/internal'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'

const word = (byte: string) => `0x${byte.repeat(32)}`
const wallet = (byte: string) => `0x${byte.repeat(20)}`
const memoHex = (text: string) => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`
const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.3700', settlementCurrency: 'USD' }
const recipient = { title: 'CAFÉ <b>"Ünïcode"</b> ☕', subtitle: '  Table 4\nupstairs  ' }

let clauses: Clauses
let shop: Shop
let paid = 0
let shops = 0
/** The answer of the source of receipts about one payment. */
let receipt: ProcessorUpdate | null = null
beforeAll(async () => {
  const lookup = async ({ txHash }: { txHash: string }) => (receipt?.txHash === txHash ? receipt : null)
  clauses = await startClauses({ receipts: { lookup } })
})
afterAll(() => clauses.stop())
beforeEach(async () => {
  shops += 1
  shop = await clauses.createShop(`0xAb${shops.toString(16).padStart(38, '0')}`)
  // Notifications of earlier tests are sent before this one counts its own.
  await clauses.deliver()
  clauses.receiver.arrived.length = 0
})

/** Indexes a payment of the shop and resolves its hash. */
async function pay(payment: Parameters<ReturnType<Clauses['chain']>['mine']>[0][number] = {}): Promise<string> {
  paid += 1
  const { txHash = `0x${paid.toString(16).padStart(64, '0')}` } = payment
  clauses.chain().mine([{ integrationAddress: shop.address, ...payment, txHash }])
  await clauses.index()
  return txHash
}
async function read(txHash: string) {
  const answer = await clauses.get(`payments/${txHash}`, shop.authorization)
  expect(answer.status).toBe(200)
  return answer.body as Record<string, unknown>
}

describe('the payment object', () => {
  const tenth = 10n ** 17n
  it('has the fields of interface 2.1 and no other, at every level', async () => {
    const txHash = await pay({
      ordinal: 4,
      memoHex: memoHex('order 17'),
      source: { chainId: 137, txHash: word('0a') },
      tokenIn: { address: wallet('71'), symbol: 'USDC', decimals: 6, amount: 12_500_000n },
      tokenOut: { address: wallet('72'), symbol: 'DAI', decimals: 18, gross: 125n * tenth, net: 124n * tenth },
    })
    await clauses.update({ txHash, state: 'pending', recipient, invoice })
    expect(await read(txHash)).toStrictEqual({
      integrationAddress: shop.address,
      chainId: '1',
      txHash,
      version: 2,
      state: 'pending',
      recipient,
      invoice,
      sender: wallet('55'),
      receiver: wallet('66'),
      memo: 'order 17',
      blockTimestamp: '2026-01-02T03:04:06.000Z',
      source: { chainId: '137', txHash: word('0a') },
      tokenIn: { address: wallet('71'), symbol: 'USDC', amount: '12.5' },
      tokenOut: { address: wallet('72'), symbol: 'DAI', amountGross: '12.5', amountNet: '12.4' },
    })
  })

  it('keeps symbols, memo and merchant text verbatim, and identifiers in lower case', async () => {
    const txHash = word('ac')
    const memo = ' Order Ä #7 '
    const [tokenIn, tokenOut] = ['USDC.e', ' ₮-ß ']
    await pay({
      txHash,
      memoHex: memoHex(memo),
      tokenIn: { address: wallet('7a'), symbol: tokenIn, decimals: 6, amount: 1n },
      tokenOut: { address: wallet('7b'), symbol: tokenOut, decimals: 6, gross: 1n, net: 1n },
    })
    const shouted = `0x${txHash.slice(2).toUpperCase()}`
    await clauses.update({ txHash: shouted, integrationAddress: shop.registered, state: 'success', recipient })
    const payment = await read(shouted)
    expect(payment).toMatchObject({ memo, recipient, tokenIn: { symbol: tokenIn }, tokenOut: { symbol: tokenOut } })
    const { integrationAddress, sender, receiver, source } = payment
    const named = [integrationAddress, payment['txHash'], sender, receiver, source, payment['tokenIn']]
    expect(JSON.stringify(named).replace(tokenIn, '')).not.toMatch(/0x[0-9a-f]*[A-F]/)
    expect(payment).toMatchObject({ integrationAddress: shop.registered.toLowerCase(), txHash })
  })

  it('has exact amounts as strings, in the read API and in the notification, and null for an unknown symbol', async () => {
    const largest = 2n ** 256n - 1n
    const txHash = await pay({
      tokenIn: { address: wallet('74'), symbol: 'A', decimals: 18, amount: largest },
      tokenOut: { address: wallet('75'), symbol: null, decimals: 0, gross: largest, net: 9_007_199_254_740_993n },
    })
    const exact = { ...invoice, amount: '0.10', settlementAmount: '9007199254740993.000000000000000001' }
    await clauses.update({ txHash, invoice: exact })
    await clauses.deliver()
    expect(await read(txHash)).toMatchObject({
      invoice: exact,
      tokenIn: { amount: '115792089237316195423570985008687907853269984665640564039457.584007913129639935' },
      tokenOut: { symbol: null, amountGross: String(largest), amountNet: '9007199254740993' },
    })
    expect(clauses.receiver.snapshots(txHash).at(-1).invoice).toStrictEqual(exact)
  })

  it('begins with the seven fields of the notification, byte for byte', async () => {
    const txHash = await pay()
    await clauses.update({ txHash, state: 'refund_pending', recipient, invoice })
    await clauses.deliver()
    const sent = clauses.receiver.arrived.map(({ body }) => String(body)).filter((body) => body.includes(txHash))
    expect(sent).toHaveLength(2)
    const { text } = await clauses.get(`payments/${txHash}`, shop.authorization)
    expect(text.startsWith(`${sent[1]?.slice(0, -1)},`)).toBe(true)
    const names = ['integrationAddress', 'chainId', 'txHash', 'version', 'state', 'recipient', 'invoice']
    expect(Object.keys(JSON.parse(sent[1] ?? ''))).toEqual(names)
  })

  /** Expects that no request of an integration finds a payment of these wallets. */
  async function expectHidden(txHash: string, wallets: readonly string[], { authorization }: Shop) {
    expect((await clauses.get('payments?limit=200', authorization)).text).not.toContain(txHash)
    for (const list of ['', ...wallets.map((each) => `wallet/${each}/`)])
      expect((await clauses.get(`${list}payments/${txHash}`, authorization)).status).toBe(404)
    const none = { payments: [], nextCursor: null }
    for (const each of wallets) expect((await clauses.get(`wallet/${each}/payments`, authorization)).body).toEqual(none)
  }

  it('that names no integration is invisible to every integration, also to later ones', async () => {
    const [txHash, sender, receiver] = [word('07'), wallet('58'), wallet('59')]
    await pay({ txHash, sender, receiver, integrationAddress: null })
    for (const each of [shop, await clauses.createShop(wallet('aD'))])
      await expectHidden(txHash, [sender, receiver], each)
  })

  it('that named an unregistered address is visible once it is registered, and only later changes are notified', async () => {
    const [txHash, address] = [word('0c'), wallet('ee')]
    await pay({ txHash, integrationAddress: address })
    const later = await clauses.createShop(address)
    const arrived = () => clauses.receiver.arrived.filter(({ body }) => body.toString().includes(txHash))
    await clauses.deliver()
    expect(arrived()).toEqual([])
    const { body: page } = await clauses.get('payments', later.authorization)
    expect(page).toMatchObject({ payments: [{ txHash, version: 1 }] })
    await clauses.update({ txHash, state: 'success' })
    await clauses.deliver()
    expect(arrived().map(({ body }) => JSON.parse(body.toString()) as unknown)).toMatchObject([{ version: 2 }])
  })

  it('of another integration appears under no filter of the caller', async () => {
    const other = await clauses.createShop(wallet('Ce'))
    const [txHash, sender, receiver] = [word('08'), wallet('5a'), wallet('5b')]
    await pay({ txHash, sender, receiver, integrationAddress: other.address })
    expect((await clauses.get(`payments/${txHash}`, other.authorization)).status).toBe(200)
    await expectHidden(txHash, [sender, receiver], shop)
  })
})

describe('a notification is sent', () => {
  it('on the first indexing, with every field, and null for unknown values', async () => {
    const txHash = await pay()
    await clauses.deliver()
    const unknown = { state: null, recipient: null, invoice: null }
    const first = { integrationAddress: shop.address, chainId: '1', txHash, version: 1, ...unknown }
    expect(clauses.receiver.snapshots(txHash)).toStrictEqual([first])
  })

  it('on every accepted update with a change, as a full snapshot and not a patch', async () => {
    const txHash = await pay()
    const changes = [{ state: 'pending' }, { recipient }, { invoice }, { state: 'success' }, { recipient: null }]
    for (const change of changes) {
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
    const update = () => clauses.update({ txHash, state: 'refund_success', recipient, invoice })
    await update()
    expect((await update()).body).toMatchObject({ outcome: 'unchanged' })
    expect((await clauses.update({ txHash, state: 'pending' })).status).toBe(422)
    expect((await clauses.update({ txHash, state: 'nonsense' })).status).toBe(400)
    await clauses.deliver()
    expect(clauses.receiver.snapshots(txHash)).toHaveLength(2)
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
    const [own, theirs] = [await pay(), await pay({ integrationAddress: other.address })]
    await clauses.deliver()
    const sent = clauses.receiver.arrived.map(
      ({ path, headers, body }) => `${path} ${headers['x-service-integration']} ${JSON.parse(body.toString()).txHash}`,
    )
    const expected = [`/${shop.address} ${shop.address} ${own}`, `/${other.address} ${other.address} ${theirs}`]
    expect(sent.sort()).toEqual(expected.sort())
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
    expect(clauses.receiver.snapshots(txHash).at(-1).recipient.title).toBe(recipient.title)
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
    const sent = clauses.receiver.arrived.map(({ path, rawHeaders, body }) => `${path} ${rawHeaders} ${body}`)
    expect(sent).toHaveLength(1)
    for (const path of ['payments', `payments/${txHash}`, 'payments?limit=0', 'payments/0x1', 'nothing']) {
      const { headers, text } = await clauses.get(path, authorization)
      sent.push(`${JSON.stringify([...headers])} ${text}`)
    }
    for (const text of sent) for (const secret of forms) expect(text).not.toContain(secret)
  })
})
