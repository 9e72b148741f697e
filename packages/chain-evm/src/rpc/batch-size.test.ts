import { expect, test } from 'vitest'
import type { RequestEnd, RpcOutcome } from './json-rpc.js'
import { createBatchSize } from './node-limits.js'

const calls = (count: number, method = 'eth_getTransactionReceipt') =>
  Array.from({ length: count }, () => ({ method, params: [] }))
const fine: RpcOutcome = { ok: true, result: null }
const rejected: RpcOutcome = { ok: false, code: -32_600, message: 'too many calls' }
const error = new Error('no answer')

function answered(count: number, outcome = fine, method?: string): RequestEnd {
  const outcomes = Array.from({ length: count }, () => outcome)
  return { kind: 'answered', calls: calls(count, method), ms: 1, outcomes }
}
const limited = (count: number): RequestEnd => ({ kind: 'limited', calls: calls(count), retryAfter: null, error })

test('a node that answers more than 25 calls at a time with an error for each gets about as many before long', () => {
  const size = createBatchSize(100)
  let rejectedOnes = 0
  for (let request = 0; request < 200; request += 1) {
    const count = size.current()
    if (count > 25) rejectedOnes += 1
    size.noteEnd(answered(count, count > 25 ? rejected : fine))
  }
  expect(size.current()).toBeGreaterThan(12)
  expect(size.current()).toBeLessThan(40)
  expect(rejectedOnes).toBeLessThan(50)
})

test('a node that accepts everything keeps the largest size, even after an outage', () => {
  const size = createBatchSize(100)
  for (const count of [100, 17, 1]) size.noteEnd({ kind: 'lost', calls: calls(count), error })
  expect(size.current()).toBe(100)
  size.noteEnd({ kind: 'lost', calls: calls(100), error })
  expect(size.current()).toBe(2)
  size.noteEnd(answered(2))
  expect(size.current()).toBe(100)
  size.noteEnd({ kind: 'reconnects' })
  expect(size.current()).toBe(100)
})

test('a size that the rate limit rejects before any answer falls at once, and stays', () => {
  const size = createBatchSize(100)
  const sizes: number[] = []
  for (let request = 0; request < 100; request += 1) {
    const count = size.current()
    sizes.push(count)
    size.noteEnd(count > 12 ? limited(count) : answered(count))
  }
  expect(sizes.slice(0, 4)).toEqual([100, 50, 25, 12])
  // Then the limit is approached by halves, and a larger size tried after 4, 8, 16 and 32 answers.
  expect(sizes.filter((count) => count > 12)).toEqual([100, 50, 25, 18, 15, 13, 37, 37, 37, 37])
  expect(sizes.slice(40).filter((count) => count === 12).length).toBeGreaterThan(57)
})

test('an occasional rate limit does not change a size that was answered before', () => {
  const size = createBatchSize(100)
  size.noteEnd(answered(100))
  for (let round = 0; round < 5; round += 1) {
    size.noteEnd(limited(100))
    size.noteEnd(limited(100))
    expect(size.current()).toBe(100)
    size.noteEnd(answered(100))
  }
})

test('answered small requests do not hide that large ones are never answered', () => {
  const size = createBatchSize(100)
  let rejected = 0
  for (let round = 0; round < 40; round += 1) {
    if (size.current() > 25) rejected += 1
    size.noteEnd(size.current() > 25 ? limited(size.current()) : answered(size.current()))
    size.noteEnd(answered(2))
  }
  expect(rejected).toBeLessThan(10)
})

test.each([1, 2])('a node that accepts %i at a time gets as many, and more once it accepts more', (most) => {
  const size = createBatchSize(100)
  const ask = (bears: number) => {
    const count = size.current()
    size.noteEnd(count > bears ? { kind: 'lost', calls: calls(count), error } : answered(count))
  }
  for (let request = 0; request < 30; request += 1) ask(most)
  expect(size.current()).toBe(most)
  for (let request = 0; request < 400; request += 1) ask(100)
  expect(size.current()).toBe(100)
})

test('a call that fails by itself does not change the size', () => {
  const size = createBatchSize(100)
  for (let round = 0; round < 20; round += 1) {
    size.noteEnd({ kind: 'lost', calls: [...calls(1, 'eth_chainId'), ...calls(1, 'eth_getLogs')], error })
    for (const count of [size.current(), 1]) size.noteEnd(answered(count, rejected))
  }
  expect(size.current()).toBe(100)
  size.noteEnd(answered(5, { ok: false, code: 3, message: 'execution reverted' }, 'eth_call'))
  size.noteEnd(answered(5, rejected, 'eth_getLogs'))
  expect(size.current()).toBe(100)
})
