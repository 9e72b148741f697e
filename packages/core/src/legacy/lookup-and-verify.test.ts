import { type LinkConfig, type VerifyRequest, verificationErrors } from '@payment-integration/contract'
import { lookupWriteSchema } from '@payment-integration/contract/internal'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { getRational, sameRational } from '../../test/support/rational.js'
import { hashOf, plainPricing, storedPayment } from '../../test/support/stored-payment.js'
import { formatUnits, type StoredPayment } from '../payments/payment.js'
import { defaultMaxExtraFeeBps } from './invoice-and-fees.js'
import type { AccountRecord } from './legacy-store.js'
import { createLegacyQueries, type LegacyDeps } from './lookup-and-verify.js'

const txHash = hashOf('transaction')
const receiver = `0x${'Ab'.repeat(20)}`
const elsewhere = `0x${'Cd'.repeat(20)}`
const usdc = storedPayment({ id: 'x' }).tokenOut.address
const [link, address, currency, amount] = verificationErrors

/** One of the payments of the transaction: 10 USDC to the receiver, on chain 137. */
const paid = (given: Partial<StoredPayment> & { ordinal?: number } = {}) => {
  const ordinal = given.ordinal ?? 0
  const { tokenOut } = storedPayment({ id: 'x' })
  return storedPayment({
    id: `payment ${ordinal}`,
    chainId: 137,
    txHash,
    receiver: receiver.toLowerCase(),
    memoHex: `0x${Buffer.from('order-7').toString('hex').padEnd(64, '0')}`,
    tokenOut: { ...tokenOut, gross: 10_000_000n, net: 9_955_000n },
    ...given,
    ordinal,
  })
}

const account = (handle: string, config: LinkConfig, given: Partial<AccountRecord> = {}): AccountRecord => ({
  ...{ handle, address: receiver.toLowerCase(), config, createdAt: 0 },
  ...given,
})
const accepting = (...tokens: LinkConfig['coins'][number]['tokens']): LinkConfig => ({
  coins: [{ chainId: 137, tokens }],
})
const anyUsdc = accepting({ symbol: 'USDC' })

function setup(
  payments: readonly StoredPayment[],
  accounts: readonly AccountRecord[] = [],
  indexedTo = 149,
  options: Pick<LegacyDeps, 'confirmations' | 'maxExtraFeeBps'> = {},
) {
  const queries = createLegacyQueries({
    payments: {
      transaction: async (asked) => ({
        payments: payments
          .filter(({ chainId, txHash }) => chainId === asked.chainId && txHash === asked.txHash)
          .toSorted((a, b) => a.ordinal - b.ordinal),
        indexedTo: asked.chainId === 137 ? indexedTo : null,
      }),
    },
    accounts: {
      find: async (handle) => accounts.find((account) => account.handle === handle) ?? null,
      findByAddress: async (address) =>
        accounts
          .filter((each) => [each.address, ...each.config.coins.map((coin) => coin.defaultAddress)].includes(address))
          .toSorted((a, b) => (a.handle < b.handle ? -1 : 1)),
    },
    ...options,
  })
  const asked = { invoiceAmount: '10', invoiceCurrency: 'USD', address: receiver }
  const request: VerifyRequest = { chainId: 137, txHash, ...asked }
  const getErrors = async (change: Partial<VerifyRequest> = {}) => {
    const { verified, result } = await queries.verify({ ...request, ...change })
    const errors = result.payments.map((payment) => payment.verificationErrors)
    expect(result.payments.map((payment) => payment.verified)).toEqual(errors.map((each) => each.length === 0))
    expect(verified).toBe(errors.every((each) => each.length === 0))
    return errors
  }
  return { queries, request, getErrors }
}

const feed = (given: object) => ({
  ...{ use: 'multiply' as const, contract: elsewhere, pair: null, rate: 1n, decimals: 0 },
  ...given,
})

