import { expect, test } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { openStore } from '../../test/support/store.js'
import { parseMasterKey } from '../secrets/keys.js'
import { SealedSecretError } from '../secrets/seal.js'
import { codeLifetimeMs, createEmailCodes, createSealEmail, normalizeEmail, openEmailKey } from './emails.js'

test.each([
  ['USER@Example.COM', 'user@example.com'],
  ['  user@example.com\n', 'user@example.com'],
  ['first.last+tag@example.com', 'first.last+tag@example.com'],
  ['user@example.com.', 'user@example.com'],
  ['josé@example.com', 'josé@example.com'],
  ['jose\u0301@example.com', 'josé@example.com'],
  ['ＵＳＥＲ@example.com', 'ｕｓｅｒ@example.com'],
  ['o\ufb03ce@example.com', 'o\ufb03ce@example.com'],
  ['user²@o\ufb03ce.com', 'user²@office.com'],
  ['\u1100\u1161@example.com', '가@example.com'],
  ['user@BÜCHER.example', 'user@xn--bcher-kva.example'],
  ['user@bu\u0308cher.example', 'user@xn--bcher-kva.example'],
  ['user@xn--bcher-kva.example', 'user@xn--bcher-kva.example'],
  ['user@ｅｘａｍｐｌｅ。com', 'user@example.com'],
  ["o'brien@example.co.uk", "o'brien@example.co.uk"],
  ['用户@例子.公司', '用户@xn--fsqu00a.xn--55qx5d'],
])('reads %j as %j', (input, normal) => {
  expect(normalizeEmail(input)).toBe(normal)
  expect(normalizeEmail(normal)).toBe(normal)
})

test('a final sigma is a sigma, so that the capital and the small spelling are one mailbox', () => {
  const normal = '\u03bf\u03b4\u03bf\u03c3@example.com'
  for (const spelling of [
    ...['\u039f\u0394\u039f\u03a3', '\u03bf\u03b4\u03bf\u03c2', '\u03bf\u03b4\u03bf\u03c3'],
    '\u039f\u0394\u039f\u03c2',
  ])
    expect(normalizeEmail(`${spelling}@example.com`), spelling).toBe(normal)
  // Also where it ends a word before a dot or a sign.
  expect(normalizeEmail('\u039f\u03a3.\u03a3\u03a3+a@example.com')).toBe(
    normalizeEmail('\u03bf\u03c2.\u03c3\u03c2+a@example.com'),
  )
})

test('the domain follows its own rules: a final sigma there names another domain', () => {
  const getDomain = (domain: string) => normalizeEmail(`a@${domain}.example`)
  expect(getDomain('\u039f\u03a3')).toBe(getDomain('\u03bf\u03c3'))
  expect(getDomain('\u03bf\u03c2')).not.toBe(getDomain('\u03bf\u03c3'))
})

test.each([
  ...['', ' ', 'user', '@example.com', 'user@', 'user@localhost', 'user@.com', 'user@example..com'],
  ...['user@-example.com', 'user@example-.com', 'user@127.0.0.1', 'user@[127.0.0.1]', 'user@exa mple.com'],
  ...['us er@example.com', '.user@example.com', 'user.@example.com', 'us..er@example.com', '"us er"@example.com'],
  ...['user@@example.com', 'a@b@example.com', 'user\u0000@example.com', 'user\u200b@example.com'],
  ...['user\u202e@example.com', 'user\r\nbcc:x@example.com', 'user@example.com/path', 'user@example.com:25'],
  ...['user@example.com?x=1', `${'a'.repeat(65)}@example.com`, `${'ü'.repeat(33)}@example.com`],
  ...[`user@${'a'.repeat(64)}.com`, `user@${'abcdefgh.'.repeat(30)}com`],
])('rejects %j', (input) => {
  expect(normalizeEmail(input)).toBeNull()
})

/** 64 and 254 bytes in the normal form, where each letter has three code units when it is decomposed. */
const longest = `${'ǖ'.repeat(32)}@${'ǖ'.repeat(55)}.${'ǖ'.repeat(55)}.${'a'.repeat(61)}.com`

test('every Unicode form of the longest address is the same address, and one byte more is invalid', () => {
  const normal = normalizeEmail(longest) ?? ''
  expect(Buffer.byteLength(normal)).toBe(254)
  for (const form of ['NFC', 'NFD', 'NFKD'] as const) expect(normalizeEmail(longest.normalize(form))).toBe(normal)
  expect(normalizeEmail(longest.replace('.com', 'a.com'))).toBeNull()
})

