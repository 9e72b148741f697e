import { expect, test } from 'vitest'
import { normaliseEmail } from './normalise-email.js'

test.each([
  ['USER@Example.COM', 'user@example.com'],
  ['  user@example.com\n', 'user@example.com'],
  ['first.last+tag@example.com', 'first.last+tag@example.com'],
  ['user@example.com.', 'user@example.com'],
  ['josé@example.com', 'josé@example.com'],
  ['jose\u0301@example.com', 'josé@example.com'],
  ['ＵＳＥＲ@example.com', 'ｕｓｅｒ@example.com'],
  ['o\ufb03ce@example.com', 'o\ufb03ce@example.com'],
  ['user²@example.com', 'user²@example.com'],
  ['\u1100\u1161@example.com', '가@example.com'],
  ['user@BÜCHER.example', 'user@xn--bcher-kva.example'],
  ['user@bu\u0308cher.example', 'user@xn--bcher-kva.example'],
  ['user@xn--bcher-kva.example', 'user@xn--bcher-kva.example'],
  ['user@ｅｘａｍｐｌｅ。com', 'user@example.com'],
  ["o'brien@example.co.uk", "o'brien@example.co.uk"],
  ['用户@例子.公司', '用户@xn--fsqu00a.xn--55qx5d'],
])('reads %j as %j', (input, normal) => {
  expect(normaliseEmail(input)).toBe(normal)
  expect(normaliseEmail(normal)).toBe(normal)
})

test.each([
  '',
  ' ',
  'user',
  '@example.com',
  'user@',
  'user@localhost',
  'user@.com',
  'user@example..com',
  'user@-example.com',
  'user@example-.com',
  'user@127.0.0.1',
  'user@[127.0.0.1]',
  'user@exa mple.com',
  'us er@example.com',
  '.user@example.com',
  'user.@example.com',
  'us..er@example.com',
  '"us er"@example.com',
  'user@@example.com',
  'a@b@example.com',
  'user\u0000@example.com',
  'user\u200b@example.com',
  'user\u202e@example.com',
  'user\r\nbcc:x@example.com',
  'user@example.com/path',
  'user@example.com:25',
  'user@example.com?x=1',
  `${'a'.repeat(65)}@example.com`,
  `${'ü'.repeat(33)}@example.com`,
  `user@${'a'.repeat(64)}.com`,
  `user@${'abcdefgh.'.repeat(30)}com`,
])('refuses %j', (input) => {
  expect(normaliseEmail(input)).toBeNull()
})

test('characters that only look alike are different mailboxes before the @, and one domain behind it', () => {
  for (const [alike, plain] of [
    ['ｕｓｅｒ', 'user'],
    ['o\ufb03ce', 'office'],
    ['user²', 'user2'],
    ['ⅳ', 'iv'],
  ] as const) {
    expect(normaliseEmail(`${alike}@example.com`)).not.toBe(normaliseEmail(`${plain}@example.com`))
    expect(normaliseEmail(`x@${alike}.com`)).toBe(normaliseEmail(`x@${plain}.com`))
  }
})

test('takes the longest part before the @ and refuses one byte more', () => {
  expect(normaliseEmail(`${'a'.repeat(64)}@example.com`)).not.toBeNull()
  expect(normaliseEmail(`${'a'.repeat(65)}@example.com`)).toBeNull()
})
