import { describe, expect, test } from 'vitest'
import { parseContentLength, parseHttpDate, parseInstant, parseRetryAfter } from './exports/internal-io.js'
import { findDatabaseUrlProblem, parseUrl } from './foreign-text.js'

const longNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const now = Date.UTC(2026, 2, 4, 12, 0, 0)

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['1', 1_000],
    ['007', 7_000],
    [' 5\t', 5_000],
    ['120', 120_000],
    ['1.5', 1_500],
    ['0.25', 250],
    ['0.0', 0],
    ['4294967296', 4_294_967_296_000],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Wed, 04 Mar 2026 12:00:30 GMT', 30_000],
    ['Wednesday, 04-Mar-26 12:00:30 GMT', 30_000],
    ['Wed Mar  4 12:00:30 2026', 30_000],
    ['Wed Mar 11 12:00:00 2026', 604_800_000],
    ['Wed, 04 Mar 2026 12:00:00 GMT', 0],
    ['Wed, 04 Mar 2026 11:59:59 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ])('%j asks for %d ms', (field, ms) => expect(parseRetryAfter(field, now)).toBe(ms))

  test.each([
    ...[null, undefined, '', ' ', '+5', '-1', '-1.5', '-1e999', '1.', '.5'],
    ...['1.5.5', '1,5', '1e3', '0x10', '٣', '5, 10'],
    ...['5 s', 'soon', 'NaN', 'Infinity', '2026-03-04T12:00:30Z', 'Mar 4 2026', 'Mon, 04 Mar 2026 12:00:30 GMT'],
    ...['Wed, 4 Mar 2026 12:00:30 GMT', 'wed, 04 mar 2026 12:00:30 gmt', 'Wed, 04 Mar 2026 12:00:30 UTC'],
    ...['Wed, 04 Mar 2026 12:00:30 +0000', 'Wed, 04 Mar 2026 12:00:30', 'Wed, 04 Mar 2026 25:00:00 GMT'],
    ...['Wed, 04 Mar 2026 24:00:00 GMT', 'Wed, 04 Mar 2026 12:60:00 GMT', 'Wed, 04 Mar 2026 12:00:61 GMT'],
    ...['Mon, 30 Feb 2026 12:00:30 GMT', 'Wed, 04 Foo 2026 12:00:30 GMT', 'Wed, 04-Mar-26 12:00:30 GMT'],
    ...['Wednesday, 04 Mar 2026 12:00:30 GMT', 'Wednesxay, 04-Mar-26 12:00:30 GMT', 'Wed Mar 4 12:00:30 2026'],
    'Wed Mar  4 12:00:30 2026 GMT',
  ])('%j is none', (field) => expect(parseRetryAfter(field, now)).toBeNull())
})

describe('an HTTP date', () => {
  test('may end a minute with a leap second', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT', now)).toBe(Date.UTC(2017, 0, 1))
  })

  test.each([
    ['Wednesday, 04-Mar-76 00:00:00 GMT', 2076],
    ['Friday, 04-Mar-77 00:00:00 GMT', 1977],
  ])('%j has a year that is at most 50 years ahead', (text, year) => {
    expect(new Date(parseHttpDate(text, now) ?? Number.NaN).getUTCFullYear()).toBe(year)
  })

  test('of any day is parsed in each form', () => {
    for (let at = Date.UTC(1990, 0, 1); at < Date.UTC(2060, 0, 1); at += 86_400_000 * 13 + 3_671_000) {
      const [weekday, day, month, year, time] = new Date(at).toUTCString().replace(',', '').split(' ')
      const texts = [
        new Date(at).toUTCString(),
        `${longNames[new Date(at).getUTCDay()]}, ${day}-${month}-${year?.slice(2)} ${time} GMT`,
        `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`,
      ]
      for (const text of texts) expect(parseHttpDate(text, now), text).toBe(at)
    }
  })
})

test.each([
  ['2026-03-01', Date.UTC(2026, 2, 1)],
  ['2026-03-01T09:30Z', Date.UTC(2026, 2, 1, 9, 30)],
  ['2026-03-01T09:30:05.123456789Z', Date.UTC(2026, 2, 1, 9, 30, 5, 123)],
  ['2026-03-01T09:30:05+01:00', Date.UTC(2026, 2, 1, 8, 30, 5)],
  ['2024-02-29T00:00:00.0-00:30', Date.UTC(2024, 1, 29, 0, 30)],
])('%s is a time', (text, at) => expect(parseInstant(text)).toBe(at))

test.each([
  ...['', '-1', '5', 'soon 5', '2026', '2026-03', '2026-02-30', '2025-02-29T00:00Z', '2026-13-01', '2026-03-01T25:00Z'],
  ...['2026-03-01T09:30', '2026-03-01 09:30Z', '1 Mar 2026', ' 2026-03-01', '2026-03-01\n', '+002026-03-01', 5, null],
])('%j is no time', (text) => expect(parseInstant(text)).toBeNull())

test('a length is a whole number in plain digits', () => {
  expect(parseContentLength('0')).toBe(0)
  expect(parseContentLength('16384')).toBe(16_384)
  for (const text of ['', '-1', '1e3', '0x10', '1.0', ' 1', '1, 1', '9'.repeat(16), null, undefined, 5])
    expect(parseContentLength(text), String(text)).toBeNull()
})

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