it('a look-up shows every payment of the transaction in order, with facts of the chain alone', async () => {
  const second = paid({
    ordinal: 1,
    primary: false,
    memoHex: hashOf(''),
    tokenOut: { address: usdc, symbol: null, decimals: 18, gross: 5n, net: 5n },
    pricing: { ...plainPricing, listedToken: null },
  })
  const first = paid({ state: 'refund_success', recipient: { title: 'Secret', subtitle: null }, version: 4 })
  const { queries } = setup([second, first])
  const answer = await queries.lookup({ chainId: '137', txHash: txHash.toUpperCase().replace('0X', '0x') })
  expect(lookupWriteSchema.parse(answer)).toEqual({
    chainId: 137,
    txHash,
    payments: [
      {
        ...{ memo: 'order-7', receiver: receiver.toLowerCase(), tokenSymbol: 'USDC' },
        tokenAmount: { formatted: '10', value: '10000000' },
        tokenAmountNet: { formatted: '9.955', value: '9955000' },
        totalFees: { formatted: '0.045', value: '45000' },
        fees: [
          { type: 'ServiceFee', formatted: '0.02', value: '20000' },
          { type: 'ExtraFee', formatted: '0.025', value: '25000' },
        ],
        ...{ invoiceAmount: '10', invoiceCurrency: 'USD', conversion: '', priceFeeds: [], final: false },
      },
      {
        ...{ memo: '', receiver: receiver.toLowerCase(), tokenSymbol: '' },
        tokenAmount: { formatted: '0.000000000000000005', value: '5' },
        tokenAmountNet: { formatted: '0.000000000000000005', value: '5' },
        totalFees: { formatted: '0', value: '0' },
        ...{ fees: [], invoiceAmount: '', invoiceCurrency: '', conversion: '', priceFeeds: [], final: false },
      },
    ],
  })
})

it('a look-up lists price feeds in order of use, with their rates', async () => {
  const feeds = [
    feed({ contract: null, pair: { base: 'THB', quote: 'USD' }, rate: 27_500_000_000_000_000n, decimals: 18 }),
    feed({ use: 'divide', pair: { base: 'USDC', quote: 'USD' }, rate: 99_990_000n, decimals: 8 }),
  ]
  const show = async (payment: StoredPayment) =>
    (await setup([payment]).queries.lookup({ chainId: '137', txHash })).payments[0]
  expect(await show(paid({ pricing: { ...plainPricing, feeds, calledAmount: 363_600_000n } }))).toMatchObject({
    ...{ invoiceAmount: '363.6', invoiceCurrency: 'THB', conversion: 'external:THBUSDC' },
    priceFeeds: [
      { name: 'THBUSD', contract: '', rate: '0.0275' },
      { name: 'USDCUSD', contract: elsewhere, rate: '0.9999' },
    ],
  })
  expect(await show(paid({ pricing: { ...plainPricing, feeds: [feed({})] } }))).toMatchObject({
    ...{ invoiceAmount: '', invoiceCurrency: '', conversion: '' },
    priceFeeds: [{ name: '', contract: elsewhere, rate: '1' }],
  })
})

it.each<[string, Partial<VerifyRequest>, string[]]>([
  ['another address', { address: elsewhere }, [address]],
  ['another currency', { invoiceCurrency: 'EUR' }, [currency]],
  ['the net amount', { invoiceAmount: '9.955' }, [amount]],
  ['an unknown handle', { address: 'nobody' }, [address]],
  ['what can be neither address nor handle', { address: '\u212a%2e' }, [address]],
  ['an address with 0X, which is no handle', { address: receiver.replace('0x', '0X') }, [address]],
  ['nothing that fits', { address: 'nobody', invoiceCurrency: 'EUR', invoiceAmount: 1 }, [address, currency, amount]],
  ['the address in another case', { address: receiver.toLowerCase() }, []],
])('verify judges %s', async (_what, change, errors) => {
  expect(await setup([paid()]).getErrors(change)).toEqual([errors])
})

it('verify never matches a token that only calls itself USDC, nor one with a feed of its own', async () => {
  const fake = { ...plainPricing, listedToken: null }
  const own = feed({ pair: { base: 'CHF', quote: 'USD' } })
  expect(await setup([paid({ pricing: fake })]).getErrors()).toEqual([[link, currency, amount]])
  const priced = setup([paid({ pricing: { ...fake, feeds: [own], calledAmount: 10_000_000n } })])
  expect(await priced.getErrors({ invoiceCurrency: 'CHF' })).toEqual([[link, currency, amount]])
  const unlisted = { ...plainPricing, feeds: [feed({})], calledAmount: 10_000_000n }
  expect(await setup([paid({ pricing: unlisted })]).getErrors()).toEqual([[currency, amount]])
})

const otherToken = `0x${'71'.repeat(20)}`
const onlyOther = accepting({ symbol: 'USDC', address: otherToken })
const usdcTo = (address: string): LinkConfig => {
  return { coins: [{ chainId: 137, defaultAddress: address.toLowerCase(), tokens: [{ symbol: 'USDC' }] }] }
}
const [elsewhereOn137, hereOn137] = [usdcTo(elsewhere), usdcTo(receiver)]
const on1: LinkConfig = { coins: [{ chainId: 1, tokens: [{ symbol: 'USDC' }] }] }

const notHere = { address: elsewhere.toLowerCase() }

