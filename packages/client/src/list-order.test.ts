import { expect, test } from 'vitest'
import { hashOf, payment } from '../test/fixtures.js'
import { isOlder } from './payments.js'

const at = (blockTimestamp: string, chainId: string, txHash: string) => payment(0, { blockTimestamp, chainId, txHash })
const noon = '2026-01-02T12:00:00.000Z'
const middle = at(noon, '10', hashOf(5))

test.each([
  ['an earlier block', at('2026-01-02T11:59:59.999Z', '10', hashOf(5)), true],
  ['an earlier block with a higher chain and hash', at('2025-12-31T23:59:59.000Z', '137', hashOf(9)), true],
  ['a later block with a lower chain and hash', at('2026-01-02T12:00:01.000Z', '1', hashOf(1)), false],
  ['a lower chain, compared as a number', at(noon, '9', hashOf(5)), true],
  ['a higher chain, compared as a number', at(noon, '100', hashOf(1)), false],
  ['a lower hash', at(noon, '10', hashOf(4)), true],
  ['a higher hash', at(noon, '10', hashOf(6)), false],
  ['the same position', middle, false],
])('%s comes later in the list: %o', (_case, payment, expected) => {
  expect(isOlder(payment, middle)).toBe(expected)
})
