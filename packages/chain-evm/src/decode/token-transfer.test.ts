/** A payment of 0.8 or 0.9 without fees counts only when its transaction moved the token to the receiver. */
import { type Address, encodeFunctionData, type Hex, pad } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { testRouter } from '../../test/contracts.generated.js'
import { emits, memo, openConversionChain, payment } from '../../test/conversion-chain.js'
import { noFeed, payingCall, transferLog } from '../../test/router-logs.js'
import { payer, receiver } from '../../test/test-chain.js'
import { devToken } from '../dev/contracts.generated.js'

/** Below 500 units the router's fee rounds down to nothing. */
const amount = 400n
const bridge: Address = '0x00000000000000000000000000000000000000bb'
const unknown = { listedToken: null, feeds: [], calledAmount: null, serviceFee: null }
const listed = { listedToken: { symbol: 'PAID', currency: 'USD' } }
const noMemo = pad('0x', { size: 32 })
const madeUp = transferLog(payer, receiver, amount)

const chain = await openConversionChain()
const token = await chain.node.fund('PAID', 6, chain.routerA, [payer, chain.wallet])
const otherToken = await chain.node.fund('OTHER', 6, chain.routerA, [payer, chain.wallet])
const tokens = [{ address: token, symbol: 'PAID', currency: 'USD' }]
const read = (height: number, version = '0.8') => chain.read(height, version, { tokens, proof: 'none' })
const pays = (changes: Readonly<Record<string, unknown>> = {}): [Address, Hex] => [
  chain.routerA,
  emits(payment('0.8', amount, { token, fees: 0n, ...changes })),
]
const moves = (to: Address = receiver, value = amount, of = token): [Address, Hex] => [
  of,
  encodeFunctionData({ abi: devToken.abi, functionName: 'transfer', args: [to, value] }),
]
const getPrices = async (...calls: [Address, Hex][]) => {
  const { blockNumber } = await chain.batch(...calls)
  return (await read(blockNumber)).map(({ pricing }) => pricing)
}

describe.each(['0.8', '0.9'])('a direct call to a router of version %s', (version) => {
  /** The router takes the tokens from the payer, hands them on, and reports a payment to the receiver. */
  async function pay(withMemo: Hex) {
    const step = { token, take: amount, giveBack: amount, giveTo: receiver }
    await chain.node.call(testRouter, chain.routerA, 'plan', [payer, receiver, token, amount, withMemo, step])
    const callArgs = { memo: withMemo, receiver, token, amount, priceFeeds: [noFeed, noFeed] }
    const data = payingCall(version, 'yodlWithToken', callArgs)
    const { blockNumber } = await chain.node.execute({ to: chain.routerA, data })
    return read(blockNumber, version)
  }

  const memos = Object.entries({ 'a memo': memo, 'an empty memo': noMemo })
  test.each(memos)('that hands the tokens to the receiver is priced, with %s', async (_, withMemo) => {
    const pricing = { ...listed, feeds: [], calledAmount: amount, serviceFee: 0n }
    expect((await pay(withMemo))[0]?.pricing).toEqual(pricing)
  })
})

describe('through a wrapper contract', () => {
  test('it counts when the transfer comes before it', async () => {
    expect(await getPrices(moves(), pays())).toMatchObject([listed])
  })

  test('each transfer counts for one payment: the one that comes next', async () => {
    expect(await getPrices(moves(), pays(), pays())).toMatchObject([listed, unknown])
    expect(await getPrices(moves(), moves(), pays(), pays())).toMatchObject([listed, unknown])
    expect(await getPrices(pays(), moves(), pays())).toMatchObject([unknown, listed])
    expect(await getPrices(moves(), pays(), moves(), pays())).toMatchObject([listed, listed])
  })

  test('a transfer that a charged payment made counts for no other', async () => {
    const charged = pays({ amount: amount + 1n, fees: 1n })
    expect(await getPrices(moves(), charged, pays())).toMatchObject([listed, unknown])
  })

  test.each<[string, () => [Address, Hex][]]>([
    ['none', () => []],
    ['one behind the payment', () => [pays(), moves()]],
    ['one to somebody else', () => [moves(bridge), pays()]],
    ['one of less', () => [moves(receiver, amount - 1n), pays()]],
    ['one of more', () => [moves(receiver, amount + 1n), pays()]],
    ['two parts', () => [moves(receiver, 100n), moves(receiver, 300n), pays()]],
    ['one of another token', () => [moves(receiver, amount, otherToken), pays()]],
    ['one that paid for something else, before the deposit', () => [moves(), moves(bridge), pays()]],
    ['one that another contract made up', () => [[chain.routerB, emits(madeUp)], pays()]],
    ['one that the router itself made up', () => [[chain.routerA, emits(madeUp)], pays()]],
  ])('nothing is known of its price with a transfer: %s', async (_, calls) => {
    const payments = calls()
    expect(await getPrices(...(payments.length === 0 ? [pays()] : payments))).toEqual([unknown])
  })
})

describe('no receipt is read', () => {
  const native = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
  test.each([
    ['of a payment with fees', '0.8', { fees: 1n }, 'PAID'],
    ['of the native token', '0.9', { token: native }, 'ETH'],
    ['by a version that has no bridge', '0.7', {}, 'PAID'],
  ])('%s', async (_, version, changes, symbol) => {
    const { blockNumber } = await chain.batch(pays(changes))
    const requests = await chain.front.during(async () =>
      expect(await read(blockNumber, version)).toMatchObject([{ pricing: { listedToken: { symbol } } }]),
    )
    expect(requests.flat()).not.toContain('eth_getTransactionReceipt')
  })
})

describe('the receipts', () => {
  let height: number
  beforeEach(async () => {
    for (const [to, data] of [moves(), pays(), pays(), pays()]) await chain.node.send({ to, data })
    height = await chain.node.mine()
  })

  test('of many transactions come in one request, and a transfer of another transaction proves nothing', async () => {
    const requests = await chain.front.during(async () =>
      expect((await read(height)).map(({ pricing }) => pricing)).toEqual([unknown, unknown, unknown]),
    )
    const ofReceipts = requests.filter((methods) => methods.includes('eth_getTransactionReceipt'))
    expect(ofReceipts.map((methods) => methods.length)).toEqual([3])
  })

  const otherHash = `0x${'ab'.repeat(32)}`
  test.each<[string, (receipt: { logs: unknown[] }) => unknown, string]>([
    ['is of another transaction', (it) => ({ ...it, transactionHash: otherHash }), 'ERR_CHAIN_UNAVAILABLE'],
    ['is missing', () => null, 'ERR_CHAIN_RANGE_GONE'],
    ['is of another block', (it) => ({ ...it, blockHash: otherHash }), 'ERR_CHAIN_RANGE_GONE'],
    ['has a log that is none', (it) => ({ ...it, logs: [null] }), 'ERR_CHAIN_UNAVAILABLE'],
    ['lacks the payment', (it) => ({ ...it, logs: [] }), 'ERR_CHAIN_UNAVAILABLE'],
  ])('reject the range when one %s', async (_, change, code) => {
    chain.front.lie('eth_getTransactionReceipt', change)
    await expect(read(height)).rejects.toMatchObject({ code })
  })
})
