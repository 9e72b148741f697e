/** Tables of the pure rules. */
import { sumDecimals } from '@payment-integration/core/internal'
import { expect, it } from 'vitest'
import { findGaps } from './pages/chains.js'
import { findAdvice } from './view/advice.js'
import { formatSpan, showText } from './view/text.js'
import { findLocalProblem, findPublicProblem, parseLocalPath } from './web/guard.js'
import { parseForm } from './web/run-form.js'

it.each([
  ['plain', 'plain'],
  ['a\u202eb', 'a\\u{202e}b'],
  ['a\u0000b\u007f', 'a\\u{0}b\\u{7f}'],
  ['\ud800', '\\u{d800}'],
  ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
  ['\u{1f9c0} Käse', '\u{1f9c0} Käse'],
])('%j is shown as %j', (text, shown) => {
  expect(showText(text)).toBe(shown)
})

it('text beyond the limit is cut with the number of the rest', () => {
  expect(showText('x'.repeat(65_536), 10)).toBe(`${'x'.repeat(10)}… [65,526 more characters]`)
  expect(showText('x'.repeat(10), 10)).toBe('x'.repeat(10))
})

it.each([
  [['0.1', '0.20'], '0.30'],
  [['9007199254740993', '0.000000000000000001'], '9007199254740993.000000000000000001'],
  [['0', '5'], '5'],
  [[], '0'],
])('the sum of %s is exactly %s', (amounts, sum) => {
  expect(sumDecimals(amounts)).toBe(sum)
})

it.each([
  [0, '0 s'],
  [59_000, '59 s'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [3_720_000, '1 h 2 min'],
  [90_000_000, '1 d 1 h'],
])('%i ms are %s', (ms, text) => {
  expect(formatSpan(ms)).toBe(text)
})

it.each([
  [308, 'status_308', 'redirects are not followed'],
  [401, 'status_401', 'webhook secret'],
  [418, 'status_418', 'Answer 2xx'],
  [502, 'status_502', "Check the receiver's log"],
  [null, 'timeout', 'do the work afterwards'],
  [null, 'connection', 'its certificate has this name'],
  [null, 'rejected_address', 'a public address'],
  [null, 'secret_unreadable', 'PI_MASTER_KEY'],
  [null, 'malformed_answer', 'CR LF'],
  [200, 'malformed_answer', 'CR LF'],
  [408, 'status_408', 'before other work'],
  [410, 'status_410', 'the new notification URL'],
  [415, 'status_415', 'application/json'],
  [422, 'status_422', 'unknown fields'],
  [503, 'status_503', 'Retries continue'],
  [504, 'status_504', 'as soon as the delivery is stored'],
  [null, 'constructor', 'log of the receiver'],
  [null, 'unknown', 'log of the receiver'],
])('%s %s says %s', (status, reason, part) => {
  expect(findAdvice(status, reason)).toContain(part)
})

it('a success needs no advice', () => {
  expect(findAdvice(204, null)).toBeNull()
})

it('gaps are the blocks between two stored ranges', () => {
  const range = (from: number, to: number) => ({ from, to, proof: 'root' as const, node: 'node' })
  expect(findGaps([range(20, 30), range(10, 15), range(0, 9)])).toEqual([{ from: 16, to: 19 }])
})

/** A request with these headers; null: without this header. */
function requestWith(method: string, given: Readonly<Record<string, string | null>>): Request {
  const headers = Object.entries(given).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return new Request('http://shop.example/console', { method, headers: Object.fromEntries(headers) })
}

it.each([
  ['GET', '127.0.0.1:4747', null, undefined, true],
  ['GET', 'localhost', null, '::1', true],
  ['GET', '[::1]:80', null, '127.0.0.9', true],
  ['POST', '127.0.0.1:4747', 'http://127.0.0.1:4747', undefined, true],
  ['POST', '127.0.0.1:4747', 'http://127.0.0.1:4748', undefined, false],
  ['POST', '127.0.0.1:4747', 'null', undefined, false],
  ['POST', '127.0.0.1:4747', null, undefined, false],
  ['GET', 'shop.example', null, undefined, false],
  ['GET', 'localhost.evil.example', null, undefined, false],
  ['GET', '127.0.0.1.evil.example', null, undefined, false],
  ['GET', null, null, undefined, false],
  ['GET', 'localhost', null, '10.0.0.1', false],
])('%s with Host %s, Origin %s from %s is let in: %s', (method, host, origin, peer, isLetIn) => {
  const bindings = { incoming: { socket: { remoteAddress: peer } } }
  expect(findLocalProblem(requestWith(method, { host, origin }), bindings) === null).toBe(isLetIn)
})

it('a request that a proxy forwards is not let in', () => {
  const bindings = { incoming: { socket: { remoteAddress: '127.0.0.1' } } }
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host']) {
    const request = requestWith('GET', { host: '127.0.0.1:4747', [name]: '203.0.113.7' })
    expect(findLocalProblem(request, bindings), name).toContain('this machine alone')
  }
})

it.each([
  ['GET', 'pay.example', null, true],
  ['GET', 'PAY.example', null, true],
  ['GET', 'evil.example', null, false],
  ['GET', '127.0.0.1', null, false],
  ['POST', 'pay.example', 'https://pay.example', true],
  ['POST', 'pay.example', 'http://pay.example', false],
  ['POST', 'pay.example', 'null', false],
  ['POST', 'pay.example', null, false],
])('with sign-in, %s to %s from %s is let in: %s', (method, host, origin, isLetIn) => {
  const request = requestWith(method, { host, origin, 'x-forwarded-for': '203.0.113.7' })
  expect(findPublicProblem(request, 'https://pay.example') === null).toBe(isLetIn)
})

it.each([
  ['/console/payments?state=success', '/console/payments?state=success'],
  ['/console', '/console'],
  ['/consoles', '/console'],
  ['//evil.example/console', '/console'],
  ['/\\evil.example/console', '/console'],
  ['https://evil.example/console', '/console'],
  ['/console/../reference', '/console'],
  ['javascript:alert(1)', '/console'],
  ['', '/console'],
  [null, '/console'],
])('after signing in, next=%s leads to %s', (given, path) => {
  expect(parseLocalPath(given, '/console')).toBe(path)
})

const posted = (body: string | ReadableStream, type = 'application/x-www-form-urlencoded') =>
  new Request('http://127.0.0.1/', { method: 'POST', body, duplex: 'half', headers: { 'Content-Type': type } })

it('a form keeps the first value of a field', async () => {
  expect(Object.fromEntries(await parseForm(posted('a=1&a=2&b=%20x')))).toEqual({ a: '1', b: ' x' })
})

/** The body of a request whose client goes away after the first bytes. */
const brokenOff = () =>
  new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('a=1')),
    pull: (controller) => controller.error(new Error('aborted')),
  })

it.each([
  ['another content type', posted('a=1', 'text/plain'), 'The body is not a form.'],
  ['more than 64 KB', posted(`a=${'x'.repeat(65_535)}`), 'Body is larger than 65536 bytes.'],
  ['a body that breaks off', posted(brokenOff()), 'Body ended before it was complete.'],
])('%s is no form', async (_, request, message) => {
  await expect(parseForm(request)).rejects.toMatchObject({ code: 'ERR_CONSOLE_FILTER', retryable: false, message })
})
