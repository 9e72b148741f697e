import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type BodySubject, packBody, unpackBody } from './snapshots.js'

const subject: BodySubject = {
  integrationAddress: `0x${'a1'.repeat(20)}`,
  chainId: 8453,
  txHash: `0x${'b2'.repeat(32)}`,
  version: 3,
}
const { integrationAddress, txHash } = subject
const head = `{"integrationAddress":"${integrationAddress}","chainId":"8453","txHash":"${txHash}","version":3,`
const merchant = { title: 'Kiosk', subtitle: 'Counter 3' }
const price = { amount: '12.50', currency: 'CHF', settlementAmount: '14.02', settlementCurrency: 'USD' }

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const bodyOf = (changes: object = {}): string =>
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
  expect(textOf(packBody(bytesOf(body), subject))).toBe(packed)
  expect(textOf(unpackBody(bytesOf(packed), subject))).toBe(body)
})

const long = 'ä"\\\n'.repeat(64 * 256)

test.each(
  Object.entries({
    'every field': bodyOf(),
    'U+2028': bodyOf({ state: '\u2028' }),
    'lone surrogates': bodyOf({ state: '\ud800', recipient: { title: '\udfff', subtitle: 'x' } }),
    'an escape where none is needed': bodyOf().replace('Kiosk', String.raw`\u004biosk\/\uD800`),
    'a title that looks like the stored form': bodyOf({ recipient: { title: '"],["', subtitle: '\\' } }),
    'a title that looks like a body': bodyOf({ recipient: { title: bodyOf(), subtitle: '","invoice":null}' } }),
    'a title of 64 KB': bodyOf({ recipient: { title: long, subtitle: long } }),
  }),
)('a body with %s is stored by its values and comes back byte for byte', (_, text) => {
  const body = bytesOf(text)
  const packed = packBody(body, subject)
  expect([packed[0], packed.length < body.length]).toEqual([0x31, true])
  expect(unpackBody(packed, subject)).toEqual(body)
})

const notUtf8 = bytesOf(bodyOf())
notUtf8[head.length + 11] = 0xff

test.each(
  Object.entries({
    'another order of its fields': JSON.stringify({ state: 'success', ...JSON.parse(bodyOf()) }),
    'another order of an object’s fields': bodyOf({ recipient: { subtitle: 'b', title: 'a' } }),
    spaces: JSON.stringify(JSON.parse(bodyOf()), null, 1),
    'a space at its end': `${bodyOf()} `,
    'a line feed at its end': `${bodyOf()}\n`,
    'text after its end': `${bodyOf()}{}`,
    'a key twice': bodyOf().replace('"recipient"', '"state":"success","recipient"'),
    'a further field': bodyOf({ memo: 'x' }),
    'a further field of an object': bodyOf({ invoice: { ...price, tax: '1' } }),
    'a missing field': bodyOf({ invoice: undefined }),
    'an empty object': bodyOf({ recipient: {} }),
    'a number for a text': bodyOf({ invoice: { ...price, amount: 12 } }),
    'the number 1.0': bodyOf().replace('"12.50"', '1.0'),
    'an array': bodyOf({ recipient: ['a', 'b'] }),
    'a nested object': bodyOf({ state: { title: 'a' } }),
    'a boolean': bodyOf({ state: true }),
    'another version': bodyOf().replace('"version":3', '"version":4'),
    'a version 3.0': bodyOf().replace('"version":3', '"version":3.0'),
    'a chain that is a number': bodyOf().replace('"8453"', '8453'),
    'an address in upper case': bodyOf().replace('0xa1a1', '0xA1A1'),
    'a byte order mark': `\ufeff${bodyOf()}`,
    'a replacement character': bodyOf({ state: '\ufffd' }),
    'no end': bodyOf().slice(0, -1),
    'the look of a stored form': '1["success",null,null]',
    'no JSON': 'x'.repeat(65_536),
    'an open string of 64 KB': `${head}"state":"${'\\"'.repeat(32_768)}`,
    'bytes that are no UTF-8': notUtf8,
    'every byte': Uint8Array.from({ length: 256 }, (_, byte) => byte),
  }),
)('a body with %s is stored whole', (_, given) => {
  const body = typeof given === 'string' ? bytesOf(given) : given
  const packed = packBody(body, subject)
  expect(packed).toEqual(Uint8Array.from([0x30, ...body]))
  expect(unpackBody(packed, subject)).toEqual(body)
})

test('the body of a payment without an integration is stored whole', () => {
  const own = { ...subject, integrationAddress: null }
  const body = bytesOf(bodyOf().replace(`"${integrationAddress}"`, 'null'))
  expect(packBody(body, own)[0]).toBe(0x30)
  expect(unpackBody(packBody(body, own), own)).toEqual(body)
})

test('the bodies of the vectors come back byte for byte, as they are and without spaces', () => {
  const path = new URL('../../../../vectors/deliveries.json', import.meta.url)
  const vectors = JSON.parse(readFileSync(path, 'utf8')) as readonly { readonly name: string; readonly body: string }[]
  let packed = 0
  for (const vector of vectors) {
    const given = Buffer.from(vector.body, 'base64')
    const parsed = jsonOf(given)
    const fields = (typeof parsed === 'object' ? parsed : null) as Partial<Record<string, unknown>> | null
    const own = {
      integrationAddress: String(fields?.['integrationAddress']),
      chainId: Number(fields?.['chainId']),
      txHash: String(fields?.['txHash']),
      version: Number(fields?.['version']),
    }
    for (const body of [new Uint8Array(given), bytesOf(JSON.stringify(parsed ?? null))]) {
      const form = packBody(body, own)
      if (form[0] === 0x31) packed += 1
      expect(unpackBody(form, own), vector.name).toEqual(body)
    }
  }
  expect(packed).toBeGreaterThan(6)
})

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(bytes))
  } catch {
    return null
  }
}

test('a stored form of another release is rejected', () => {
  for (const packed of ['', '2[]', '1', '1[]', '1["success",null]', '1{}'])
    expect(() => unpackBody(bytesOf(packed), subject), packed).toThrow(RangeError)
})
