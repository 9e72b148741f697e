/** docs/interface.md 2.4, 4.3 (lookup, 200) and 8 (finality), clause by clause. */
import { finality } from '@payment-integration/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'
import { feed, legacyCalls, pricing } from '../../test/support/legacy-calls.js'

const word = (byte: string) => `0x${byte.repeat(32)}`
const wallet = (byte: string) => `0x${byte.repeat(20)}`
const memoHex = (text: string) => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`
const usdc = { address: wallet('c0'), symbol: 'USDC', decimals: 6 }
const paid = (gross: bigint, net = gross) => ({ ...usdc, gross, net })

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

/** Payments of one transaction in a separate block, and the look-up's items for them. */
async function mineAndLookUp(txHash: string, payments: readonly Mined[], chainId = 1) {
  clauses.chain(chainId).mine(payments.map((payment, ordinal) => ({ pricing: pricing(), ...payment, txHash, ordinal })))
  await clauses.index()
  const answer = await legacy.lookup(txHash, chainId)
  expect(answer.status).toBe(200)
  return answer.body.payments
}

describe('the look-up', () => {
  it('has the fields of interface 2.4 and no other, at every level, without verification', async () => {
    const txHash = word('01')
    clauses.chain().mine([
      {
        txHash,
        receiver: wallet('a1'),
        memoHex: memoHex('invoice 17'),
        tokenOut: paid(11_000_000n, 10_972_500n),
        pricing: pricing({ feeds: [feed('multiply', ['CHF', 'USD'], 110_000_000n)] }),
      },
    ])
    await clauses.index()
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

  it('lists every payment of a transaction, in the order of their logs', async () => {
    const receivers = ['a3', 'a1', 'a2', 'a1'].map(wallet)
    const items = await mineAndLookUp(
      word('02'),
      receivers.map((receiver, index) => ({
        receiver,
        tokenOut: paid(BigInt(index + 1)),
        memoHex: memoHex(`${index}`),
      })),
    )
    expect(items.map((item: { receiver: string }) => item.receiver)).toEqual(receivers)
    expect(items.map((item: { memo: string }) => item.memo)).toEqual(['0', '1', '2', '3'])
    expect(items.map((item: { tokenAmount: object }) => item.tokenAmount)).toEqual(
      [1, 2, 3, 4].map((value) => ({ formatted: `0.00000${value}`, value: `${value}` })),
    )
  })

  it('has amounts in token units and in base units, through no float', async () => {
    const amounts: readonly (readonly [bigint, number, string])[] = [
      [9_007_199_254_740_993_000_000_000_000_001n, 18, '9007199254740.993000000000000001'],
      [2n ** 256n - 1n, 0, `${2n ** 256n - 1n}`],
      [1n, 18, '0.000000000000000001'],
      [100_000_000n, 6, '100'],
      [0n, 6, '0'],
    ]
    const items = await mineAndLookUp(
      word('03'),
      amounts.map(([gross, decimals]) => ({ tokenOut: { ...usdc, decimals, gross, net: gross } })),
    )
    amounts.forEach(([value, , formatted], index) => {
      expect(items[index].tokenAmount).toEqual({ formatted, value: `${value}` })
      expect(items[index].tokenAmountNet).toEqual({ formatted, value: `${value}` })
    })
  })

  const serviceFee = { type: 'ServiceFee', formatted: '0.002', value: '2000' }
  const extraFee = (formatted: string, value: string) => ({ type: 'ExtraFee', formatted, value })
  const fees: readonly (readonly [string, string, bigint | null, bigint, string, readonly object[]])[] = [
    [
      'the service fee of 0.2 percent, and what others took',
      '10',
      null,
      2_500n,
      '0.0025',
      [serviceFee, extraFee('0.0005', '500')],
    ],
    ['the service fee of the call', '11', 2_000n, 9_000n, '0.009', [serviceFee, extraFee('0.007', '7000')]],
    ['the service fee alone', '12', null, 2_000n, '0.002', [serviceFee]],
    ['what others took alone', '13', 0n, 2_500n, '0.0025', [extraFee('0.0025', '2500')]],
    ['no fee at all', '14', null, 0n, '0', []],
  ]
  it.each(fees)('splits the fees: %s', async (_, byte, told, total, formatted, expected) => {
    const [item] = await mineAndLookUp(word(byte), [
      { tokenOut: paid(1_000_000n, 1_000_000n - total), pricing: pricing({ serviceFee: told }) },
    ])
    expect(item.totalFees).toEqual({ formatted, value: `${total}` })
    expect(item.fees).toEqual(expected)
  })

  it('has text as on the chain, and an empty symbol when the token answers none', async () => {
    const [item, nameless] = await mineAndLookUp(word('04'), [
      { memoHex: memoHex('Tisch 4 ☕ <b>'), tokenOut: { ...paid(1n), symbol: 'USD₮0' } },
      { tokenOut: { ...paid(1n), symbol: null }, memoHex: word('00') },
    ])
    expect([item.memo, item.tokenSymbol]).toEqual(['Tisch 4 ☕ <b>', 'USD₮0'])
    expect([nameless.memo, nameless.tokenSymbol]).toEqual(['', ''])
  })
})

describe('a conversion', () => {
  const chf = { listedToken: { symbol: 'ZCHF', currency: 'CHF' } }
  const other = wallet('fd')
  const rows: readonly (readonly [string, string, Mined, object])[] = [
    [
      'there is none: empty, and the invoice is the paid amount',
      '20',
      { tokenOut: paid(10_500_000n) },
      { invoiceAmount: '10.5', invoiceCurrency: 'USD', conversion: '', priceFeeds: [] },
    ],
    [
      'by two feeds: both, in the order of use',
      '23',
      {
        tokenOut: paid(1_818_181_818n),
        pricing: pricing({
          ...chf,
          feeds: [
            feed('multiply', ['ETH', 'USD'], 2_000_00000000n),
            feed('divide', ['CHF', 'USD'], 110_000_000n, { contract: other }),
          ],
        }),
      },
      {
        invoiceAmount: '1',
        invoiceCurrency: 'ETH',
        conversion: 'chainlink:ETHCHF',
        priceFeeds: [
          { name: 'ETHUSD', contract: wallet('fe'), rate: '2000' },
          { name: 'CHFUSD', contract: other, rate: '1.1' },
        ],
      },
    ],
    [
      'by a signed rate: without a contract',
      '24',
      {
        tokenOut: paid(2_500_000n),
        pricing: pricing({
          feeds: [feed('multiply', ['COP', 'USD'], 250_000_000_000_000n, { contract: null, decimals: 18 })],
        }),
      },
      {
        invoiceAmount: '10000',
        invoiceCurrency: 'COP',
        conversion: 'external:COPUSD',
        priceFeeds: [{ name: 'COPUSD', contract: '', rate: '0.00025' }],
      },
    ],
    [
      'by an unlisted feed: the invoice is empty',
      '25',
      { tokenOut: paid(1_000_000n), pricing: pricing({ feeds: [feed('multiply', null, 110_000_000n)] }) },
      {
        invoiceAmount: '',
        invoiceCurrency: '',
        conversion: '',
        priceFeeds: [{ name: '', contract: wallet('fe'), rate: '1.1' }],
      },
    ],
    [
      'whose call names the amount: exactly that amount',
      '28',
      {
        tokenOut: paid(10_038_880n),
        pricing: pricing({ calledAmount: 10_040_000n, feeds: [feed('divide', ['USDC', 'USD'], 100_011_156n)] }),
      },
      { invoiceAmount: '10.04', invoiceCurrency: 'USD', conversion: 'chainlink:USDUSDC' },
    ],
  ]
  it.each(rows)('is reported: %s', async (_, byte, payment, expected) => {
    const [item] = await mineAndLookUp(word(byte), [payment])
    expect(item).toMatchObject(expected)
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

describe('a payment of an integration', () => {
  it('is shown to every key as facts only: no integration, state or merchant', async () => {
    const txHash = word('40')
    clauses.chain().mine([{ txHash, integrationAddress: shop.address, pricing: pricing(), tokenOut: paid(1_000_000n) }])
    await clauses.index()
    const invoice = { amount: '99.01', currency: 'XTS', settlementAmount: '98.02', settlementCurrency: 'XTS' }
    await clauses.update({ txHash, state: 'refund_pending', recipient: { title: 'CANARY', subtitle: null }, invoice })
    const { status, text, body } = await legacy.lookup(txHash)
    expect(status).toBe(200)
    expect(body.payments[0]).toMatchObject({ invoiceAmount: '1', invoiceCurrency: 'USD' })
    for (const hidden of [shop.address.slice(2), 'CANARY', 'refund_pending', 'XTS', '99.01', '"state"', '"version"'])
      expect(text).not.toContain(hidden)
  })
})
