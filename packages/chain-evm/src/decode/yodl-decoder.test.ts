import { type Address, type Hex, pad, toEventSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodedVersions, routerEvents } from '../../test/abis.js'
import { eventLog, makeAddresses, makeCodeHash, nodeLog, zeroAddress } from '../../test/router-logs.js'
import type { DecodedConversion } from './router-decoder.js'
import { yodlDecoder, yodlTopic } from './router-events.js'

const [sender, receiver, token, feedA, feedB] = makeAddresses('a1', 'b2', 'c3', 'd4', 'e5')
const memo = pad('0xff00de', { dir: 'right' })

const isEarly = (version: string) => ['0.1', '0.2'].includes(version)
function paymentLog(version: string, amount: bigint, fees: bigint) {
  const name = isEarly(version) ? 'Payment' : 'Yodl'
  return nodeLog(eventLog(version, name, { sender, receiver, token, amount, fees, memo }))
}
const step = (use: string, contract: Address, rate: bigint) => ({ use, contract, codeHash: null, rate })
function decodeEvent(version: string, name: string, args: Readonly<Record<string, unknown>>) {
  return yodlDecoder.decode(nodeLog(eventLog(version, name, args)), version)
}

test('the topics are those of the events that pay and convert, in any version', () => {
  const topics = (pattern: RegExp) =>
    new Set(
      decodedVersions.flatMap((version) =>
        routerEvents(version)
          .filter(({ name }) => pattern.test(name))
          .map((event) => toEventSelector(event)),
      ),
    )
  expect(new Set(yodlDecoder.paymentTopics)).toEqual(topics(/^(Payment|Yodl)$/))
  expect(new Set(yodlDecoder.conversionTopics)).toEqual(topics(/^Convert/))
})

describe.each(decodedVersions)('version %s', (version) => {
  test('is decoded: amount is gross, net is less the fees, the memo stays bytes', () => {
    expect(yodlDecoder.supportsVersion(version)).toBe(true)
    expect(yodlDecoder.decode(paymentLog(version, 1_000_000n, 2_500n), version)).toEqual({
      ...{ kind: 'payment', provedBy: 'event', sender, receiver, token },
      ...{ gross: 1_000_000n, net: 997_500n, memoHex: memo },
    })
  })

  test('has no events of other versions', () => {
    const topics = new Set(routerEvents(version).map((event) => toEventSelector(event) as string))
    const others = decodedVersions.flatMap((other) => routerEvents(other))
    const foreign = others.filter((one) => !topics.has(toEventSelector(one)) && /^(Payment|Yodl|Conv)/.test(one.name))
    expect(foreign.length).toBeGreaterThan(0)
    for (const event of foreign)
      expect(yodlDecoder.decode(nodeLog({ topics: [toEventSelector(event)], data: '0x' }), version)).toEqual({
        kind: 'malformed',
        reason: `version ${version} has no event ${toEventSelector(event)}`,
      })
  })
})

describe.each(['0.1', '0.2'])('a conversion of version %s', (version) => {
  const use = version === '0.1' ? 'multiply' : 'unknown'
  test(`names one feed, its use is ${use}`, () => {
    expect(decodeEvent(version, 'Convert', { priceFeed: feedA, exchangeRate: 108n })).toEqual({
      kind: 'conversion',
      steps: [step(use, feedA, 108n)],
      isForgeable: false,
    })
  })

  test.each([
    ['a rate of 0', { exchangeRate: 0n }, 'not above 0'],
    ['a rate below 0', { exchangeRate: -1n }, 'not above 0'],
    ['no feed', { priceFeed: zeroAddress }, 'names no price feed'],
  ])('with %s is malformed', (_, change, reason) => {
    const decoded = decodeEvent(version, 'Convert', { priceFeed: feedA, exchangeRate: 108n, ...change })
    expect(decoded).toEqual({ kind: 'malformed', reason: expect.stringContaining(reason) })
  })
})

