import { expect, test } from 'vitest'
import { UnreadableRequestError } from '../errors.js'
import { createBuilders, createDeliveries, createFakeClock } from '../exports/index.js'
import { explainDelivery } from './explain-delivery.js'
import { type ParseRequestOptions, parseHeaders, parseRequest } from './parse-request.js'

const secret = 'pi_whsec_Zm9yIHRlc3RzIG9ubHksIG5ldmVyIGlzc3VlZA'
const clock = createFakeClock()
const build = createBuilders({ seed: 3, clock })
const snapshot = build.snapshot({ recipient: { title: `Zoë's "Café" \\ $HOME \`x\``, subtitle: null } })
const good = await createDeliveries({ secret, clock }).good(snapshot)
const text = new TextDecoder().decode(good.body)
const multiValueHeaders = Object.fromEntries(Object.entries(good.headers).map(([name, value]) => [name, [value]]))
const base64 = Buffer.from(good.body).toString('base64')
const lines = Object.entries(good.headers).map(([name, value]) => `${name}: ${value}`)
const flags = lines.map((line) => `-H '${line}'`)

const single = `'${text.replaceAll("'", `'\\''`)}'`
const double = `"${text.replace(/[\\"$`]/g, '\\$&')}"`
const ansi = `$'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('ë', '\\u00eb')}'`
const chunks = `${good.body.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
const raw = (end: string, first = `POST /webhook HTTP/1.1${end}Host: shop.example${end}`) =>
  Buffer.from(`${first}${lines.join(end)}${end}${end}${text}`)

/** A text as editors and shells save it. */
const saved: readonly [name: string, save: (text: string) => Uint8Array][] = [
  ['UTF-8 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
  ['UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16, big end first', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['UTF-16 without a mark', (text) => Buffer.from(text, 'utf16le')],
  ['UTF-16 without a mark, big end first', (text) => Buffer.from(text, 'utf16le').swap16()],
]

const forms: [name: string, request: string | Uint8Array, options?: ParseRequestOptions][] = [
  ['curl with single quotes', `curl -X POST ${flags.join(' ')} --data-raw ${single} https://shop.example`],
  ['curl with double quotes, continued', `$ curl https://a.example \\\n ${flags.join(' \\\n ')} \\\n -d ${double}`],
  ['curl continued by CRLF after a word', `curl a.example\\\r\n ${flags.join('\\\r\n ')}\\\r\n -d ${single}\\\r\n -s`],
  ['curl with ANSI-C quotes', `curl 'https://a.example' ${flags.join(' ')} --data-binary ${ansi} --compressed`],
  ['curl with joined switches and no backslashes', `curl -sS\n${flags.join('\n')}\n--data-raw=${single}`],
  ['curl with the body in a file', `curl ${flags.join(' ')} --data-binary @b.json a.example`, { body: good.body }],
  ['raw HTTP with CRLF', raw('\r\n')],
  ['raw HTTP with LF', raw('\n')],
  ['raw HTTP without a request line', raw('\n', '')],
  ['raw HTTP as text', raw('\r\n').toString()],
  ['raw HTTP with a line end after the body', `${raw('\n', `Content-Length: ${good.body.length}\n`)}\n`],
  ['raw HTTP in chunks', `Transfer-Encoding: chunked\r\n${lines.join('\r\n')}\r\n\r\n${chunks}`],
  ...saved.flatMap(([name, save]): [string, Uint8Array][] => [
    [`raw HTTP in ${name}`, save(raw('\r\n').toString())],
    [`raw HTTP without a request line in ${name}`, save(raw('\n', '').toString())],
    [`curl in ${name}`, save(`curl ${flags.join(' ')} --data-raw ${single} https://shop.example`)],
  ]),
  ['raw HTTP as text with a byte order mark', `\ufeff${raw('\n', '')}`],
  ['an event of a gateway', JSON.stringify({ headers: good.headers, body: text, isBase64Encoded: false })],
  ['an event in base64', JSON.stringify({ headers: {}, multiValueHeaders, body: base64, isBase64Encoded: true })],
]

