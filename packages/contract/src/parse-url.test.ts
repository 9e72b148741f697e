import { expect, test } from 'vitest'
import { findDatabaseUrlProblem, parseUrl } from './foreign-text.js'

test('a URL with a letter beyond ASCII is read after any number of calls', () => {
  for (let n = 0; n < 50_000; n += 1) parseUrl(`https://shop.example/${n % 7}`)
  expect(parseUrl('https://bücher.example/')?.href).toBe('https://xn--bcher-kva.example/')
})

test.each(['', '/path', 'shop.example', 'https://', 'https://a b/'])('%j is no absolute URL', (text) => {
  expect(parseUrl(text)).toBeNull()
})

test.each(['/abc=', '7/Kd+e==', '9?k=v', 'p#w', 'a/b', '50%'])(
  'the password %j of a database must be encoded',
  (password) => {
    expect(findDatabaseUrlProblem(`postgres://user:${password}@host/db`)).toContain('encode it')
    expect(findDatabaseUrlProblem(`postgres://user:${encodeURIComponent(password)}@host/db`)).toBeNull()
  },
)

test('a parameter of a database address may hold an @', () => {
  expect(findDatabaseUrlProblem('postgres://host/db?user=a@b')).toBeNull()
  expect(findDatabaseUrlProblem('postgres://user@host/db?options=a=b@c')).toBeNull()
})
