import { describe, expect, test } from 'vitest'
import { donor, newToken, reuseUri, started } from './support.js'

const path = '/resources/accessTokens/shareToken'

describe('minting', () => {
  const tokenRequest = (applicantId: string) => ({ applicantId, forClientId: 'ServiceCo', ttlInSecs: '600' })
  const query = (id: string) => new URLSearchParams(tokenRequest(id))

  test.each([
    ['by query', (id: string) => ({ uri: `${path}?${query(id)}` })],
    ['by the other path', (id: string) => ({ uri: `/resources/accessTokens/-/shareToken?${query(id)}` })],
    ['by body', (id: string) => ({ uri: path, body: JSON.stringify({ ...tokenRequest(id), ttlInSecs: 600 }) })],
    ['by query where the body has null', (id: string) => ({ uri: `${path}?${query(id)}`, body: '{"ttlInSecs":null}' })],
    ['by the first of repeated parameters', (id: string) => ({ uri: `${path}?${query(id)}&ttlInSecs=1` })],
    ['by body with a number as text', (id: string) => ({ uri: path, body: JSON.stringify(tokenRequest(id)) })],
  ])('%s answers a token that lives as long as asked', async (_, request) => {
    const { provider, clock, ask } = await started()
    const { id } = provider.addApplicant({ clientId: 'DonorCo' })
    const { status, json } = await ask({ ...request(id), by: donor })
    expect({ status, ...json }).toEqual({ status: 200, token: expect.any(String), forClientId: 'ServiceCo' })
    expect(String(json['token']).length).toBeLessThanOrEqual(1_024)
    const other = await ask({ ...request(id), by: donor })
    clock.advance(599_999)
    expect((await ask({ uri: reuseUri(String(json['token'])) })).status).toBe(200)
    clock.advance(1)
    expect((await ask({ uri: reuseUri(String(other.json['token'])) })).status).toBe(401)
  })

  test('without a time to live the token lives for 20 minutes', async () => {
    const { provider, clock, ask } = await started()
    const token = newToken(provider)
    clock.advance(20 * 60_000)
    expect((await ask({ uri: reuseUri(token) })).status).toBe(401)
    const other = newToken(provider)
    clock.advance(20 * 60_000 - 1)
    expect((await ask({ uri: reuseUri(other) })).status).toBe(200)
  })

  test.each([
    ['no applicant', 'forClientId=ServiceCo', 400],
    ['no partner', 'applicantId=ID', 400],
    ['an empty applicant', 'applicantId=&forClientId=ServiceCo', 400],
    ['an unknown applicant', 'applicantId=none&forClientId=ServiceCo', 404],
    ['a client that is no partner', 'applicantId=ID&forClientId=Nobody', 400],
    ['a time to live of 0', 'applicantId=ID&forClientId=ServiceCo&ttlInSecs=0', 400],
    ['a time to live of words', 'applicantId=ID&forClientId=ServiceCo&ttlInSecs=long', 400],
  ])('%s is rejected', async (_, query, expected) => {
    const { provider, ask } = await started()
    const { id } = provider.addApplicant({ clientId: 'DonorCo' })
    expect((await ask({ uri: `${path}?${query.replace('ID', id)}`, by: donor })).status).toBe(expected)
  })

  test('the applicant of another client is as unknown as one that was never there', async () => {
    const { provider, ask } = await started()
    const { id } = provider.addApplicant({ clientId: 'ServiceCo' })
    const mintFor = (applicantId: string) =>
      ask({ uri: `${path}?applicantId=${applicantId}&forClientId=ServiceCo`, by: donor })
    const [foreign, unknown] = [await mintFor(id), await mintFor('none')]
    expect({ ...foreign.json, correlationId: '' }).toEqual({ ...unknown.json, correlationId: '' })
    expect([foreign.status, unknown.status]).toEqual([404, 404])
  })

  test.each(['{', '[]', '"x"', 'null'])('the body %s is rejected', async (body) => {
    const { ask } = await started()
    expect((await ask({ uri: path, body, by: donor })).status).toBe(400)
  })
})

describe('a token that cannot be used', () => {
  const invalid = (token: RegExp) => expect.objectContaining({ code: 401, description: expect.stringMatching(token) })

  test('an expired one is described with its id, its times and its time to live', async () => {
    const { provider, clock, ask } = await started()
    const token = newToken(provider, 5)
    clock.advance(129_000)
    const { status, json } = await ask({ uri: reuseUri(token) })
    expect(status).toBe(401)
    expect(json['errorCode']).toBeUndefined()
    expect(json['description']).toMatch(
      /^Token is invalid: Token _act-\w+ is invalid now: created at Thu Jan 01 00:00:00 UTC 2026 with ttl 5 but accessed at Thu Jan 01 00:02:09 UTC 2026 \[source: null\]$/,
    )
    expect(json['description']).not.toContain(token)
  })

  test('a used one, and one that was never minted, are 401 as well', async () => {
    const { provider, ask } = await started()
    const token = newToken(provider)
    expect((await ask({ uri: reuseUri(token) })).status).toBe(200)
    expect((await ask({ uri: reuseUri(token, { userId: 'pi:2' }) })).json).toEqual(invalid(/^Token is invalid: Token /))
    expect((await ask({ uri: reuseUri('_act-made-up') })).json).toEqual(invalid(/^Token is invalid: /))
    expect(provider.redemptions).toHaveLength(1)
  })

  test('no token at all is 400', async () => {
    const { ask } = await started()
    expect((await ask({ uri: reuseUri('') })).status).toBe(400)
  })
})
