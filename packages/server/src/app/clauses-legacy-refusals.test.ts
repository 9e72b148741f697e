/** docs/interface.md 4.3 (lookup, refusals), 5 (legacy API) and 7 (legacy errors), clause by clause. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clauses, type Shop, startClauses } from '../../test/support/clause-service.js'
import { legacyCalls } from '../../test/support/legacy-calls.js'
import { parseRaw, requestText, sendRaw } from '../../test/support/raw-http.js'

const word = (byte: string) => `0x${byte.repeat(32)}`
const stored = word('5a')

let clauses: Clauses
let shop: Shop
let legacy: Awaited<ReturnType<typeof legacyCalls>>
beforeAll(async () => {
  clauses = await startClauses()
  shop = await clauses.createShop(`0x${'Ab'.repeat(20)}`)
  legacy = await legacyCalls(clauses)
  clauses.chain().mine([{ txHash: stored }])
  await clauses.index()
})
afterAll(() => clauses.stop())

describe('a rejected request', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['0', word('01'), ['chainId']],
    ['-1', word('01'), ['chainId']],
    ['01', word('01'), ['chainId']],
    ['1.0', word('01'), ['chainId']],
    ['0x1', word('01'), ['chainId']],
    ['1e0', word('01'), ['chainId']],
    ['%201', word('01'), ['chainId']],
    ['%D9%A1', word('01'), ['chainId']],
    ['9'.repeat(16), word('01'), ['chainId']],
    ['1', word('01').slice(2), ['txHash']],
    ['1', word('01').slice(0, -1), ['txHash']],
    ['1', `${word('01')}0`, ['txHash']],
    ['1', `0x${'g'.repeat(64)}`, ['txHash']],
    ['1', `0X${'01'.repeat(32)}`, ['txHash']],
    ['one', 'none', ['chainId', 'txHash']],
  ]
  it.each(cases)('chain %s and hash %s are 400 with a detail for %j', async (chainId, txHash, names) => {
    const { status, body, headers } = await legacy.lookup(txHash, chainId)
    expect([status, headers.get('cache-control')]).toEqual([400, 'private, no-store'])
    expect(body).toStrictEqual({
      error: expect.any(String),
      details: names.map((name) => ({ code: expect.any(String), message: expect.any(String), path: [name] })),
    })
  })

  it('says that the hash must start with 0x and has a fixed length', async () => {
    const { details } = (await legacy.lookup('none')).body
    expect(details[0].message).toMatch(/0x/)
    expect(details[0].message).toMatch(/64/)
  })

  it('is 404 where no such transaction is on that chain, in any case of the hash', async () => {
    expect((await legacy.lookup(word('5A'))).status).toBe(200)
    for (const answer of [await legacy.lookup(word('5b')), await legacy.lookup(stored, 10)]) {
      expect([answer.status, answer.body]).toEqual([404, { error: 'Transaction not found' }])
      expect(answer.headers.get('cache-control')).toBe('private, no-store')
    }
  })

  it('is the same 401 for every failed key, before any validation', async () => {
    const revoked = await clauses.service.legacyKeys.create()
    expect((await legacy.lookup(stored, 1, revoked.apiKey)).status).toBe(200)
    await clauses.service.legacyKeys.revoke(revoked.key.id)
    const { apiKey } = legacy
    const failures: Record<string, readonly string[]> = {
      'no header': [],
      'an empty header': ['Authorization: '],
      'an unknown key': [`Authorization: ${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}`],
      'a longer key': [`Authorization: ${apiKey}A`],
      'a key in another case': [`Authorization: ${apiKey.toUpperCase()}`],
      'a revoked key': [`Authorization: ${revoked.apiKey}`],
      'a revoked key as Bearer': [`Authorization: Bearer ${revoked.apiKey}`],
      'the scheme alone': ['Authorization: Bearer'],
      'two spaces': [`Authorization: Bearer  ${apiKey}`],
      'another scheme': [`Authorization: Basic ${apiKey}`],
      'the key twice': [`Authorization: ${apiKey}`, `Authorization: ${apiKey}`],
      'two keys in one': [`Authorization: ${apiKey}, ${apiKey}`],
      'an API secret': [`Authorization: ${shop.apiSecret}`],
      'credentials of an integration': [`Authorization: ${shop.authorization}`],
    }
    const bytes = async (target: string, headers: readonly string[]) =>
      (await sendRaw(clauses.url, requestText(target, headers))).replaceAll(/^(?:Date|X-Request-Id): .*\r\n/gim, '')
    const first = await bytes(`/api/v1/tx/1/${stored}`, [])
    expect(parseRaw(first)).toMatchObject({ status: 401, body: '{"error":"Unauthorized"}' })
    for (const [cause, headers] of Object.entries(failures))
      for (const target of [`/api/v1/tx/1/${stored}`, '/api/v1/tx/x/y', '/api/v1/verify', '/api/v1/tx'])
        expect(await bytes(target, headers), `${cause} on ${target}`).toBe(first)
  })

  it('opens no endpoint of the integration API with a legacy key', async () => {
    for (const authorization of [legacy.apiKey, `Bearer ${legacy.apiKey}`])
      expect((await clauses.get('payments', authorization)).status).toBe(401)
  })
})
