/** docs/interface.md 2.1 and 2.3, clause by clause: a payment over HTTP and in its notification. */
import { paymentStates } from '@payment-integration/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'

const word = (byte: string) => `0x${byte.repeat(32)}`
const wallet = (byte: string) => `0x${byte.repeat(20)}`
const memoHex = (text: string) => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`
const invoice = { amount: '12.50', currency: 'EUR', settlementAmount: '13.3700', settlementCurrency: 'USD' }
const recipient = { title: 'CAFÉ <b>"Ünïcode"</b> ☕', subtitle: '  Table 4\nupstairs  ' }

let clauses: Clauses
let shop: Shop
beforeAll(async () => {
  clauses = await startClauses()
  shop = await clauses.createShop(wallet('Ab'))
})
afterAll(() => clauses.stop())

async function pay(payment: Parameters<ReturnType<Clauses['chain']>['mine']>[0][number]) {
  clauses.chain().mine([{ integrationAddress: shop.address, ...payment }])
  await clauses.index()
}
async function read(txHash: string) {
  const answer = await clauses.get(`payments/${txHash}`, shop.authorization)
  expect(answer.status).toBe(200)
  return answer.body as Record<string, unknown>
}

describe('the payment object', () => {
  it('has the fields of interface 2.1 and no other, at every level', async () => {
    const txHash = word('01')
    await pay({
      txHash,
      ordinal: 4,
      memoHex: memoHex('order 17'),
      source: { chainId: 137, txHash: word('0a') },
      tokenIn: { address: wallet('71'), symbol: 'USDC', decimals: 6, amount: 12_500_000n },
      tokenOut: {
        address: wallet('72'),
        symbol: 'DAI',
        decimals: 18,
        gross: 125n * 10n ** 17n,
        net: 124n * 10n ** 17n,
      },
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

  it('has null for a symbol that the token does not answer, and for an unknown subtitle', async () => {
    const txHash = word('03')
    await pay({
      txHash,
      tokenIn: { address: wallet('73'), symbol: null, decimals: 0, amount: 5n },
      tokenOut: { address: wallet('73'), symbol: null, decimals: 0, gross: 5n, net: 5n },
    })
    await clauses.update({ txHash, recipient: { title: 'Shop', subtitle: null } })
    expect(await read(txHash)).toMatchObject({
      recipient: { title: 'Shop', subtitle: null },
      tokenIn: { symbol: null, amount: '5' },
      tokenOut: { symbol: null, amountGross: '5', amountNet: '5' },
    })
  })

  it('has exact amounts as strings, in the read API and in the notification', async () => {
    const txHash = word('04')
    const largest = 2n ** 256n - 1n
    await pay({
      txHash,
      tokenIn: { address: wallet('74'), symbol: 'A', decimals: 18, amount: largest },
      tokenOut: { address: wallet('75'), symbol: 'B', decimals: 0, gross: largest, net: 9_007_199_254_740_993n },
    })
    const exact = { ...invoice, amount: '0.10', settlementAmount: '9007199254740993.000000000000000001' }
    await clauses.update({ txHash, invoice: exact })
    await clauses.deliver()
    expect(await read(txHash)).toMatchObject({
      invoice: exact,
      tokenIn: { amount: '115792089237316195423570985008687907853269984665640564039457.584007913129639935' },
      tokenOut: { amountGross: String(largest), amountNet: '9007199254740993' },
    })
    expect(clauses.receiver.snapshots(txHash).at(-1).invoice).toStrictEqual(exact)
  })

  it.each(paymentStates)(
    'has the state %s as the processor sent it, in the read API and in the notification',
    async (state) => {
      const txHash = word(`5${paymentStates.indexOf(state)}`)
      await pay({ txHash })
      expect(await read(txHash)).toMatchObject({ state: null, version: 1 })
      expect((await clauses.update({ txHash, state })).status).toBe(200)
      await clauses.deliver()
      expect(await read(txHash)).toMatchObject({ state, version: 2 })
      expect(clauses.receiver.snapshots(txHash).map((sent) => [sent.version, sent.state])).toEqual([
        [1, null],
        [2, state],
      ])
    },
  )

  it.each(['done', 'SUCCESS', '', 1])('never has the state %j: such an update is rejected', async (state) => {
    const txHash = word('04')
    expect((await clauses.update({ txHash, state })).status).toBe(400)
    expect((await read(txHash))['state']).toBeNull()
  })

  it.each(Object.keys(invoice))('has no invoice while %s is missing: all four fields or null', async (missing) => {
    const txHash = word('03')
    const partial = Object.fromEntries(Object.entries(invoice).filter(([name]) => name !== missing))
    expect((await clauses.update({ txHash, invoice: partial })).status).toBe(400)
    expect((await clauses.update({ txHash, invoice: { ...invoice, [missing]: null } })).status).toBe(400)
    expect((await read(txHash))['invoice']).toBeNull()
  })

  it.each([
    ['amount', 12.5],
    ['amount', '1e3'],
    ['settlementAmount', 0.1],
    ['settlementAmount', '-1'],
    ['currency', 'eur'],
    ['currency', '€'],
    ['settlementCurrency', 978],
    ['settlementCurrency', ''],
  ])('has no invoice whose %s is %j', async (field, value) => {
    const txHash = word('03')
    expect((await clauses.update({ txHash, invoice: { ...invoice, [field]: value } })).status).toBe(400)
    expect((await read(txHash))['invoice']).toBeNull()
  })

  it('begins with the seven fields of the notification, byte for byte', async () => {
    const txHash = word('06')
    await pay({ txHash })
    await clauses.update({ txHash, state: 'refund_pending', recipient, invoice })
    await clauses.deliver()
    const sent = clauses.receiver.arrived
      .map(({ body }) => body.toString('utf8'))
      .filter((body) => body.includes(txHash))
    expect(sent).toHaveLength(2)
    const { text } = await clauses.get(`payments/${txHash}`, shop.authorization)
    expect(text.startsWith(`${sent[1]?.slice(0, -1)},`)).toBe(true)
    expect(Object.keys(JSON.parse(sent[1] ?? ''))).toEqual([
      ...['integrationAddress', 'chainId', 'txHash', 'version', 'state', 'recipient', 'invoice'],
    ])
  })

  it('that names no integration is invisible to every integration, also to later ones', async () => {
    const [txHash, sender, receiver] = [word('07'), wallet('58'), wallet('59')]
    await pay({ txHash, sender, receiver, integrationAddress: null })
    const later = await clauses.createShop(wallet('aD'))
    await clauses.index()
    for (const { authorization } of [shop, later]) {
      expect((await clauses.get('payments?limit=200', authorization)).text).not.toContain(txHash)
      expect((await clauses.get(`payments/${txHash}`, authorization)).status).toBe(404)
      for (const address of [sender, receiver]) {
        expect((await clauses.get(`wallet/${address}/payments`, authorization)).body).toEqual({
          payments: [],
          nextCursor: null,
        })
        expect((await clauses.get(`wallet/${address}/payments/${txHash}`, authorization)).status).toBe(404)
      }
    }
  })

  it('that named an unregistered address is visible once it is registered, and only later changes are notified', async () => {
    const [txHash, address] = [word('0c'), wallet('ee')]
    await pay({ txHash, integrationAddress: address })
    const later = await clauses.createShop(address)
    const arrived = () => clauses.receiver.arrived.filter(({ body }) => body.toString().includes(txHash))
    await clauses.deliver()
    expect(arrived()).toEqual([])
    expect((await clauses.get('payments', later.authorization)).body).toMatchObject({
      payments: [{ txHash, version: 1 }],
    })
    await clauses.update({ txHash, state: 'success' })
    await clauses.deliver()
    expect(arrived().map(({ body }) => JSON.parse(body.toString()) as unknown)).toMatchObject([{ version: 2 }])
  })

  it('of another integration appears under no filter of the caller', async () => {
    const other = await clauses.createShop(wallet('Ce'))
    const [txHash, sender, receiver] = [word('08'), wallet('5a'), wallet('5b')]
    await pay({ txHash, sender, receiver, integrationAddress: other.address })
    expect((await clauses.get(`payments/${txHash}`, other.authorization)).status).toBe(200)
    expect((await clauses.get('payments?limit=200', shop.authorization)).text).not.toContain(txHash)
    expect((await clauses.get(`payments/${txHash}`, shop.authorization)).status).toBe(404)
    for (const address of [sender, receiver]) {
      const page = await clauses.get(`wallet/${address}/payments`, shop.authorization)
      expect(page.body).toEqual({ payments: [], nextCursor: null })
      expect((await clauses.get(`wallet/${address}/payments/${txHash}`, shop.authorization)).status).toBe(404)
    }
  })
})