it.each<[string, AccountRecord, string[]]>([
  ['accepts the token by its listed symbol', account('shop', anyUsdc), []],
  ['accepts the token by address', account('shop', accepting({ symbol: 'any', address: usdc })), []],
  ['accepts another token', account('shop', accepting({ symbol: 'DAI' })), [link]],
  ['accepts another token of the same symbol', account('shop', onlyOther), [link]],
  ['accepts the symbol in another case', account('shop', accepting({ symbol: 'usdc' })), [link]],
  ['accepts no token', account('shop', accepting()), [link]],
  ['is not on that chain', account('shop', on1), [link]],
  ['is not on that chain, and has another address', account('shop', on1, notHere), [link, address]],
  ['receives elsewhere on that chain', account('shop', elsewhereOn137), [link, address]],
  ['receives here on that chain alone', account('shop', hereOn137, notHere), []],
])('judges a handle that %s', async (_what, shop, errors) => {
  expect(await setup([paid()], [shop]).getErrors({ address: 'Shop' })).toEqual([errors])
})

it.each<[string, AccountRecord[], string[]]>([
  ['whose account accepts the token', [account('shop', anyUsdc)], []],
  ['whose account accepts another', [account('shop', onlyOther)], [link]],
  ['of two accounts, the second of which accepts', [account('a', onlyOther), account('b', anyUsdc)], []],
  ['whose account receives elsewhere on that chain', [account('shop', elsewhereOn137)], [link]],
  ['whose account is not on that chain', [account('shop', on1)], [link]],
  ['without an account, beside others', [account('shop', elsewhereOn137, { address: usdc })], []],
])('judges an address %s', async (_what, accounts, errors) => {
  expect(await setup([paid()], accounts).getErrors()).toEqual([errors])
})

it('rejects the address where the account receives when the payment did not go there', async () => {
  const { getErrors } = setup([paid()], [account('shop', elsewhereOn137)])
  expect(await getErrors({ address: elsewhere })).toEqual([[address]])
})

it('accepts an unlisted token only by its address, and still knows no invoice for it', async () => {
  const fake = paid({ pricing: { ...plainPricing, listedToken: null } })
  const byAddress = account('shop', accepting({ symbol: 'USDC', address: usdc }))
  expect(await setup([fake], [account('shop', anyUsdc)]).getErrors()).toEqual([[link, currency, amount]])
  expect(await setup([fake], [byAddress]).getErrors()).toEqual([[currency, amount]])
})

const left = paid({ offChain: true })
const missing = { code: 'ERR_TRANSACTION_NOT_FOUND' }
const never = { confirmations: { 137: null } }
/** The payment is in block 100, which is final at 150. The first stands for a head that stalls after it went back. */
const heights = [99, 100, 149]

const query = { chainId: '137', txHash }
const lookup = async (payments: readonly StoredPayment[], indexedTo: number, options = {}) =>
  (await setup(payments, [], indexedTo, options).queries.lookup(query)).payments

it.each(heights)('a payment off the chain is not final while the chain is indexed up to %d', async (indexedTo) => {
  expect(await lookup([left], indexedTo)).toMatchObject([{ final: false }])
})

it('a payment off the chain is shown no more once its height is final', async () => {
  await expect(lookup([left], 150)).rejects.toMatchObject(missing)
  expect(await lookup([left, paid({ ordinal: 1 })], 150)).toMatchObject([{ final: true }])
})

it.each(heights)('a dropped payment is not shown again while the chain is indexed up to %d', async (indexedTo) => {
  const dropped = { ...left, state: 'failure', dropped: { formerState: null } } as const
  await expect(lookup([dropped], indexedTo)).rejects.toMatchObject(missing)
  expect(await lookup([{ ...dropped, offChain: false, dropped: null }], indexedTo)).toHaveLength(1)
})

it.each([...heights, 1_000_000])('a payment off the chain is not shown where nothing is final, at %d', async (at) => {
  await expect(lookup([left], at, never)).rejects.toMatchObject(missing)
  expect(await lookup([left, paid({ ordinal: 1 })], at, never)).toMatchObject([{ final: false }])
})

it.each([...heights, 150])('a payment off the chain does not verify, indexed up to %d', async (indexedTo) => {
  for (const options of [{}, never])
    await expect(setup([left], [], indexedTo, options).getErrors()).rejects.toMatchObject(missing)
})

it('a payment off the chain is left out of a transaction that is verified by its other payments', async () => {
  const { tokenOut } = paid()
  const other = paid({ ordinal: 1, offChain: true, tokenOut: { ...tokenOut, gross: 1n, net: 1n } })
  expect(await setup([paid(), other]).getErrors()).toEqual([[]])
  expect(await setup([paid(), { ...other, offChain: false }]).getErrors()).toEqual([[], [amount]])
  expect(await setup([left, { ...other, offChain: false }]).getErrors()).toEqual([[amount]])
})

const gross = 10_000_000n
const serviceFee = 20_000n
const onePercent = 100_000n

