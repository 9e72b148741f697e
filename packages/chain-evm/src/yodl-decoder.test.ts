import { encodeAbiParameters, encodeEventTopics, type Hex, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { decodedVersions, routerEvents } from '../test/abis.js'
import type { RouterLog } from './router-decoder.js'
import { yodlDecoder, yodlTopic } from './yodl-decoder.js'

const sender = '0x00000000000000000000000000000000000000a1'
const receiver = '0x00000000000000000000000000000000000000b2'
const token = '0x00000000000000000000000000000000000000c3'
const memo = pad('0xff00de', { dir: 'right' })

function logOf(version: string, amount: bigint, fees: bigint): RouterLog {
  const abi = routerEvents(version)
  const topics = encodeEventTopics({ abi, eventName: 'Yodl', args: { sender, receiver } }) as Hex[]
  const inData = abi.find(({ name }) => name === 'Yodl')?.inputs.filter(({ indexed }) => indexed !== true) ?? []
  const values: Readonly<Record<string, unknown>> = { token, amount, fees, memo }
  return rawLog(
    topics,
    encodeAbiParameters(
      inData,
      inData.map(({ name = '' }) => values[name]),
    ),
  )
}

function rawLog(topics: readonly string[], data: string): RouterLog {
  const place = { blockNumber: 1, blockHash: '0x', txHash: '0x', logIndex: 0, blockTimestamp: null }
  return { address: token, topics, data, ...place }
}

describe.each(decodedVersions)('version %s', (version) => {
  test('is read, and its event has the topic that is asked for', () => {
    expect(yodlDecoder.reads(version)).toBe(true)
    expect(logOf(version, 1n, 0n).topics[0]).toBe(yodlTopic)
  })

  test('amount is gross, net is less the fees, the memo stays bytes', () => {
    expect(yodlDecoder.decode(logOf(version, 1_000_000n, 2_500n))).toEqual({
      kind: 'payment',
      sender,
      receiver,
      token,
      gross: 1_000_000n,
      net: 997_500n,
      memoHex: memo,
    })
  })
})

test.each(['0.1', '0.2', '1.0', ''])('version %j is not read', (version) => {
  expect(yodlDecoder.reads(version)).toBe(false)
})

test.each([0n, 1n, 2n ** 256n - 1n])('an amount of %i is exact', (amount) => {
  expect(yodlDecoder.decode(logOf('0.8', amount, 0n))).toMatchObject({ gross: amount, net: amount })
})

test('fees may be the whole amount', () => {
  expect(yodlDecoder.decode(logOf('0.8', 7n, 7n))).toMatchObject({ kind: 'payment', net: 0n })
})

const good = logOf('0.8', 10n, 1n)
test.each([
  ['fees above the amount', logOf('0.8', 10n, 11n), 'fees are larger than the amount'],
  ['one topic', rawLog(good.topics.slice(0, 1), good.data), 'expected 3 topics, got 1'],
  ['four topics', rawLog([...good.topics, yodlTopic], good.data), 'expected 3 topics, got 4'],
  ['no data', rawLog(good.topics, '0x'), 'expected 128 bytes of data, got 0'],
  ['short data', rawLog(good.topics, good.data.slice(0, -2)), 'expected 128 bytes of data, got 127'],
  ['long data', rawLog(good.topics, `${good.data}00`), 'expected 128 bytes of data, got 129'],
  ['a sender of 32 bytes', rawLog([yodlTopic, yodlTopic, yodlTopic], good.data), 'wider than an address'],
  ['a token of 32 bytes', rawLog(good.topics, `0xff${good.data.slice(4)}`), 'wider than an address'],
])('%s is malformed', (_, log, reason) => {
  expect(yodlDecoder.decode(log)).toEqual({ kind: 'malformed', reason: expect.stringContaining(reason) })
})
