/** docs/interface.md 4.3 (lookup and verify) with the link configurations of 2.4, clause by clause. */
import type { LinkConfig } from '@payment-integration/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, startClauses } from '../../test/support/clause-service.js'
import { feed, legacyCalls, pricing } from '../../test/support/legacy-calls.js'

const word = (byte: string) => `0x${byte.repeat(32)}`
const wallet = (byte: string) => `0x${byte.repeat(20)}`
const usdc = { address: wallet('c0'), symbol: 'USDC', decimals: 6 }
const weth = { address: wallet('c1'), symbol: 'WETH', decimals: 18 }
const listed = { usdc: pricing(), weth: pricing({ listedToken: { symbol: 'WETH', currency: 'ETH' } }) }
const link = 'Payment does not match link configuration'
const address = 'Invalid payment address'
const currency = 'Invalid payment currency'
const amount = 'Invalid payment amount'

type Mined = Parameters<ReturnType<Clauses['chain']>['mine']>[0][number]
let clauses: Clauses
let legacy: Awaited<ReturnType<typeof legacyCalls>>
beforeAll(async () => {
  clauses = await startClauses()
  legacy = await legacyCalls(clauses)
})
afterAll(() => clauses.stop())

/** A payment of `gross` USDC base units to `a1` by default. */
const usdcPayment = (gross: bigint, change: Mined = {}): Mined => ({
  receiver: wallet('a1'),
  tokenOut: { ...usdc, gross, net: gross },
  pricing: listed.usdc,
  ...change,
})
async function mine(txHash: string, payments: readonly Mined[], chainId = 1) {
  clauses.chain(chainId).mine(payments.map((payment, ordinal) => ({ ...payment, txHash, ordinal })))
  await clauses.index()
}
const request = (txHash: string, change: object = {}) => ({
  chainId: 1,
  txHash,
  invoiceAmount: '10.5',
  invoiceCurrency: 'USD',
  address: wallet('a1'),
  ...change,
})
/** Status, and the errors of each payment. */
async function judge(txHash: string, change: object = {}) {
  const { status, body } = await legacy.verify(request(txHash, change))
  return [status, ...body.payments.map((item: { verificationErrors: string[] }) => item.verificationErrors)]
}

describe('verify', () => {
  const txHash = word('01')
  beforeAll(() => mine(txHash, [usdcPayment(10_500_000n)]))

  it('is 200 with the look-up, verified and without errors, for a matching payment', async () => {
    const { body: found } = await legacy.lookup(txHash)
    const { status, body, headers } = await legacy.verify(request(txHash))
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    expect(body).toStrictEqual({
      ...found,
      payments: [{ ...found.payments[0], verified: true, verificationErrors: [] }],
    })
  })

  it('is 409 with the look-up, not verified and with errors, for a mismatch', async () => {
    const { body: found } = await legacy.lookup(txHash)
    const { status, body, headers } = await legacy.verify(request(txHash, { invoiceAmount: '10.49' }))
    expect([status, headers.get('cache-control')]).toEqual([409, 'private, no-store'])
    expect(body).toStrictEqual({
      ...found,
      payments: [{ ...found.payments[0], verified: false, verificationErrors: [amount] }],
    })
  })

  it.each([
    [{ address: wallet('a2') }, [address]],
    [{ invoiceCurrency: 'EUR' }, [currency]],
    [{ invoiceAmount: '10.500001' }, [amount]],
    [{ address: wallet('a2'), invoiceCurrency: 'EUR', invoiceAmount: 0 }, [address, currency, amount]],
    [{ address: 'nobody.here' }, [address]],
  ])('says of %j exactly what does not match: %j', async (change, errors) => {
    expect(await judge(txHash, change)).toEqual([409, errors])
  })

  it('takes the address of the receiver and the hash in any case', async () => {
    const mixed = `0x${'A1a1'.repeat(10)}`
    for (const change of [{ address: mixed }, { txHash: `0x${'01'.repeat(32).toUpperCase()}` }])
      expect(await judge(txHash, change)).toEqual([200, []])
  })

  it('is 404 where no such transaction is on that chain', async () => {
    for (const change of [{ txHash: word('0f') }, { chainId: 10 }]) {
      const { status, body } = await legacy.verify(request(txHash, change))
      expect([status, body]).toEqual([404, { error: 'Transaction not found' }])
    }
  })

  it('is 401 without a key, for any request', async () => {
    for (const body of [request(txHash), '{', ''])
      expect(await legacy.verify(body, 'another-key')).toMatchObject({ status: 401, text: '{"error":"Unauthorized"}' })
  })
})

