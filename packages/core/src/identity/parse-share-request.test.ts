import { shareRequestLimits } from '@payment-integration/contract'
import { expect, test } from 'vitest'
import { InvalidShareRequestError } from '../errors.js'
import { parseShareRequest } from './share.js'

const bytes = (text: string) => new TextEncoder().encode(text)
const parse = (value: unknown) => parseShareRequest(bytes(JSON.stringify(value)))
const token = '_act-jwt-eyJhbGciOiJub25lIn0.x/+=&?%20 y'

test('reads the address in its normal form and the token verbatim', () => {
  const body = { email: 'User@BÜCHER.example', kycShareToken: token, more: 1 }
  expect(parse(body)).toEqual({ email: 'user@xn--bcher-kva.example', shareToken: token })
})

test('accepts the longest token and rejects one character more', () => {
  const email = 'user@example.com'
  const { kycShareToken: mostTokenLength } = shareRequestLimits
  expect(parse({ email, kycShareToken: 'x'.repeat(mostTokenLength) }).shareToken).toHaveLength(mostTokenLength)
  expect(() => parse({ email, kycShareToken: 'x'.repeat(mostTokenLength + 1) })).toThrow(/longer than 4096/)
})

test('measures a token in its URL-encoded form, so no accepted token is too long for the provider', () => {
  const email = 'user@example.com'
  const [two, three] = [`${'ü'.repeat(682)}xxxx`, `${'\u{1f600}'.repeat(341)}xxxx`]
  for (const kycShareToken of [`${'%'.repeat(1_365)}x`, `${'~'.repeat(1_365)}x`, two, three]) {
    expect(new URL(`http://x/?${new URLSearchParams({ t: kycShareToken })}`).search).toHaveLength(4_099)
    expect(parse({ email, kycShareToken }).shareToken).toBe(kycShareToken)
    expect(() => parse({ email, kycShareToken: `${kycShareToken}x` })).toThrow(/longer than 4096 bytes in a URL/)
  }
})

test('rejects a token that is not well-formed Unicode, because it could not be passed on verbatim', () => {
  for (const token of ['\\ud800', 'x\\udc00y', '\\udc00\\ud800'])
    expect(() => parseShareRequest(bytes(`{"email":"user@example.com","kycShareToken":"${token}"}`))).toThrow(
      /well-formed Unicode/,
    )
})

test.each([
  ['an empty body', ''],
  ['no JSON', '{'],
  ['null', 'null'],
  ['a byte order mark', '\ufeff{"email":"user@example.com","kycShareToken":"t"}'],
  ['33 levels', `{"email":"user@example.com","kycShareToken":"t","a":${'['.repeat(32)}${']'.repeat(32)}}`],
  ['an address twice', '{"email":"a@example.com","email":"b@example.com","kycShareToken":"t"}'],
  ['a token twice, once in escapes', '{"email":"a@example.com","kycShareToken":"t","kycShareToke\\u006e":"u"}'],
  ['an address that is no text', '{"email":{"x":1},"kycShareToken":"t"}'],
  ['an address that is none', '{"email":"canary@","kycShareToken":"t"}'],
  ['a token that is no text', '{"email":"user@example.com","kycShareToken":1}'],
  ['fields of the prototype alone', '{"__proto__":{"email":"user@example.com","kycShareToken":"canary"}}'],
])('rejects %s, and repeats no value', (_, text) => {
  expect(() => parseShareRequest(bytes(text))).toThrow(InvalidShareRequestError)
  expect(() => parseShareRequest(bytes(text))).not.toThrow(/canary/)
})

test('rejects bytes that are not UTF-8', () => {
  const body = Buffer.concat([bytes('{"email":"user@example.com","kycShareToken":"'), Buffer.from([0xff]), bytes('"}')])
  expect(() => parseShareRequest(body)).toThrow(InvalidShareRequestError)
})
