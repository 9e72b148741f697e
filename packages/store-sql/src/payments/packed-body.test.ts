import { expect, test } from 'vitest'
import { type BodyKey, packBody, unpackBody } from './snapshots.js'

const subject: BodyKey = {
  integrationAddress: `0x${'a1'.repeat(20)}`,
  chainId: 8453,
  txHash: `0x${'b2'.repeat(32)}`,
  version: 3,
}
const { integrationAddress, txHash } = subject
const head = `{"integrationAddress":"${integrationAddress}","chainId":"8453","txHash":"${txHash}","version":3,`
const merchant = { title: 'Kiosk', subtitle: 'Counter 3' }
const price = { amount: '12.50', currency: 'CHF', settlementAmount: '14.02', settlementCurrency: 'USD' }

const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const toText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const makeBody = (changes: object = {}): string =>
  JSON.stringify({
    ...{ integrationAddress, chainId: '8453', txHash, version: 3 },
    ...{ state: 'success', recipient: merchant, invoice: price, ...changes },
  })

/** Stored forms of the first format, as they are in databases. None of these lines may ever change. */
const stored: readonly (readonly [packed: string, body: string])[] = [
  [
    '1["success",["Kiosk","Counter 3"],["12.50","CHF","14.02","USD"]]',
    `${head}"state":"success","recipient":{"title":"Kiosk","subtitle":"Counter 3"},"invoice":{"amount":"12.50","currency":"CHF","settlementAmount":"14.02","settlementCurrency":"USD"}}`,
  ],
  ['1[null,null,null]', `${head}"state":null,"recipient":null,"invoice":null}`],
  [
    '1["pending",["Café ☕ \\"1\\" \\\\",null],["1",null,null,null]]',
    `${head}"state":"pending","recipient":{"title":"Café ☕ \\"1\\" \\\\","subtitle":null},"invoice":{"amount":"1","currency":null,"settlementAmount":null,"settlementCurrency":null}}`,
  ],
  ['0{}', '{}'],
  ['0', ''],
]

test.each(stored)('the stored form %s is frozen', (packed, body) => {
  expect(toText(packBody(toBytes(body), subject))).toBe(packed)
  expect(toText(unpackBody(toBytes(packed), subject))).toBe(body)
})

const long = 'ä"\\\n'.repeat(64 * 256)

test.each(
  Object.entries({
    'every field': makeBody(),
    'U+2028': makeBody({ state: '\u2028' }),
    'lone surrogates': makeBody({ state: '\ud800', recipient: { title: '\udfff', subtitle: 'x' } }),
    'an escape where none is needed': makeBody().replace('Kiosk', String.raw`\u004biosk\/\uD800`),
    'a title that looks like the stored form': makeBody({ recipient: { title: '"],["', subtitle: '\\' } }),
    'a title that looks like a body': makeBody({ recipient: { title: makeBody(), subtitle: '","invoice":null}' } }),
    'a title of 64 KB': makeBody({ recipient: { title: long, subtitle: long } }),
  }),
)('a body with %s is stored by its values and comes back byte for byte', (_, text) => {
  const body = toBytes(text)
  const packed = packBody(body, subject)
  expect([packed[0], packed.length < body.length]).toEqual([0x31, true])
  expect(unpackBody(packed, subject)).toEqual(body)
})

const notUtf8 = toBytes(makeBody())
notUtf8[head.length + 11] = 0xff

test.each(
  Object.entries({
    'another order of its fields': JSON.stringify({ state: 'success', ...JSON.parse(makeBody()) }),
    'another order of an object’s fields': makeBody({ recipient: { subtitle: 'b', title: 'a' } }),
    spaces: JSON.stringify(JSON.parse(makeBody()), null, 1),
    'a space at its end': `${makeBody()} `,
    'a line feed at its end': `${makeBody()}\n`,
    'text after its end': `${makeBody()}{}`,
    'a key twice': makeBody().replace('"recipient"', '"state":"success","recipient"'),
    'a further field': makeBody({ memo: 'x' }),
    'a further field of an object': makeBody({ invoice: { ...price, tax: '1' } }),
    'a missing field': makeBody({ invoice: undefined }),
    'an empty object': makeBody({ recipient: {} }),
    'a number for a text': makeBody({ invoice: { ...price, amount: 12 } }),
    'the number 1.0': makeBody().replace('"12.50"', '1.0'),
    'an array': makeBody({ recipient: ['a', 'b'] }),
    'a nested object': makeBody({ state: { title: 'a' } }),
    'a boolean': makeBody({ state: true }),
    'another version': makeBody().replace('"version":3', '"version":4'),
    'a version 3.0': makeBody().replace('"version":3', '"version":3.0'),
    'a chain that is a number': makeBody().replace('"8453"', '8453'),
    'an address in upper case': makeBody().replace('0xa1a1', '0xA1A1'),
    'a byte order mark': `\ufeff${makeBody()}`,
    'a replacement character': makeBody({ state: '\ufffd' }),
    'no end': makeBody().slice(0, -1),
    'the look of a stored form': '1["success",null,null]',
    'no JSON': 'x'.repeat(65_536),
    'an open string of 64 KB': `${head}"state":"${'\\"'.repeat(32_768)}`,
    'bytes that are no UTF-8': notUtf8,
    'every byte': Uint8Array.from({ length: 256 }, (_, byte) => byte),
  }),
)('a body with %s is stored whole', (_, given) => {
  const body = typeof given === 'string' ? toBytes(given) : given
  const packed = packBody(body, subject)
  expect(packed).toEqual(Uint8Array.from([0x30, ...body]))
  expect(unpackBody(packed, subject)).toEqual(body)
})

test('the body of a payment without an integration is stored whole', () => {
  const own = { ...subject, integrationAddress: null }
  const body = toBytes(makeBody().replace(`"${integrationAddress}"`, 'null'))
  expect(packBody(body, own)[0]).toBe(0x30)
  expect(unpackBody(packBody(body, own), own)).toEqual(body)
})

test('a stored form of another release is rejected', () => {
  for (const packed of ['', '2[]', '1', '1[]', '1["success",null]', '1{}'])
    expect(() => unpackBody(toBytes(packed), subject), packed).toThrow(RangeError)
})
