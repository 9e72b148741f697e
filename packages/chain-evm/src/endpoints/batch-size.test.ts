import { describe, expect, test } from 'vitest'
import type { RequestEnd, RpcOutcome } from '../internal/json-rpc.js'
import { createBatchSize } from './batch-size.js'

const calls = (count: number, method = 'eth_getTransactionReceipt') =>
  Array.from({ length: count }, () => ({ method, params: [] }))
const fine: RpcOutcome = { ok: true, result: null }
const refused: RpcOutcome = { ok: false, code: -32_600, message: 'too many calls' }
const error = new Error('no answer')

function answered(count: number, outcome = fine, method?: string): RequestEnd {
  const outcomes = Array.from({ length: count }, () => outcome)
  return { kind: 'answered', calls: calls(count, method), ms: 1, outcomes }
}
const limited = (count: number): RequestEnd => ({ kind: 'limited', calls: calls(count), retryAfter: null, error })

/** Ways in which a node says no to more calls than it bears. */
const refusals: Record<string, (count: number) => RequestEnd> = {
  'does not answer': (count) => ({ kind: 'lost', calls: calls(count), error }),
  'answers with an error for all of them': (count) => answered(count, refused),
  'answers each time that there were too many': limited,
}

describe('where a node bears 25 calls at a time and', () => {
  for (const [how, refusal] of Object.entries(refusals))
    test(`${how}, requests hold as many before long`, () => {
      const size = createBatchSize(100)
      let refusedOnes = 0
      for (let request = 0; request < 200; request += 1) {
        const count = size.current()
        if (count > 25) refusedOnes += 1
        size.ended(count > 25 ? refusal(count) : answered(count))
      }
      expect(size.current()).toBeGreaterThan(12)
      expect(size.current()).toBeLessThan(40)
      expect(refusedOnes).toBeLessThan(50)
    })
})

test('a node that bears all is asked for as many as before, also after an outage', () => {
  const size = createBatchSize(100)
  for (const count of [100, 17, 1]) size.ended({ kind: 'lost', calls: calls(count), error })
  expect(size.current()).toBe(100)
  size.ended({ kind: 'lost', calls: calls(100), error })
  expect(size.current()).toBe(1)
  size.ended(answered(1))
  expect(size.current()).toBe(100)
  size.ended({ kind: 'reconnects' })
  expect(size.current()).toBe(100)
})

test('a pause that a node wants now and then is laid to no size', () => {
  const size = createBatchSize(100)
  for (let round = 0; round < 5; round += 1) {
    size.ended(limited(100))
    size.ended(limited(100))
    expect(size.current()).toBe(100)
    size.ended(answered(100))
  }
})

test('a call that fails for a reason of its own is laid to no size', () => {
  const size = createBatchSize(100)
  size.ended(answered(5, { ok: false, code: 3, message: 'execution reverted' }, 'eth_call'))
  size.ended(answered(5, refused, 'eth_getLogs'))
  expect(size.current()).toBe(100)
})