describe.each(['0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9'])('a conversion of version %s', (version) => {
  const isLate = Number(version) >= 0.6
  const convert = (priceFeed0: Address, priceFeed1: Address, exchangeRate0: bigint, exchangeRate1: bigint) =>
    decodeEvent(version, 'Convert', { priceFeed0, priceFeed1, exchangeRate0, exchangeRate1 })
  const getSteps = (decoded: unknown) => (decoded as DecodedConversion).steps

  test(`can${isLate ? '' : 'not'} be forged`, () => {
    expect(convert(feedA, feedB, 108n, 2n)).toMatchObject({ kind: 'conversion', isForgeable: isLate })
  })

  test('with two feeds multiplies by the first, then divides by the second', () => {
    const steps = [step('multiply', feedA, 108n), step('divide', feedB, 2n)]
    expect(getSteps(convert(feedA, feedB, 108n, 2n))).toEqual(steps)
  })

  test(`with the first feed alone ${isLate ? 'multiplies' : 'does not say how'}`, () => {
    const use = isLate ? 'multiply' : 'unknown'
    expect(getSteps(convert(feedA, zeroAddress, 108n, 0n))).toEqual([step(use, feedA, 108n)])
  })

  test('with the second feed alone divides by the first rate', () => {
    expect(getSteps(convert(zeroAddress, feedB, 108n, 0n))).toEqual([step('divide', feedB, 108n)])
  })

  test('of the largest rate is exact', () => {
    const largest = 2n ** 255n - 1n
    expect(getSteps(convert(feedA, zeroAddress, largest, 0n))).toMatchObject([{ rate: largest }])
  })

  test.each([
    ['no feeds', [zeroAddress, zeroAddress, 1n, 1n], 'names no price feed'],
    ['a first rate of 0', [feedA, feedB, 0n, 2n], 'not above 0'],
    ['a second rate of 0', [feedA, feedB, 108n, 0n], 'not above 0'],
    ['a second rate below 0', [feedA, feedB, 108n, -2n], 'not above 0'],
    ['a rate below 0', [zeroAddress, feedB, -(2n ** 255n), 0n], 'not above 0'],
  ] as [string, Parameters<typeof convert>, string][])('with %s is malformed', (_, args, reason) => {
    expect(convert(...args)).toEqual({ kind: 'malformed', reason: expect.stringContaining(reason) })
  })
})

describe.each(['0.6', '0.7', '0.8', '0.9'])('a conversion of version %s with a signed rate', (version) => {
  const convert = (priceFeed1: Address, exchangeRate0: bigint, exchangeRate1: bigint) =>
    decodeEvent(version, 'ConvertWithExternalRate', { currency0: 'CHF', priceFeed1, exchangeRate0, exchangeRate1 })
  const chf = { use: 'multiply', contract: null, codeHash: makeCodeHash('CHF'), rate: 12n }

  test('multiplies by it, and divides by the feed when there is one', () => {
    expect(convert(zeroAddress, 12n, 0n)).toEqual({ kind: 'conversion', steps: [chf], isForgeable: true })
    expect(convert(feedB, 12n, 2n)).toEqual({
      kind: 'conversion',
      steps: [chf, step('divide', feedB, 2n)],
      isForgeable: true,
    })
  })

  test('of 0 is malformed', () => {
    expect(convert(zeroAddress, 0n, 0n).kind).toBe('malformed')
    expect(convert(feedB, 12n, 0n).kind).toBe('malformed')
  })
})

test.each(['0.0', '0.10', '1.0', ''])('version %j is not read', (version) => {
  expect(yodlDecoder.supportsVersion(version)).toBe(false)
})

test.each([0n, 1n, 2n ** 256n - 1n])('an amount of %i is exact', (amount) => {
  expect(yodlDecoder.decode(paymentLog('0.8', amount, 0n), '0.8')).toMatchObject({ gross: amount, net: amount })
})

