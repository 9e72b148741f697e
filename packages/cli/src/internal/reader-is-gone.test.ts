import { expect, it } from 'vitest'
import { readerIsGone } from './reader-is-gone.js'

it.each([
  ['EPIPE', false, true],
  ['EPIPE', true, true],
  ['EIO', true, true],
  ['EIO', false, false],
  ['ENOSPC', false, false],
  [undefined, true, false],
])('%s on a terminal %s: %s', (code, isTerminal, gone) => {
  expect(readerIsGone(Object.assign(new Error('write'), { code }), isTerminal)).toBe(gone)
})
