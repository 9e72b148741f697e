import { describe, expect, test } from 'vitest'
import { codeLifetimeMs, createEmailCodes } from './email-codes.js'

const codes = createEmailCodes(Buffer.alloc(32, 7))
const now = 1_700_000_123_456
const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]

test('a code is good for its lifetime at least, and never for twice that', () => {
  const { code, expiresAt } = codes.issue(one, now)
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{12}$/)
  expect(expiresAt - now).toBeGreaterThan(codeLifetimeMs)
  expect(expiresAt - now).toBeLessThanOrEqual(2 * codeLifetimeMs)
  for (const at of [now, now + codeLifetimeMs, expiresAt - 1])
    expect(codes.accepts(one, code, at), String(at)).toBe(true)
  for (const at of [expiresAt, expiresAt + codeLifetimeMs, now - codeLifetimeMs])
    expect(codes.accepts(one, code, at), String(at)).toBe(false)
})

test('is read as people type it', () => {
  const { code } = codes.issue(one, now)
  const typed = ` ${code.slice(0, 4)}-${code.slice(4, 8)} ${code.slice(8)}`.toLowerCase()
  expect(codes.accepts(one, typed, now)).toBe(true)
})

describe('refuses', () => {
  const { code } = codes.issue(one, now)
  test.each([
    ['the code of another address', codes.issue(other, now).code],
    ['a code of another key', createEmailCodes(Buffer.alloc(32, 8)).issue(one, now).code],
    ['nothing', ''],
    ['a part', code.slice(0, -1)],
    ['more', `${code}0`],
    ['a letter changed', `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`],
    ['other letters that look alike', code.replaceAll(/./g, 'Ａ')],
  ])('%s', (_, given) => {
    expect(codes.accepts(one, given, now)).toBe(false)
  })
})
