import { expect, it } from 'vitest'
import { createFinality } from './finality.js'

const block = (chainId: number) => ({ chainId, blockNumber: 1_000 })

it.each([
  [1, 3],
  [10, 48],
  [100, 1],
  [137, 50],
  [42161, 1_600],
])('a block of chain %d is final with %d blocks on top, and not with one less', (chainId, confirmations) => {
  const { isFinal } = createFinality()
  expect(isFinal(block(chainId), 1_000 + confirmations)).toBe(true)
  expect(isFinal(block(chainId), 1_000 + confirmations - 1)).toBe(false)
})

it('nothing is final on a chain without a number, or that is not indexed', () => {
  const { isFinal } = createFinality({ 1: null })
  expect(isFinal(block(8453), 10_000_000)).toBe(false)
  expect(isFinal(block(1), 10_000_000)).toBe(false)
  expect(isFinal(block(10), null)).toBe(false)
})

it('a chain can be final exactly when it has a number', () => {
  const { confirmations } = createFinality({ 1: null, 8453: 0 })
  expect([1, 137, 8453, 5].map((chainId) => confirmations(chainId) !== null)).toEqual([false, true, true, false])
})

it('a host adds chains and changes numbers; the others stay', () => {
  const { isFinal } = createFinality({ 8453: 10, 1: 0 })
  expect([1_009, 1_010].map((height) => isFinal(block(8453), height))).toEqual([false, true])
  expect([999, 1_000].map((height) => isFinal(block(1), height))).toEqual([false, true])
  expect([1_049, 1_050].map((height) => isFinal(block(137), height))).toEqual([false, true])
})

it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('rejects %d confirmations', (confirmations) => {
  expect(() => createFinality({ 5: confirmations })).toThrow(RangeError)
})
