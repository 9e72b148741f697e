/** Transactions that are read in the bytes of an answer, against the same transactions read as objects. */
import { expect, test } from 'vitest'
import type { TransactionLogs } from './group-logs.js'
import { blockTransactions, readTransaction } from './internal/answers.js'
import { chainFailures } from './internal/failures.js'
import { PayingCalls, payingCallsReader } from './paying-calls.js'

const fail = chainFailures(1)
const hash = (index: number) => `0x${index.toString(16).padStart(64, 'c')}`
const blockHash = hash(0xb)

const transaction = (index: number, change: object = {}) => ({
  type: '0x2',
  accessList: [{ address: '0x', storageKeys: ['"'] }],
  hash: hash(index),
  blockHash,
  from: `0x${'ab'.repeat(20)}`,
  to: `0x${'cd'.repeat(20)}`,
  value: '0xde0b6b3a7640000',
  input: '0x1234',
  ...change,
})

/** Groups of which only what is read is there: whose logs are in which block. */
const groupsOf = (...indexes: readonly number[]) =>
  indexes.map((index) => ({
    txHash: hash(index),
    emitted: [],
    payments: [{ log: { blockHash } }],
  })) as unknown as TransactionLogs[]

const read = (transactions: readonly unknown[], groups: readonly TransactionLogs[]) => {
  const text = JSON.stringify({ hash: blockHash, uncles: [], transactions, withdrawals: [] })
  const bytes = Buffer.from(` ${text}`)
  const answer = payingCallsReader(groups)(bytes, 1)
  if (answer === null) return null
  expect(answer.end).toBe(bytes.length)
  expect(answer.value).toBeInstanceOf(PayingCalls)
  return (answer.value as PayingCalls).transactions
}

test('those that are asked for come as they do from objects, and no others', () => {
  const changes = [{}, { to: null }, { to: undefined, input: '0x' }, { value: '0x0' }, { value: `0x${'f'.repeat(64)}` }]
  const all = changes.map((change, index) => transaction(index, change))
  const byHash = blockTransactions(JSON.parse(JSON.stringify({ transactions: all })), fail)
  for (const wanted of [[0, 1, 2, 3, 4], [1, 3], [4]])
    expect(read(all, groupsOf(...wanted))).toEqual(
      wanted.map((index) => readTransaction(byHash?.get(hash(index)), fail)),
    )
})

test.each<[string, object]>([
  ['of another block', { blockHash: hash(1) }],
  ['of no block', { blockHash: null }],
  ['without a sender', { from: undefined }],
  ['with a sender in uppercase', { from: `0x${'AB'.repeat(20)}` }],
  ['with a receiver that is no address', { to: '0x12' }],
  ['without a value', { value: undefined }],
  ['with an empty value', { value: '0x' }],
  ['with calldata under another name', { input: undefined, data: '0x1234' }],
  ['with calldata that is no hex', { input: '0x12"' }],
])('a transaction %s is left to be parsed', (_, change) => {
  expect(read([transaction(1, change)], groupsOf(1))).toBeNull()
})

test('a block without one of them, with them in another order, or without transactions is left to be parsed', () => {
  expect(read([transaction(1)], groupsOf(1, 2))).toBeNull()
  expect(read([transaction(2), transaction(1)], groupsOf(1, 2))).toBeNull()
  expect(payingCallsReader(groupsOf(1))(Buffer.from('{"hash":"0x"}'), 0)).toBeNull()
  expect(payingCallsReader(groupsOf(1))(Buffer.from('null'), 0)).toBeNull()
})