/** A payment of which `taken` units did not reach the receiver. */
const less = (taken: bigint, given: Partial<StoredPayment> = {}, of = gross) =>
  paid({ tokenOut: { ...paid().tokenOut, gross: of, net: of - taken }, ...given })

const judged = (payment: StoredPayment, maxExtraFeeBps?: number, change = {}) =>
  setup([payment], [], 149, { maxExtraFeeBps }).getErrors(change)

it('verify lets pass 1 % beside the fee of the service when nothing else is said, and not one unit more', async () => {
  expect(defaultMaxExtraFeeBps).toBe(100)
  expect(await judged(less(serviceFee + onePercent))).toEqual([[]])
  expect(await judged(less(serviceFee + onePercent + 1n))).toEqual([[amount]])
})

it.each<[number, bigint]>([
  [0, 0n],
  [1, 1_000n],
  [250, 250_000n],
  [4_999, 4_999_000n],
])('with a limit of %d basis points verify lets pass %d units and not one more', async (limit, allowed) => {
  expect(await judged(less(serviceFee + allowed), limit)).toEqual([[]])
  expect(await judged(less(serviceFee + allowed + 1n), limit)).toEqual([[amount]])
})

it('with a limit of 10000 basis points verify lets everything pass', async () => {
  expect(await judged(less(gross), 10_000)).toEqual([[]])
  expect(await judged(less(gross), 9_979)).toEqual([[amount]])
})

it('verify rounds both fees down', async () => {
  const invoiceAmount = '0.001999'
  // 0.2 % of 1999 units is 3.998, and 1 % is 19.99.
  expect(await judged(less(22n, {}, 1_999n), undefined, { invoiceAmount })).toEqual([[]])
  expect(await judged(less(23n, {}, 1_999n), undefined, { invoiceAmount })).toEqual([[amount]])
  // Of 1 unit there is nothing to take.
  expect(await judged(less(0n, {}, 1n), undefined, { invoiceAmount: '0.000001' })).toEqual([[]])
  expect(await judged(less(1n, {}, 1n), undefined, { invoiceAmount: '0.000001' })).toEqual([[amount]])
})

it.each<[string, Partial<StoredPayment>]>([
  ['no memo', { memoHex: hashOf('') }],
  ['a call that tells no fee of the service', { pricing: { ...plainPricing, serviceFee: 0n } }],
  ['a call that calls all of it a fee of the service', { pricing: { ...plainPricing, serviceFee: gross } }],
])('verify counts the same with %s', async (_what, given) => {
  expect(await judged(less(serviceFee + onePercent, given))).toEqual([[]])
  expect(await judged(less(serviceFee + onePercent + 1n, given))).toEqual([[amount]])
})

it.each([-1, 10_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects a limit of %d', (maxExtraFeeBps) => {
  const build = () => setup([], [], 149, { maxExtraFeeBps })
  expect(build).toThrow(RangeError)
  expect(build).toThrow(`maxExtraFeeBps is ${maxExtraFeeBps}; pass a whole number from 0 to 10000.`)
})

it('verify matches an amount exactly when it is the same rational, as text and as number', async () => {
  const spelled = (text: string) =>
    fc.integer({ min: 0, max: 3 }).map((zeros) => {
      const point = text.includes('.') || zeros === 0 ? '' : '.'
      return `${text}${point}${'0'.repeat(zeros)}`
    })
  const asked = (gross: bigint, decimals: number) =>
    fc.oneof(
      spelled(formatUnits(gross, decimals)),
      spelled(formatUnits(gross + 1n, decimals)),
      fc.constant(Number(formatUnits(gross, decimals))),
      fc.double({ min: 1e-6, max: 1e15, noNaN: true }),
    )
  const sample = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
    .chain(([gross, decimals]) => fc.tuple(fc.constant(gross), fc.constant(decimals), asked(gross, decimals)))
  const met = { string: new Set<boolean>(), number: new Set<boolean>() }
  await fc.assert(
    fc.asyncProperty(sample, async ([gross, decimals, invoiceAmount]) => {
      const { tokenOut } = paid()
      const { getErrors } = setup([paid({ tokenOut: { ...tokenOut, decimals, gross, net: gross } })])
      const [have, want] = [{ top: gross, bottom: 10n ** BigInt(decimals) }, getRational(String(invoiceAmount))]
      if (want === null) throw new Error(`${invoiceAmount} is no decimal`)
      const same = sameRational(have, want)
      met[typeof invoiceAmount as 'string' | 'number'].add(same)
      expect(await getErrors({ invoiceAmount })).toEqual([same ? [] : [amount]])
    }),
    { numRuns: 1_000 },
  )
  expect([met.string.size, met.number.size]).toEqual([2, 2])
})