test('the length of a letter is that of its normal form', () => {
  const grows = '\u0958' // NFC has no such letter: it is two.
  expect(normalizeEmail(`${grows.repeat(10)}@example.com`)).toBe(`${'\u0915\u093c'.repeat(10)}@example.com`)
  expect(normalizeEmail(`${grows.repeat(11)}@example.com`)).toBeNull()
})

test.each([
  ['spaces', (filler: number) => `${' '.repeat(filler)}user@example.com`],
  ['soft hyphens of the domain', (filler: number) => `user@${'\u00ad'.repeat(filler)}example.com`],
])('a text with %s beyond 1024 characters is rejected without parsing', (_, text) => {
  expect(text(1_024 - 16)).toHaveLength(1_024)
  expect(normalizeEmail(text(1_024 - 16))).toBe('user@example.com')
  expect(normalizeEmail(text(1_024 - 15))).toBeNull()
})

const codes = createEmailCodes(Buffer.alloc(32, 7), seededRandom('codes'))
const now = 1_700_000_123_456
const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]
const wrong = (code: string) => `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`

const accepted = { rejection: null, nextCode: null }
const expired = { rejection: 'code_expired', nextCode: null }

test('a code is accepted for ten minutes', () => {
  const { code, stored } = codes.issue(one, now)
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{12}$/)
  expect(stored.expiresAt - now).toBe(codeLifetimeMs)
  for (const at of [now, stored.expiresAt - 1]) expect(codes.judge(one, code, stored, at), String(at)).toEqual(accepted)
  for (const at of [stored.expiresAt, stored.expiresAt + codeLifetimeMs])
    expect(codes.judge(one, code, stored, at), String(at)).toEqual(expired)
})

test('a code that was made while the clock was hours ahead is expired once the clock is right', () => {
  const { code, stored } = codes.issue(one, now + 3 * 60 * 60_000)
  expect(codes.judge(one, code, stored, now)).toEqual(expired)
  // The clocks of two processes may differ by minutes.
  expect(codes.judge(one, code, stored, stored.expiresAt - codeLifetimeMs - 60_000)).toEqual(accepted)
})

test('only a keyed hash is stored, which reveals neither the code nor the address', () => {
  const { code, stored } = codes.issue(one, now)
  expect(stored.hash).toMatch(/^[0-9a-f]{64}$/)
  expect(JSON.stringify(stored)).not.toContain(code)
  const foreign = createEmailCodes(Buffer.alloc(32, 8), seededRandom('x')).judge(one, code, stored, now)
  expect(foreign).toMatchObject({ rejection: 'code_wrong' })
})

test('is accepted as people type it', () => {
  const { code, stored } = codes.issue(one, now)
  const typed = ` ${code.slice(0, 4)}-${code.slice(4, 8)} ${code.slice(8)}`.toLowerCase()
  expect(codes.judge(one, typed, stored, now)).toEqual(accepted)
})

const { code, stored } = codes.issue(one, now)
test.each([
  ['the code of another address', codes.issue(other, now).code],
  ['nothing', ''],
  ['a part', code.slice(0, -1)],
  ['more', `${code}0`],
  ['a letter changed', wrong(code)],
  ['other letters that look alike', code.replaceAll(/./g, 'Ａ')],
])('rejects %s', (_, given) => {
  expect(codes.judge(one, given, stored, now)).toMatchObject({ rejection: 'code_wrong' })
})

test('rejects the right code with another address', () => {
  expect(codes.judge(other, code, stored, now)).toMatchObject({ rejection: 'code_wrong' })
})

const [older, newer] = ['11223344556677889900aabbccddeeff'.repeat(2), 'ffeeddccbbaa00998877665544332211'.repeat(2)]
const only = parseMasterKey(older)
const address = 'canary@example.com'

const setup = () => {
  const { dataKeys } = openStore()
  return (keys: typeof only) => openEmailKey(dataKeys, keys, seededRandom('one'))
}

test('a key sealed with another master key cannot be decrypted', async () => {
  const openWith = setup()
  await openWith(only)
  await expect(openWith(parseMasterKey(newer))).rejects.toThrow(SealedSecretError)
})

test('stored forms contain no address, and no two are sealed alike', async () => {
  const sealEmail = createSealEmail(await setup()(only), seededRandom('nonces'))
  const [one, again, other] = [sealEmail(address), sealEmail(address), sealEmail('other@example.com')]
  expect(one.key).toMatch(/^[0-9a-f]{64}$/)
  expect([again.key, other.key]).toEqual([one.key, expect.not.stringMatching(one.key)])
  expect(again.sealed.sealed).not.toBe(one.sealed.sealed)
  expect(JSON.stringify([one.key, one.sealed])).not.toContain('canary')
  expect(Buffer.from(one.sealed.sealed, 'base64url').toString('latin1')).not.toContain('canary')
})
