/** docs/interface.md 2.4, 4.3, 5 (legacy API), 7 (legacy errors) and 8 (finality), clause by clause. */
import { finality } from '@payment-integration/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'
import { feed, legacyCalls, pricing } from '../../test/support/legacy-calls.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const word = (byte: string) => `0x${byte.repeat(32)}`
const wallet = (byte: string) => `0x${byte.repeat(20)}`
const memoHex = (text: string) => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`
const paid = (gross: bigint, net = gross) => ({ address: wallet('c0'), symbol: 'USDC', decimals: 6, gross, net })
const [address, currency, amount] = ['address', 'currency', 'amount'].map((flaw) => `Invalid payment ${flaw}`)

type Mined = Parameters<ReturnType<Clauses['chain']>['mine']>[0][number]
let clauses: Clauses
let shop: Shop
let legacy: Awaited<ReturnType<typeof legacyCalls>>
beforeAll(async () => {
  clauses = await startClauses({ chainIds: [1, 10, 100, 137, 8453, 42161] })
  shop = await clauses.createShop(wallet('Ab'))
  legacy = await legacyCalls(clauses)
})
afterAll(() => clauses.stop())

/** Indexes a transaction of payments in a block of its own. */
async function mine(txHash: string, ...payments: readonly Mined[]) {
  clauses.chain().mine(payments.map((payment, ordinal) => ({ pricing: pricing(), ...payment, txHash, ordinal })))
  await clauses.index()
}
const request = (txHash: string, change: object = {}) => ({
  ...{ chainId: 1, txHash, invoiceAmount: '10.5', invoiceCurrency: 'USD', address: wallet('a1') },
  ...change,
})
/** Status, and the errors of each payment. */
async function judge(txHash: string, change: object = {}) {
  const { status, body } = await legacy.verify(request(txHash, change))
  return [status, ...body.payments.map((item: { verificationErrors: string[] }) => item.verificationErrors)]
}

describe('the look-up', () => {
  it('has the fields of interface 2.4 and no other, at every level, without verification', async () => {
    const txHash = word('01')
    await mine(txHash, {
      receiver: wallet('a1'),
      memoHex: memoHex('invoice 17'),
      tokenOut: paid(11_000_000n, 10_972_500n),
      pricing: pricing({ feeds: [feed('multiply', ['CHF', 'USD'], 110_000_000n)] }),
    })
    const answer = await legacy.lookup(txHash)
    expect(answer.body).toStrictEqual({
      chainId: 1,
      txHash,
      payments: [
        {
          memo: 'invoice 17',
          receiver: wallet('a1'),
          tokenSymbol: 'USDC',
          tokenAmount: { formatted: '11', value: '11000000' },
          tokenAmountNet: { formatted: '10.9725', value: '10972500' },
          totalFees: { formatted: '0.0275', value: '27500' },
          fees: [
            { type: 'ServiceFee', formatted: '0.022', value: '22000' },
            { type: 'ExtraFee', formatted: '0.0055', value: '5500' },
          ],
          invoiceAmount: '10',
          invoiceCurrency: 'CHF',
          conversion: 'chainlink:CHFUSD',
          priceFeeds: [{ name: 'CHFUSD', contract: wallet('fe'), rate: '1.1' }],
          final: false,
        },
      ],
    })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    expect(answer.headers.get('content-type')).toBe('application/json')
  })

  it('is shown to every key as facts only: no integration, state or merchant', async () => {
    const txHash = word('40')
    await mine(txHash, { integrationAddress: shop.address, tokenOut: paid(1_000_000n) })
    const invoice = { amount: '99.01', currency: 'XTS', settlementAmount: '98.02', settlementCurrency: 'XTS' }
    await clauses.update({ txHash, state: 'refund_pending', recipient: { title: 'CANARY', subtitle: null }, invoice })
    const { status, text, body } = await legacy.lookup(txHash)
    expect(status).toBe(200)
    expect(body.payments[0]).toMatchObject({ invoiceAmount: '1', invoiceCurrency: 'USD' })
    for (const hidden of [shop.address.slice(2), 'CANARY', 'refund_pending', 'XTS', '99.01', '"state"', '"version"'])
      expect(text).not.toContain(hidden)
  })

  it('is 404 where no such transaction is on that chain, in any case of the hash', async () => {
    await mine(word('5a'), {})
    expect((await legacy.lookup(word('5A'))).status).toBe(200)
    for (const answer of [await legacy.lookup(word('5b')), await legacy.lookup(word('5a'), 10)])
      expect([answer.status, answer.body]).toEqual([404, { error: 'Transaction not found' }])
  })

  it('is 400 with a detail for each parameter, which says that a hash starts with 0x and how long it is', async () => {
    const { status, body } = await legacy.lookup('none', 'one')
    const text = expect.any(String)
    const ofChain = { code: text, message: text, path: ['chainId'] }
    const ofHash = { code: text, message: expect.stringMatching(/0x.*64|64.*0x/), path: ['txHash'] }
    expect([status, body]).toStrictEqual([400, { error: text, details: [ofChain, ofHash] }])
  })
})

describe('final', () => {
  const getFinal = async (txHash: string, chainId: number) =>
    (await legacy.lookup(txHash, chainId)).body.payments[0].final
  async function mineEmpty(chainId: number, blocks: number) {
    for (let mined = 0; mined < blocks; mined++) clauses.chain(chainId).mine([])
    await clauses.index()
  }

  it.each(Object.entries(finality).map(([chainId, { confirmations }]) => [Number(chainId), confirmations] as const))(
    'on chain %i is false below %i confirmations and true from there on',
    async (chainId, confirmations) => {
      const txHash = word('30')
      clauses.chain(chainId).mine([{ txHash }])
      await mineEmpty(chainId, confirmations - 1)
      expect(await getFinal(txHash, chainId)).toBe(false)
      await mineEmpty(chainId, 1)
      expect(await getFinal(txHash, chainId)).toBe(true)
    },
  )

  it('is never true on a chain without a row in the table', async () => {
    clauses.chain(8453).mine([{ txHash: word('31') }])
    await mineEmpty(8453, 2_000)
    expect(await getFinal(word('31'), 8453)).toBe(false)
  })
})

describe('verify', () => {
  const txHash = word('60')
  const usdc = (gross: bigint, receiver = wallet('a1')): Mined => ({ receiver, tokenOut: paid(gross) })
  beforeAll(() => mine(txHash, usdc(10_500_000n)))

  it.each([
    ['200 with the look-up, verified and without errors, for a matching payment', '10.5', 200, []],
    ['409 with the look-up, not verified and with errors, for a mismatch', '10.49', 409, [amount]],
  ] as const)('is %s', async (_, invoiceAmount, expected, verificationErrors) => {
    const { body: found } = await legacy.lookup(txHash)
    const { status, body, headers } = await legacy.verify(request(txHash, { invoiceAmount }))
    expect([status, headers.get('cache-control')]).toEqual([expected, 'private, no-store'])
    const verified = expected === 200
    expect(body).toStrictEqual({ ...found, payments: [{ ...found.payments[0], verified, verificationErrors }] })
  })

  it('says of each payment exactly what does not match, and one mismatch makes the answer 409', async () => {
    await mine(word('61'), usdc(10_500_000n), usdc(10_500_001n), usdc(1n, wallet('a2')))
    expect(await judge(word('61'))).toEqual([409, [], [amount], [address, amount]])
    expect(await judge(txHash, { invoiceCurrency: 'EUR' })).toEqual([409, [currency]])
  })

  it('takes the receiver or the handle of an account, whose link configuration applies at once', async () => {
    const { accounts } = clauses.service
    const usdcOn = (chainId: number) => ({ coins: [{ chainId, tokens: [{ symbol: 'USDC' }] }] })
    await accounts.create({ handle: 'any.usdc', address: wallet('a1'), config: usdcOn(1) })
    for (const payee of [`0x${'A1a1'.repeat(10)}`, 'ANY.usdc'])
      expect(await judge(txHash, { address: payee })).toEqual([200, []])
    await accounts.change('any.usdc', { config: usdcOn(10) })
    expect(await judge(txHash, { address: 'any.usdc' })).toEqual([409, ['Payment does not match link configuration']])
    await accounts.remove('any.usdc')
    expect(await judge(txHash, { address: 'any.usdc' })).toEqual([409, [address]])
  })

  it('is 404 where no such transaction is on that chain', async () => {
    for (const change of [{ txHash: word('0f') }, { chainId: 10 }]) {
      const { status, body } = await legacy.verify(request(txHash, change))
      expect([status, body]).toEqual([404, { error: 'Transaction not found' }])
    }
  })
})

describe('a key', () => {
  it('is the same 401 for every failure, before any validation', async () => {
    const revoked = await clauses.service.legacyKeys.create()
    const stored = word('01')
    expect((await legacy.lookup(stored, 1, revoked.apiKey)).status).toBe(200)
    await clauses.service.legacyKeys.revoke(revoked.key.id)
    const { apiKey } = legacy
    const failures: Record<string, readonly string[]> = {
      'no header': [],
      'an empty header': ['Authorization: '],
      'an unknown key': [`Authorization: ${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}`],
      'a longer key': [`Authorization: ${apiKey}A`],
      'a key in another case': [`Authorization: ${apiKey.toUpperCase()}`],
      'a revoked key': [`Authorization: ${revoked.apiKey}`],
      'a revoked key as Bearer': [`Authorization: Bearer ${revoked.apiKey}`],
      'the scheme alone': ['Authorization: Bearer'],
      'another scheme': [`Authorization: Basic ${apiKey}`],
      'an API secret': [`Authorization: ${shop.apiSecret}`],
      'credentials of an integration': [`Authorization: ${shop.authorization}`],
    }
    const bytes = async (target: string, headers: readonly string[]) =>
      (await sendRaw(clauses.url, requestText(target, headers))).replaceAll(/^(?:Date|X-Request-Id): .*\r\n/gim, '')
    const first = await bytes(`/api/v1/tx/1/${stored}`, [])
    expect(parseRaw(first)).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
    for (const [cause, headers] of Object.entries(failures))
      for (const target of [`/api/v1/tx/1/${stored}`, '/api/v1/tx/x/y', '/api/v1/verify', '/api/v1/tx'])
        expect(await bytes(target, headers), `${cause} on ${target}`).toBe(first)
  })

  it('opens no endpoint of the integration API', async () => {
    for (const authorization of [legacy.apiKey, `Bearer ${legacy.apiKey}`])
      expect((await clauses.get('payments', authorization)).status).toBe(401)
  })
})
