/**
 * docs/interface.md 4.2, 5 rule 4 and 7: malformed requests, byte by byte. 401 comes before 404, and 404 before 400.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Shop } from '../../test/support/clause-service.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'
import { startSharing } from '../../test/support/sharing-service.js'

const target = '/api/v1/integration/idv-share-token'
const json = 'Content-Type: application/json'
const good = '{"email":"user@shop.example","kycShareToken":"token"}'

let sharing: Awaited<ReturnType<typeof startSharing>>
let shop: Shop
beforeAll(async () => {
  sharing = await startSharing()
  shop = await sharing.createShop(`0x${'01'.repeat(20)}`)
})
afterAll(async () => {
  await sharing?.stop()
})

/** Sends a body with the given headers; `Content-Length` and authorization are added. */
async function post(url: string, authorization: string, headers: readonly string[], body: string) {
  const all = [`Authorization: ${authorization}`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers]
  const answer = parseRaw(await sendRaw(url, requestText(target, all, { method: 'POST', body })))
  return { status: answer.status, body: answer.body }
}

const malformed: readonly (readonly [string, readonly string[], string, number])[] = [
  ['two content types, the first one right', [json, 'Content-Type: text/plain'], good, 400],
  ['two content types, the last one right', ['Content-Type: text/plain', json], good, 400],
  ['the right content type twice', [json, json], good, 400],
  ['two content types in one header', ['Content-Type: application/json, text/plain'], good, 400],
  ['no content type', [], good, 400],
  ['the content type of a form without preflight', ['Content-Type: text/plain'], good, 400],
  ['a content type with a tab', ['Content-Type: application/json\t; charset=utf-8'], good, 400],
  ['another charset', ['Content-Type: application/json; charset=utf-16'], good, 400],
  ['a content encoding', [json, 'Content-Encoding: gzip'], good, 400],
  ['no body', [json], '', 400],
  ['an address twice', [json], '{"email":"a@b.example","email":"c@d.example","kycShareToken":"t"}', 400],
  [
    'a token twice, once in escapes',
    [json],
    '{"email":"a@b.example","kycShareToken":"t","kycShareToke\\u006e":"u"}',
    400,
  ],
  [
    'a key twice in a field that is ignored',
    [json],
    `{"email":"a@b.example","kycShareToken":"t","x":{"y":1,"y":2}}`,
    400,
  ],
  ['fields of the prototype alone', [json], '{"__proto__":{"email":"a@b.example","kycShareToken":"t"}}', 400],
  ['a token of the prototype', [json], '{"email":"a@b.example","__proto__":{"kycShareToken":"t"}}', 400],
  [
    'fields of the constructor',
    [json],
    '{"constructor":{"prototype":{"email":"a@b.example","kycShareToken":"t"}}}',
    400,
  ],
  ['a list of requests', [json], `[${good}]`, 400],
  ['a token that is half a character', [json], '{"email":"a@b.example","kycShareToken":"\\ud800"}', 400],
  ['a token of 1,366 per cent signs', [json], `{"email":"a@b.example","kycShareToken":"${'%'.repeat(1_366)}"}`, 400],
]

describe.each(malformed)('%s', (_, headers, body, status) => {
  it(`is ${status}, and the provider gets no request`, async () => {
    const before = sharing.provider.requests.length
    const answer = await post(sharing.url, shop.authorization, headers, body)
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, { error: expect.any(String) }])
    expect(sharing.provider.requests.length).toBe(before)
  })
})
