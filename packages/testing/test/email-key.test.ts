/** The test service and the real service agree on addresses and on the spellings of one mailbox. */
import fc from 'fast-check'
import { setupServer } from 'msw/node'
import { expect, onTestFinished, test } from 'vitest'
import { normaliseEmail } from '../../core/src/emails/normalise-email.js'
import { createTestService } from '../src/exports/msw.js'
import { emailKey } from '../src/service/email-key.js'

const long = 'abcdefgh.'

/** Valid addresses; spellings of one mailbox follow each other. */
const accepted = [
  'user@example.com',
  'USER@Example.COM',
  '  user@example.com\n',
  '\u00a0user@example.com\u3000',
  'user@example.com.',
  'user@ｅｘａｍｐｌｅ。com',
  'user@exam\u00adple.com',
  'user@EXAMPLE\uff0ecom',
  'first.last+tag@example.com',
  "o'brien@example.co.uk",
  "!#$%&'*+/=?^_`{|}~-@example.com",
  '-@example.com',
  '1@2.com',
  'user@3com.4x',
  'user@a.b.c.d.example',
  'user@a-b--c.example',
  'josé@example.com',
  'jose\u0301@example.com',
  'JOSÉ@example.com',
  'ＵＳＥＲ@example.com',
  'o\ufb03ce@example.com',
  'user²@example.com',
  '\u1100\u1161@example.com',
  '가@example.com',
  'İ@example.com',
  'ΣΑΣ@example.com',
  'σας@example.com',
  'σασ@example.com',
  '用户@例子.公司',
  'user@BÜCHER.example',
  'user@bu\u0308cher.example',
  'user@xn--bcher-kva.example',
  'user@XN--BCHER-KVA.example',
  'user@faß.de',
  'user@fass.de',
  'user@☃.com',
  'user@K.com',
  `${'a'.repeat(64)}@example.com`,
  `${'ü'.repeat(32)}@example.com`,
  `user@${'a'.repeat(63)}.com`,
  `user@${long.repeat(27)}com`,
]

const refused = [
  '',
  ' ',
  'user',
  '@',
  '@example.com',
  'user@',
  'user@ ',
  'user@localhost',
  'user@localhost.',
  'user@.com',
  'user@example..com',
  'user@example.com..',
  'user@example.com\u3002',
  'user@-example.com',
  'user@example-.com',
  'user@exam_ple.com',
  'user@*.com',
  'user@exam&ple.com',
  'user@127.0.0.1',
  'user@1.2.3',
  'user@0x7f.1',
  'user@１２７.0.0.1',
  'user@[127.0.0.1]',
  'user@[::1]',
  'user@exa mple.com',
  'user@a\u200cb.com',
  'user@xn--a.com',
  'user@example.com\u0000',
  'user@example.com\u001f.',
  'user@\u0001example.com',
  'user@example.com/path',
  'user@example.com:25',
  'user@example.com?x=1',
  'user@example.com#x',
  'user@example.com\\x',
  'user@%65xample.com',
  'us er@example.com',
  '.user@example.com',
  'user.@example.com',
  'us..er@example.com',
  '"us er"@example.com',
  'user(x)@example.com',
  'user,x@example.com',
  'a;b@example.com',
  '<user@example.com>',
  'user@@example.com',
  'a@b@example.com',
  'user\u0000@example.com',
  'user\u200b@example.com',
  'user\u202e@example.com',
  'us\ud800er@example.com',
  '🔑@example.com',
  'user\r\nbcc:x@example.com',
  `${'a'.repeat(65)}@example.com`,
  `${'ü'.repeat(33)}@example.com`,
  `user@${'a'.repeat(64)}.com`,
  `user@${long.repeat(28)}com`,
]

test.each(accepted)('accepts %j, with the key of the service', (email) => {
  expect(emailKey(email)).not.toBeNull()
  expect(emailKey(email)).toBe(normaliseEmail(email))
})

test.each(refused)('rejects %j, like the service', (email) => {
  expect([emailKey(email), normaliseEmail(email)]).toEqual([null, null])
})

test('the capital and both small spellings of a final sigma are one mailbox, like in the service', () => {
  const spellings = ['ΣΑΣ@example.com', 'σας@example.com', 'σασ@example.com']
  for (const keyOf of [emailKey, normaliseEmail]) expect(new Set(spellings.map(keyOf)).size).toBe(1)
})

test('tabs and line breaks inside a domain have the same result as in the service', () => {
  for (const email of ['user@exa\tmple.com', 'user@exa\nmple.com', 'user@example.com\t.'])
    expect(emailKey(email)).toBe(normaliseEmail(email))
})

/** Parts on which the two could differ: joining forms, dots, special characters of URLs, longest labels. */
const pieces = [
  ...[
    'a',
    'B',
    'é',
    'e\u0301',
    'İ',
    'ß',
    'ſ',
    'K',
    'ﬃ',
    'Σ',
    'ς',
    '가',
    '\u1100',
    '\u1161',
    '\u0345',
    '²',
    '①',
    '㎏',
    'ª',
    '𐐀',
    '𝐚',
  ],
  ...[
    '.',
    '..',
    '。',
    '．',
    '｡',
    '-',
    '_',
    '@',
    '@x.com',
    'example',
    '.com',
    'xn--',
    'xn--bcher-kva',
    '１',
    '1',
    '0x7f',
    '127',
  ],
  ...['%41', '%2e', '/', '\\', '#', '?', ':', '[', ']', '"', '<', '&', '|', '^', '~', '`', '{', '+', '!'],
  ...[
    '\t',
    '\n',
    '\r',
    ' ',
    '\u00a0',
    '\u0000',
    '\u0001',
    '\u001f',
    '\u007f',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\u202e',
    '\u00ad',
  ],
  ...['\u200c', '\u200d', '\ud800', '\udc00', '🔑', '\u0661', 'ä'.repeat(31), 'a'.repeat(63), `${'a'.repeat(62)}.`],
]
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test(`both agree on random addresses from these parts (seed ${seed})`, () => {
  const text = (most: number) =>
    fc.array(fc.constantFrom(...pieces), { maxLength: most }).map((parts) => parts.join(''))
  const address = fc
    .tuple(text(4), text(4), fc.constantFrom('', '.com', '.com'))
    .map(([a, b, end]) => `${a}@${b}${end}`)
  let valid = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 3, arbitrary: address }, text(8)), (email) => {
      const key = emailKey(email)
      expect(key).toBe(normaliseEmail(email))
      if (key !== null) valid += 1
    }),
    { seed, numRuns: 20_000 },
  )
  expect(valid).toBeGreaterThan(100)
})

test('a share with a malformed address answers 400 and redeems nothing', async () => {
  const address = `0x${'a1'.repeat(20)}`
  const service = createTestService({
    baseUrl: 'https://service.test',
    integrations: [{ address, apiSecret: 'secret' }],
  })
  const intercepted = setupServer(...service.handlers)
  intercepted.listen({ onUnhandledRequest: 'error' })
  onTestFinished(() => intercepted.close())
  for (const email of ['user@exam_ple.com', 'us..er@example.com', 'user@127.0.0.1']) {
    const response = await fetch('https://service.test/api/v1/integration/idv-share-token', {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${address}:secret`)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email, kycShareToken: 'token' }),
    })
    expect([response.status, await response.json()], email).toEqual([
      400,
      { error: 'email must be a valid email address' },
    ])
    expect(() => service.identity.verifyElsewhere(email)).toThrow(RangeError)
  }
  expect(service.identity.redeemed).toEqual([])
})