describe('several payments in one transaction', () => {
  it('are each verified, and one mismatch makes the answer 409', async () => {
    await mine(word('10'), [usdcPayment(10_500_000n), usdcPayment(10_500_000n)])
    expect(await judge(word('10'))).toEqual([200, [], []])
    await mine(word('11'), [
      usdcPayment(10_500_000n),
      usdcPayment(10_500_001n),
      usdcPayment(1n, { receiver: wallet('a2') }),
    ])
    expect(await judge(word('11'))).toEqual([409, [], [amount], [address, amount]])
    const { body } = await legacy.verify(request(word('11')))
    expect(body.payments.map((item: { verified: boolean }) => item.verified)).toEqual([true, false, false])
  })
})

describe('an amount', () => {
  const small = word('20')
  const beyondFloat = word('21')
  const tenth = word('22')
  const zero = word('23')
  beforeAll(async () => {
    const payment = (gross: bigint): Mined => ({
      ...usdcPayment(0n),
      tokenOut: { ...weth, gross, net: gross },
      pricing: listed.weth,
    })
    await mine(small, [payment(100_000_000_000n)])
    await mine(beyondFloat, [payment(9_007_199_254_740_993n * 10n ** 18n)])
    await mine(tenth, [payment(10n ** 17n)])
    await mine(zero, [payment(0n)])
  })
  /** Sends `computeInvoiceAmount` as exactly the given JSON text. */
  const send = async (txHash: string, json: string) => {
    const { invoiceAmount: _, ...others } = request(txHash, { invoiceCurrency: 'ETH' })
    return legacy.verify(`{"invoiceAmount":${json},${JSON.stringify(others).slice(1)}`)
  }

  it.each([
    [tenth, '"0.1000000000000000055"'],
    [tenth, '"0.10000000000000001"'],
    [tenth, '0.2'],
    [beyondFloat, '"9007199254740992"'],
    [zero, '1e-90'],
  ])('of %s does not match as %s', async (txHash, json) => {
    const { status, body } = await send(txHash, json)
    expect([status, body.payments[0].verificationErrors]).toEqual([409, [amount]])
  })
})

describe('the invoice of a payment with a conversion', () => {
  it('is compared by its currency and amount', async () => {
    const feeds = [feed('multiply', ['CHF', 'USD'], 110_000_000n)]
    await mine(word('30'), [usdcPayment(11_000_000n, { pricing: pricing({ feeds }) })])
    expect(await judge(word('30'), { invoiceAmount: 10, invoiceCurrency: 'CHF' })).toEqual([200, []])
    expect(await judge(word('30'), { invoiceAmount: 11, invoiceCurrency: 'USD' })).toEqual([409, [currency, amount]])
  })
})

