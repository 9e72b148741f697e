import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { expect, it } from 'vitest'
import { parseNotificationUrl } from './notification-url.js'

type Row = Readonly<{ input: string; kind: 'address' | 'url'; rejected: boolean; why: string }>
const rows = JSON.parse(
  readFileSync(new URL('../../../../vectors/addresses.json', import.meta.url), 'utf8'),
) as readonly Row[]
const urls = rows.filter(({ kind }) => kind === 'url')
const invalid = expect.objectContaining({ code: 'ERR_URL_INVALID' })
const production = { allowLoopbackHttp: false }
const development = { allowLoopbackHttp: true }

it.each(urls.filter(({ rejected }) => rejected))('parseNotificationUrl rejects $input: $why', ({ input }) => {
  expect(() => parseNotificationUrl(input, production)).toThrow(invalid)
})

it.each(urls.filter(({ rejected }) => !rejected))('parseNotificationUrl accepts $input and its result', ({ input }) => {
  const url = parseNotificationUrl(input, production)
  expect(parseNotificationUrl(url, production)).toBe(url)
})

it.each([
  ['https://shop.example/webhook', 'https://shop.example/webhook'],
  ['https://SHOP.example:8443/a?b=c', 'https://shop.example:8443/a?b=c'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
  ['https://shop.example:443', 'https://shop.example/'],
])('parseNotificationUrl normalizes %s to %s', (text, url) => expect(parseNotificationUrl(text, production)).toBe(url))

const literals = rows.filter(({ input, kind }) => kind === 'address' && isIP(input) !== 0)
it.each(literals)('parseNotificationUrl rejects $input as a host, public or not', ({ input }) => {
  const host = isIP(input) === 6 ? `[${input}]` : input
  expect(() => parseNotificationUrl(`https://${host}/`, production)).toThrow(invalid)
})

it.each([
  ['https://user:pass@shop.example/', /credentials/],
  ['https://shop.example/#a', /fragment/],
  ['https://shop.example/\\', /backslash/],
  ['https://127.1/', /IP address/],
  ['https://intranet/', /public DNS name/],
  ['https://shop.example:22/', /port is not one of 443, 8443/],
  ['http://shop.example/', /must be https/],
  ['shop.example', /begin with https/],
  [`https://shop.example/${'a'.repeat(2_050)}`, /longer than 2048/],
])('parseNotificationUrl says why it rejects %.40s', (text, why) =>
  expect(() => parseNotificationUrl(text, production)).toThrow(why),
)

it('parseNotificationUrl does not repeat the URL in its message, which may hold a secret', () => {
  expect(() => parseNotificationUrl('https://user:hunter2@shop.example/?token=hunter2', production)).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
  )
})

it.each([
  ...['http://127.0.0.1:9000/hook', 'http://127.9.9.9/', 'http://localhost:9000/hook', 'http://localhost/'],
  ...['http://shop.localhost:22/', 'http://[::1]:9000/', 'https://127.0.0.1:9000/', 'https://localhost/'],
  'https://shop.example/',
])('in development %s is accepted', (text) => expect(parseNotificationUrl(text, development)).toBe(text))

it.each(['http://127.0.0.1:9000/hook', 'https://127.0.0.1/', 'http://localhost/', 'https://[::1]/'])(
  'in development %s is accepted nowhere else',
  (text) => expect(() => parseNotificationUrl(text, production)).toThrow(invalid),
)

it.each([
  ...['http://10.0.0.1/hook', 'http://shop.example/hook', 'http://0.0.0.0/', 'http://[::]/'],
  ...['http://[::ffff:127.0.0.1]/', 'http://localhost.shop.example/', 'http://127.0.0.1.shop.example/'],
  ...['http://notlocalhost/', 'http://localhost:0/', 'http://user@localhost/', 'http://localhost/#a'],
  ...['https://10.0.0.1/', 'https://8.8.8.8/', 'https://shop.example:9000/', 'https://db.internal/'],
  'ftp://localhost/',
])('in development %s is rejected: only this machine is opened', (text) => {
  expect(() => parseNotificationUrl(text, development)).toThrow(invalid)
})

const isDeniedAddress = (address: string) => address === '127.0.0.9' || address === '::1'

it.each(['http://127.0.0.9:9000/', 'https://127.0.0.9/', 'http://[::1]/', 'http://0x7f000009/'])(
  'with addresses that the operator denies, %s is rejected in development too',
  (text) => {
    expect(() => parseNotificationUrl(text, { ...development, isDeniedAddress })).toThrow(/operator denies/)
    expect(() => parseNotificationUrl(text, development)).not.toThrow()
  },
)

it.each(['http://127.0.0.1:9000/', 'http://localhost/', 'https://shop.example/'])(
  'with addresses that the operator denies, %s is accepted',
  (text) => {
    expect(parseNotificationUrl(text, { ...development, isDeniedAddress })).toBe(text)
  },
)
