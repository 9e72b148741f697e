import { expect, test } from 'vitest'
import { auditChainOf, auditPlace, auditSeq, auditTotal } from './numbers.js'

test('of one chain, the number of a record is its place', () => {
  for (const place of [1, 2, 3, 1_000]) {
    expect(auditSeq(0, place, 1)).toBe(place)
    expect(auditPlace(0, place, 1)).toBe(place)
    expect(auditChainOf(place, 1)).toBe(0)
  }
})

test('of three chains, the numbers interleave, and each tells its chain', () => {
  const numbers = (chain: number) => [1, 2, 3].map((place) => auditSeq(chain, place, 3))
  expect([0, 1, 2].map(numbers)).toEqual([
    [3, 6, 9],
    [1, 4, 7],
    [2, 5, 8],
  ])
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((seq) => auditChainOf(seq, 3))).toEqual([1, 2, 0, 1, 2, 0, 1, 2, 0])
})

test.each([1, 2, 3, 65])('of %d chains, each number is of one place of one chain', (chains) => {
  for (let seq = 1; seq <= 200; seq += 1) {
    const chain = auditChainOf(seq, chains)
    expect(auditSeq(chain, auditPlace(chain, seq, chains), chains)).toBe(seq)
  }
})

test('the records of a chain up to any number are counted, also from none', () => {
  expect([0, 1, 2, 3, 4, 5, 6].map((seq) => auditPlace(0, seq, 3))).toEqual([0, 0, 0, 1, 1, 1, 2])
  expect([0, 1, 2, 3, 4, 5, 6].map((seq) => auditPlace(2, seq, 3))).toEqual([0, 0, 1, 1, 1, 2, 2])
})

test('the newest records of all chains tell how many were ever written', () => {
  expect(auditTotal([], 1)).toBe(0)
  expect(auditTotal([7], 1)).toBe(7)
  expect(auditTotal([9, 1, 5], 3)).toBe(3 + 1 + 2)
})