describe('a link configuration', () => {
  const inUsdc = word('40')
  const inWeth = word('41')
  const onTen = word('42')
  const wethAmount = { invoiceAmount: '2', invoiceCurrency: 'ETH' }
  const accounts: readonly (readonly [handle: string, receives: string, config: LinkConfig])[] = [
    ['any.usdc', wallet('b1'), { coins: [{ chainId: 1, tokens: [{ symbol: 'USDC' }] }] }],
    ['one-usdc', wallet('b2'), { coins: [{ chainId: 1, tokens: [{ symbol: 'USDC', address: usdc.address }] }] }],
    ['other_usdc', wallet('b3'), { coins: [{ chainId: 1, tokens: [{ symbol: 'USDC', address: wallet('c9') }] }] }],
    ['moved', wallet('b4'), { coins: [{ chainId: 1, defaultAddress: wallet('b5'), tokens: [{ symbol: 'USDC' }] }] }],
    ['empty', wallet('b6'), { coins: [], onCompleteAction: { type: 'NOTHING' } }],
  ]
  beforeAll(async () => {
    for (const [handle, receives, config] of accounts)
      await clauses.service.accounts.create({ handle, address: receives, config })
    const to = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']
    for (const [index, byte] of to.entries()) {
      const receiver = wallet(byte)
      await mine(`${inUsdc.slice(0, -2)}b${index}`, [usdcPayment(10_500_000n, { receiver })])
      await mine(`${onTen.slice(0, -2)}b${index}`, [usdcPayment(10_500_000n, { receiver })], 10)
      const tokenOut = { ...weth, gross: 2n * 10n ** 18n, net: 2n * 10n ** 18n }
      await mine(`${inWeth.slice(0, -2)}b${index}`, [{ receiver, tokenOut, pricing: listed.weth }])
    }
  })
  /** The transaction whose payment went to the n-th of the receivers. */
  const to = (txHash: string, index: number) => `${txHash.slice(0, -2)}b${index}`

  it.each(['any.usdc', 'ANY.USDC', 'Any.Usdc'])('is found by its handle in any case: %s', async (handle) => {
    expect(await judge(to(inUsdc, 0), { address: handle })).toEqual([200, []])
  })

  it.each(['any.usdc', wallet('b1')])('of %s accepts only its coins', async (payee) => {
    expect(await judge(to(inWeth, 0), { ...wethAmount, address: payee })).toEqual([409, [link]])
    expect(await judge(to(onTen, 0), { chainId: 10, address: payee })).toEqual([409, [link]])
  })

  it('applies from the next request after it is set, changed or removed', async () => {
    const { accounts: commands } = clauses.service
    await commands.change('empty', { config: { coins: [{ chainId: 1, tokens: [{ symbol: 'USDC' }] }] } })
    expect(await judge(to(inUsdc, 5), { address: 'empty' })).toEqual([200, []])
    await commands.remove('empty')
    expect(await judge(to(inUsdc, 5), { address: 'empty' })).toEqual([409, [address]])
    expect(await judge(to(inUsdc, 5), { address: wallet('b6') })).toEqual([200, []])
  })
})

describe('a verify request that is malformed', () => {
  const good = request(word('01'))
  it.each([
    [{ ...good, chainId: '1' }, ['chainId']],
    [{ ...good, chainId: 1.5 }, ['chainId']],
    [{ ...good, txHash: '0x12' }, ['txHash']],
    [{ ...good, invoiceCurrency: 'usd' }, ['invoiceCurrency']],
    [{ ...good, address: '' }, ['address']],
    [{ ...good, address: 'a'.repeat(129) }, ['address']],
    [{}, ['chainId', 'txHash', 'invoiceAmount', 'invoiceCurrency', 'address']],
  ])('%j is 400 with a detail for each of %j', async (body, names) => {
    const answer = await legacy.verify(body)
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: expect.any(String),
        details: names.map((name) => ({ code: expect.any(String), message: expect.any(String), path: [name] })),
      },
    ])
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{'],
    ['an array', '[]'],
    ['a repeated key', `{"chainId":1,${JSON.stringify(good).slice(1)}`],
    ['a byte order mark', `\uFEFF${JSON.stringify(good)}`],
  ])('%s is 400 with one detail about the whole', async (_, body) => {
    const answer = await legacy.verify(body)
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: expect.any(String), details: [{ code: expect.any(String), message: expect.any(String), path: [] }] },
    ])
  })
})
