import { expect, test } from 'vitest'
import { decideVersion } from './version-store.js'

test.each([
  [undefined, 1, 'apply'],
  [undefined, 9, 'apply'],
  [1, 2, 'apply'],
  [1, 9, 'apply'],
  [2, 2, 'duplicate'],
  [3, 2, 'stale'],
  [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 'apply'],
] as const)('stored %s, incoming %s: %s', (stored, incoming, decision) => {
  expect(decideVersion(stored, incoming)).toBe(decision)
})

test('a version that is no number never applies over a stored one', () => {
  expect(decideVersion(1, Number.NaN)).toBe('stale')
})
