import type { Address } from 'viem'
import { describe, expect, test } from 'vitest'
import { type Bridged, bridgedOf, depositLog, depositNames, fillLog, fillNames } from '../../test/across-logs.js'
import { bridgeDeposit } from '../../test/bridge-deposit.js'
import { eventLog, makeAddresses } from '../../test/router-logs.js'
import type { DecodedPayment } from '../decode/router-decoder.js'
import { yodlDecoder, yodlTopic } from '../decode/router-events.js'
import type { ReceiptLog } from '../rpc/answers.js'
import { decodeFill, findDeposits, isFillOf } from './spoke-pools.js'

const address = (byte: string): Address => `0x${byte.repeat(20)}`
const [router, pool, sender, receiver, token] = makeAddresses('f0', '5b', 'a1', 'b1', 'c1')
const memo = `0x${'01'.repeat(32)}`
const bridged: Bridged = {
  ...{ originChainId: 10n, destinationChainId: 42_161n, depositId: 77n, depositor: sender, recipient: receiver },
  ...{ inputToken: token, inputAmount: 500n, outputToken: address('c2'), outputAmount: 490n, message: '0x1234' },
}
const output = { token: address('c2'), amount: 490n }
const expected = { bridge: 'across', depositId: '77', destinationChainId: 42_161, receiver, output }

const payment = (changes: Readonly<Record<string, unknown>> = {}): ReceiptLog => {
  const log = eventLog('0.8', 'Yodl', { sender, receiver, token, amount: 500n, fees: 0n, memo, ...changes })
  return { ...log, address: router }
}
const deposit = (
  changes: Partial<Bridged> = {},
  by = pool,
  name = depositNames[0] as (typeof depositNames)[number],
) => ({ ...depositLog(name, { ...bridged, ...changes }), address: by })
const isPaymentLog = (log: ReceiptLog) => log.address === router && log.topics[0] === yodlTopic

function find(...logs: ReceiptLog[]) {
  const places = [...logs.keys()].filter((place) => logs[place] !== undefined && isPaymentLog(logs[place]))
  const payments = places.map((place) => {
    const at = { blockNumber: 1, blockHash: '0x', txHash: '0x', txIndex: null, logIndex: place, blockTimestamp: null }
    return yodlDecoder.decode({ ...(logs[place] as ReceiptLog), ...at }, '0.8') as DecodedPayment
  })
  return findDeposits(payments, places, logs, isPaymentLog, new Set([pool]))
}

describe.each(depositNames)('%s', (name) => {
  test('before a payment is its destination', () => {
    expect(find(deposit({}, pool, name), payment())).toEqual([expected])
  })

  test('with the largest numbers is exact', () => {
    const depositId = name === 'FundsDeposited' ? 2n ** 256n - 1n : 2n ** 32n - 1n
    const outputAmount = 2n ** 256n - 1n
    expect(find(deposit({ depositId, outputAmount }, pool, name), payment())).toEqual([
      { ...expected, depositId: String(depositId), output: { token: address('c2'), amount: outputAmount } },
    ])
  })
})

test('one deposit belongs to one payment: the next one', () => {
  expect(find(deposit(), payment(), payment())).toEqual([expected, null])
  expect(find(payment(), deposit(), payment())).toEqual([null, expected])
  expect(find(payment(), deposit())).toEqual([null])
})

test('the last deposit before a payment counts, even where an earlier one would fit', () => {
  expect(find(deposit(), deposit({ inputAmount: 1n }), payment())).toEqual([null])
})

test('other logs in between change nothing', () => {
  const other: ReceiptLog = { address: token, topics: [yodlTopic], data: '0x' }
  expect(find(deposit(), other, deposit({ depositId: 9n }, address('66')), payment())).toEqual([expected])
})

test.each<[string, ReceiptLog]>([
  ['of a contract that is not listed', deposit({}, address('66'))],
  ['that the router itself made up', deposit({}, router)],
  ['of another depositor', deposit({ depositor: address('a2') })],
  ['to another receiver', deposit({ recipient: address('b2') })],
  ['of another token', deposit({ inputToken: address('c3') })],
  ['of less', deposit({ inputAmount: 499n })],
  ['of more', deposit({ inputAmount: 501n })],
  ['to a chain whose number is no number', deposit({ destinationChainId: 2n ** 60n })],
  ['that leaves its output token open', deposit({ outputToken: address('00') })],
])('a deposit %s is none of the payment', (_, log) => expect(find(log, payment())).toEqual([null]))

test('a truncated deposit event, or one with another number of topics, is null and never throws', () => {
  const log = deposit()
  for (let end = 2; end < 2 + 8 * 64; end += 13)
    expect(find({ ...log, data: log.data.slice(0, end) }, payment())).toEqual([null])
  expect(find({ ...log, topics: log.topics.slice(0, 3) }, payment())).toEqual([null])
})

describe.each(fillNames)('%s', (name) => {
  const deposit = bridgeDeposit()
  const bridged = bridgedOf(deposit, { message: `0x${'ee'.repeat(70)}` })
  const isFilled = (changes: Partial<Bridged> = {}) => {
    const fill = decodeFill({ address: '0x', ...fillLog(name, { ...bridged, ...changes }) })
    return fill !== null && isFillOf(fill, deposit)
  }

  test('is decoded, and matches the deposit that it repeats', () => {
    const { originChainId, depositId, depositor, recipient, inputToken, inputAmount, outputToken } = bridged
    expect(decodeFill({ address: '0x', ...fillLog(name, bridged) })).toEqual({
      ...{ originChainId, depositId, depositor, recipient, outputToken, paidTo: recipient },
      ...{ input: { token: inputToken, amount: inputAmount }, paidAmount: bridged.outputAmount },
    })
    expect(isFilled()).toBe(true)
  })

  test.each<[string, Partial<Bridged>]>([
    ['is for another origin', { originChainId: 999n }],
    ['is for another deposit', { depositId: 78n }],
    ['is for another depositor', { depositor: address('77') }],
    ['is for another recipient', { recipient: address('77') }],
    ['paid another one than the recipient', { updatedRecipient: address('77') }],
    ['has another input token', { inputToken: address('77') }],
    ['has another input amount', { inputAmount: 1n }],
    ['has another output token', { outputToken: address('77') }],
  ])('that %s does not fulfill it', (_, changes) => expect(isFilled(changes)).toBe(false))

  test('that is truncated anywhere is parsed whole or not at all', () => {
    const log = fillLog(name, bridged)
    const whole = decodeFill({ address: '0x', ...log })
    for (let end = 2; end < log.data.length; end += 7) {
      const read = decodeFill({ address: '0x', ...log, data: log.data.slice(0, end) })
      if (read !== null) expect(read).toEqual(whole)
    }
    expect(decodeFill({ address: '0x', ...log, topics: log.topics.slice(0, 3) })).toBeNull()
  })
})