test.each(decodedVersions)(
  'without fees, version %s proves a payment by its event unless it can be a bridge deposit',
  (version) => {
    const provedBy = version === '0.8' || version === '0.9' ? 'transfer' : 'event'
    expect(yodlDecoder.decode(paymentLog(version, 10n, 0n), version)).toMatchObject({ provedBy })
    expect(yodlDecoder.decode(paymentLog(version, 10n, 1n), version)).toMatchObject({ provedBy: 'event' })
  },
)

test('fees may be the whole amount', () => {
  expect(yodlDecoder.decode(paymentLog('0.8', 7n, 7n), '0.8')).toMatchObject({ kind: 'payment', net: 0n })
})

const good = paymentLog('0.8', 10n, 1n)
const converted = nodeLog(
  eventLog('0.8', 'Convert', { priceFeed0: feedA, priceFeed1: feedB, exchangeRate0: 1n, exchangeRate1: 1n }),
)
const wide = `0x${'ff'.repeat(32)}` as const
const logWith = (topics: readonly string[], data: string) => nodeLog({ topics: topics as Hex[], data: data as Hex })
const [topic = '', from = '', to = ''] = good.topics
const [convertTopic = '', , feedTopic = ''] = converted.topics
const paidTo = (receiver: string) => logWith([topic, from, receiver], good.data)
test.each([
  ['fees above the amount', paymentLog('0.8', 10n, 11n), 'fees are larger than the amount'],
  ['one topic', logWith(good.topics.slice(0, 1), good.data), 'expected 3 topics, got 1'],
  ['four topics', logWith([...good.topics, wide], good.data), 'expected 3 topics, got 4'],
  ['no data', logWith(good.topics, '0x'), 'expected 128 bytes of data, got 0'],
  ['short data', logWith(good.topics, good.data.slice(0, -2)), 'expected 128 bytes of data, got 127'],
  ['long data', logWith(good.topics, `${good.data}00`), 'expected 128 bytes of data, got 129'],
  ['a sender of 32 bytes', logWith([yodlTopic, wide, wide], good.data), 'wider than an address'],
  ['a token of 32 bytes', logWith(good.topics, `0xff${good.data.slice(4)}`), 'wider than an address'],
  ['a sender of 20 bytes', logWith([topic, zeroAddress, to], good.data), 'topic 1 is not 32 bytes'],
  ['a receiver of 31 bytes', paidTo(`0x${'00'.repeat(31)}`), 'topic 2 is no'],
  ['a receiver of 33 bytes', paidTo(`0x${'00'.repeat(33)}`), 'topic 2 is no'],
  ['a receiver that is no hex', paidTo(`0x${'0'.repeat(63)}g`), 'topic 2 is no'],
  ['an empty receiver', paidTo(''), 'topic 2 is no'],
  ['data that is no hex', logWith(good.topics, `${good.data.slice(0, -1)}g`), 'data is not lowercase hex'],
  ['a feed of 20 bytes', logWith([convertTopic, zeroAddress, feedTopic], converted.data), 'topic 1 is not 32 bytes'],
  ['a conversion without its feeds', logWith(converted.topics.slice(0, 1), converted.data), 'expected 3 topics, got 1'],
  ['a conversion without a rate', logWith(converted.topics, converted.data.slice(0, 66)), 'expected 64 bytes'],
  ['a feed of 32 bytes', logWith([convertTopic, wide, wide], converted.data), 'wider than an address'],
])('%s is malformed', (_, log, reason) => {
  expect(yodlDecoder.decode(log, '0.8')).toEqual({ kind: 'malformed', reason: expect.stringContaining(reason) })
})

test.each(['constructor', 'toString', '', '0x'])('a first topic %j is malformed', (topic) => {
  expect(yodlDecoder.decode(logWith([topic], good.data), '0.8')).toMatchObject({ kind: 'malformed' })
})