test.each(forms)('a genuine delivery verifies as %s', async (_, request, options) => {
  const { headers, body } = parseRequest(request, options)
  expect(Buffer.from(body).toString()).toBe(text)
  const explained = await explainDelivery({ headers, body, secrets: [secret], clock })
  expect(explained).toMatchObject({ verified: true, findings: [] })
})

test('the body of a raw message keeps bytes that are not text', () => {
  const body = Uint8Array.from([0, 0xff, 0x0a, 0x0d, 0x80])
  expect(parseRequest(Buffer.concat([Buffer.from('A: b\n\n'), body])).body).toEqual(body)
})

test.each([
  ['curl with a variable', `curl -H "X-A: $VALUE" -d x`, /taken as it is/],
  ['curl with two bodies', `curl -H 'A: b' -d x -d y`, /joined with &/],
  ['a message without an empty line', 'A: b', /no empty line/],
  ['an event with a parsed body', JSON.stringify({ headers: { a: 'b' }, body: { c: 1 } }), /parsed JSON/],
])('%s has a warning', (_, request, warning) => {
  expect(parseRequest(request).warnings.join(' ')).toMatch(warning)
})

test.each<[string, string | Uint8Array, RegExp, ParseRequestOptions?]>([
  ['nothing', ' \n', /empty/],
  ['prose', 'Hello there', /Name: value/],
  ['a lone body', text, /--headers/],
  ['broken JSON', text.slice(0, 50), /not JSON/],
  ['curl with @file', `curl -H 'A: b' --data @body.json`, /--body/],
  ['curl with headers in a file', 'curl -H @head.txt -d x', /headers/],
  ['curl without headers', 'curl -d x https://a.example', /no headers/],
  ['curl with a form', `curl -H 'A: b' -F file=x`, /multipart/],
  ['curl with an open quote', `curl -H 'A: b`, /not closed/],
  ['curl for cmd.exe', 'curl ^"https://a.example^" ^\r\n -H ^"A: b^"', /bash/],
  ['an event with wrong base64', JSON.stringify({ headers: {}, body: '!', isBase64Encoded: true }), /base64/],
  ['a head without end', `A: b\n`.repeat(70_000), /256 KiB/],
  ['too much', new Uint8Array(16 * 1_048_576 + 1), /16 MiB/],
])('%s is unreadable, with the reason', (_, request, reason, options) => {
  const parse = () => parseRequest(request, options)
  expect(parse).toThrow(UnreadableRequestError)
  expect(parse).toThrow(reason)
  expect(parse).toThrow(expect.objectContaining({ code: 'ERR_REQUEST_UNREADABLE' }))
})

test('a request that is neither text nor bytes is a TypeError', () => {
  expect(() => parseRequest(5 as never)).toThrow(TypeError)
})

test('headers alone are lines, a JSON object or a JSON list of pairs', () => {
  const expected = Object.entries(good.headers)
  expect(parseHeaders(`${lines.join('\r\n')}\r\n`)).toEqual(expected)
  expect(parseHeaders(JSON.stringify(good.headers))).toEqual(expected)
  expect(parseHeaders(JSON.stringify({ headers: good.headers }))).toEqual(expected)
  expect(parseHeaders(JSON.stringify(expected))).toEqual(expected)
  expect(() => parseHeaders('[1]')).toThrow(UnreadableRequestError)
  expect(() => parseHeaders('x'.repeat(65_536))).toThrow(/Name: value/)
})

test('a folded header is one value', () => {
  expect(parseRequest('A: b\n c\n\n').headers).toEqual([['A', 'b c']])
})

test.each([lines.join('\n'), JSON.stringify({ headers: good.headers, body: { parsed: true } })])(
  'a body that replaces the one of the request has no warning about that one: %j',
  (request) => {
    expect(parseRequest(request).warnings).toHaveLength(1)
    expect(parseRequest(request, { body: good.body }).warnings).toEqual([])
  },
)
