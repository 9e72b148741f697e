import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { codeLifetimeMs, createEmailCodes, maxCodeTries } from './emails.js'

const codes = createEmailCodes(Buffer.alloc(32, 7), seededRandom('codes'))
const now = 1_700_000_123_456
const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]
const wrong = (code: string) => `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`

test('a code is accepted for ten minutes', () => {
  const { code, stored } = codes.issue(one, now)
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{12}$/)
  expect(stored.expiresAt - now).toBe(codeLifetimeMs)
  for (const at of [now, stored.expiresAt - 1])
    expect(codes.judge(one, code, stored, at), String(at)).toEqual({ kind: 'accepted' })
  for (const at of [stored.expiresAt, stored.expiresAt + codeLifetimeMs])
    expect(codes.judge(one, code, stored, at), String(at)).toEqual({
      kind: 'rejected',
      reason: 'code_expired',
      nextCode: null,
    })
})

test('a code that was made while the clock was hours ahead is expired once the clock is right', () => {
  const { code, stored } = codes.issue(one, now + 3 * 60 * 60_000)
  expect(codes.judge(one, code, stored, now)).toEqual({ kind: 'rejected', reason: 'code_expired', nextCode: null })
  // The clocks of two processes may differ by minutes.
  expect(codes.judge(one, code, stored, stored.expiresAt - codeLifetimeMs - 60_000)).toEqual({ kind: 'accepted' })
})

test('only a keyed hash is stored, which reveals neither the code nor the address', () => {
  const { code, stored } = codes.issue(one, now)
  expect(stored.hash).toMatch(/^[0-9a-f]{64}$/)
  expect(JSON.stringify(stored)).not.toContain(code)
  const foreign = createEmailCodes(Buffer.alloc(32, 8), seededRandom('x')).judge(one, code, stored, now)
  expect(foreign).toMatchObject({ reason: 'code_wrong' })
})

test('is accepted as people type it', () => {
  const { code, stored } = codes.issue(one, now)
  const typed = ` ${code.slice(0, 4)}-${code.slice(4, 8)} ${code.slice(8)}`.toLowerCase()
  expect(codes.judge(one, typed, stored, now)).toEqual({ kind: 'accepted' })
})

test('is invalid after five attempts', () => {
  const { code, stored } = codes.issue(one, now)
  let left: typeof stored | null = stored
  for (let tried = 1; tried <= maxCodeTries; tried += 1) {
    const verdict = codes.judge(one, wrong(code), left, now)
    if (verdict.kind !== 'rejected') throw new Error('A wrong code was taken.')
    expect(verdict).toMatchObject({ reason: 'code_wrong' })
    left = verdict.nextCode
    expect(left?.triesLeft ?? 0).toBe(maxCodeTries - tried)
  }
  expect(left).toBeNull()
  expect(codes.judge(one, code, left, now)).toEqual({ kind: 'rejected', reason: 'no_code', nextCode: null })
})

describe('rejects', () => {
  const { code, stored } = codes.issue(one, now)
  test.each([
    ['the code of another address', codes.issue(other, now).code],
    ['nothing', ''],
    ['a part', code.slice(0, -1)],
    ['more', `${code}0`],
    ['a letter changed', wrong(code)],
    ['other letters that look alike', code.replaceAll(/./g, 'Ａ')],
  ])('%s', (_, given) => {
    expect(codes.judge(one, given, stored, now)).toMatchObject({ kind: 'rejected', reason: 'code_wrong' })
  })

  test('the right code with another address', () => {
    expect(codes.judge(other, code, stored, now)).toMatchObject({ kind: 'rejected', reason: 'code_wrong' })
  })
})
