/** docs/interface.md 2.1 and 2.3, clause by clause: a payment over HTTP and in its notification. */
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

  it('has exact amounts as strings, in the read API and in the notification, and null for an unknown symbol', async () => {
    const txHash = word('04')
    const largest = 2n ** 256n - 1n
    await pay({
      txHash,
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

  /** Expects that no request of an integration finds a payment of these wallets. */
  async function expectHidden(txHash: string, wallets: readonly string[], { authorization }: Shop) {
    expect((await clauses.get('payments?limit=200', authorization)).text).not.toContain(txHash)
    for (const list of ['', ...wallets.map((each) => `wallet/${each}/`)])
      expect((await clauses.get(`${list}payments/${txHash}`, authorization)).status).toBe(404)
    for (const each of wallets)
      expect((await clauses.get(`wallet/${each}/payments`, authorization)).body).toEqual({
        payments: [],
        nextCursor: null,
      })
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
    await expectHidden(txHash, [sender, receiver], shop)
  })
})
