/** Limits over real HTTP, by a clock of the test. */
import { createUpdateReceiver } from '@payment-integration/core'
import { describe, expect, it, vi } from 'vitest'
import {
  basic,
  chosenService,
  goodAuthorization,
  integrationAddress,
  legacyKey,
  txHash,
} from '../../test/support/integration-service.js'
import { listenTempApp } from '../../test/support/listening-app.js'
import { createRequestLimits, type RequestLimitsOptions } from '../limits/request-limits.js'

const list = '/api/v1/integration/payments'
const lookup = `/api/v1/tx/1/${txHash}`
const proxy = { trustedProxies: ['127.0.0.1'] }

let at = 0

/** A look-up of credentials that answers only after so many calls. */
function meet(count: number): () => Promise<void> {
  let arrived = 0
  const waiting: (() => void)[] = []
  return () =>
    new Promise((resolve) => {
      arrived += 1
      waiting.push(resolve)
      if (arrived >= count) for (const go of waiting.splice(0)) go()
    })
}

/**
 * Starts an app with limits. `looks` counts the look-ups of credentials, each of which waits for `look` before it
 * answers.
 */
async function listen(options: RequestLimitsOptions, look = async () => {}) {
  let looks = 0
  const { authenticate, authenticateLegacy, ...rest } = chosenService()
  const counted =
    <T>(find: (authorization: string | null | undefined) => Promise<T>) =>
    async (authorization: string | null | undefined) => {
      looks += 1
      await look()
      return find(authorization)
    }
  const service = { ...rest, authenticate: counted(authenticate), authenticateLegacy: counted(authenticateLegacy) }
  const receiveUpdate = createUpdateReceiver({ secrets: ['secret-of-a-processor'], clock: { now: Date.now } })
  const limits = createRequestLimits({ ...options, clock: { now: () => at } })
  const { url } = await listenTempApp({ service, receiveUpdate, limits, clock: { now: () => at } })
  return {
    url,
    looks: () => looks,
    /** Sends a request, through a proxy when a source is given. */
    async ask(path: string, authorization?: string, source?: string, method = 'GET') {
      const headers = {
        ...(authorization === undefined ? {} : { authorization }),
        ...(source === undefined ? {} : { 'x-forwarded-for': source }),
      }
      const answer = await fetch(`${url}${path}`, { method, headers })
      return { status: answer.status, headers: answer.headers, text: await answer.text() }
    },
  }
}

describe('requests per source', () => {
  it('beyond the limit are 429 before any look-up, on any path and with any credentials, until the wait is over', async () => {
    const { ask, looks } = await listen({ requestsPerSource: 3 })
    expect((await ask(list)).status).toBe(401)
    expect((await ask(list, goodAuthorization)).status).toBe(200)
    expect((await ask('/nowhere')).status).toBe(404)
    for (const [path, authorization] of [
      [list],
      [list, goodAuthorization],
      [lookup],
      [lookup, legacyKey],
      ['/api/v1/integration/idv-share-token', goodAuthorization],
      ['/nowhere'],
      ['/openapi.json'],
    ] as const) {
      const { status, headers, text } = await ask(path, authorization)
      expect([path, status, text]).toEqual([path, 429, '{"error":"Too many requests"}'])
      expect([headers.get('retry-after'), headers.get('cache-control')]).toEqual(['1', 'private, no-store'])
      expect(headers.get('content-type')).toBe('application/json')
    }
    expect(looks()).toBe(2)
    at += 334
    expect((await ask(list, goodAuthorization)).status).toBe(200)
    expect((await ask(list, goodAuthorization)).status).toBe(429)
  })

  it('are those of an address behind trusted proxies, and of a /64 of IPv6', async () => {
    const { ask } = await listen({ requestsPerSource: 1, ...proxy })
    const from = async (source: string) => (await ask('/nowhere', undefined, source)).status
    const sources = ['198.51.100.1', '198.51.100.1', '198.51.100.2', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1']
    const statuses = []
    for (const source of sources) statuses.push(await from(source))
    expect(statuses).toEqual([404, 429, 404, 404, 429, 404])
  })
})

describe('failed sign-ins per source', () => {
  const wrong = basic(integrationAddress, 'wrong')
  const unknown = basic(`0x${'99'.repeat(20)}`, 'wrong')

  it('beyond the limit are 429, and so are valid credentials, until one failure is a minute old', async () => {
    const { ask, looks } = await listen({ failedSignInsPerSource: 3 })
    for (const authorization of [wrong, undefined, unknown]) expect((await ask(list, authorization)).status).toBe(401)
    const answers = [await ask(list, wrong), await ask(list, unknown), await ask(list, goodAuthorization)]
    const shown = answers.map(({ status, text, headers }) => [status, text, headers.get('retry-after')])
    expect(shown).toEqual(Array(3).fill([429, '{"error":"Too many requests"}', '20']))
    expect(looks()).toBe(3)
    at += 20_000
    expect((await ask(list, goodAuthorization)).status).toBe(200)
    expect((await ask(list, wrong)).status).toBe(401)
    expect((await ask(list, goodAuthorization)).status).toBe(429)
  })

  it('beyond the limit are 429 when all arrive before the first answer, also for a right guess that comes last', async () => {
    const { ask, looks } = await listen({ failedSignInsPerSource: 3 }, meet(500))
    const guesses = Array.from({ length: 499 }, () => ask(list, wrong))
    await vi.waitUntil(() => looks() === 499, { timeout: 300_000 })
    const answers = await Promise.all([...guesses, ask(list, goodAuthorization)])
    const rejected = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(3)
    const shown = rejected.map(({ text, headers }) => [text, headers.get('retry-after')])
    expect(shown).toEqual(Array(497).fill(['{"error":"Too many requests"}', '20']))
  })

  it('include those of the legacy API and of processors; successes are not counted', async () => {
    const { ask, url } = await listen({ failedSignInsPerSource: 3 })
    for (let times = 0; times < 10; times += 1) expect((await ask(list, goodAuthorization)).status).toBe(200)
    expect((await ask(lookup, 'wrong')).status).toBe(401)
    const headers = { 'content-type': 'application/json', 'x-service-signature': `t=1,v1=${'0'.repeat(64)}` }
    const update = { method: 'POST', headers, body: '{}' }
    for (let times = 0; times < 2; times += 1)
      expect((await fetch(`${url}/api/v1/processor/updates`, update)).status).toBe(401)
    expect((await ask(lookup, legacyKey)).status).toBe(429)
  })
})

it('requests are counted per integration, from any source, and per legacy key; unauthenticated requests are not counted', async () => {
  const { ask } = await listen({ requestsPerCaller: 2, ...proxy })
  for (let times = 0; times < 5; times += 1)
    expect((await ask(list, basic(integrationAddress, 'wrong'))).status).toBe(401)
  const statuses = []
  for (const source of ['198.51.100.1', '198.51.100.2', '198.51.100.3'])
    statuses.push((await ask(list, goodAuthorization, source)).status)
  expect(statuses).toEqual([200, 200, 429])
  const legacy = []
  for (const key of [legacyKey, `Bearer ${legacyKey}`, legacyKey]) legacy.push((await ask(lookup, key)).status)
  expect(legacy).toEqual([200, 200, 429])
  const rejected = await ask(lookup, legacyKey)
  expect([rejected.text, rejected.headers.get('retry-after')]).toEqual(['{"error":"Too many requests"}', '1'])
  at += 500
  expect((await ask(list, goodAuthorization)).status).toBe(200)
  expect((await ask(list, goodAuthorization)).status).toBe(429)
})

it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('a limit of %d is rejected', (count) => {
  for (const name of ['requestsPerSource', 'requestsPerCaller', 'failedSignInsPerSource'] as const)
    expect(() => createRequestLimits({ [name]: count })).toThrow(new RegExp(`^${name} is ${count};`))
})

it('an app on another host gets the peer address from the host', async () => {
  const limits = createRequestLimits({ requestsPerSource: 1, clock: { now: () => at } })
  const { app } = await listenTempApp({ limits, findPeer: (c) => c.req.header('x-host-says') })
  const from = async (peer: string) => (await app.request('/nowhere', { headers: { 'x-host-says': peer } })).status
  expect([await from('198.51.100.1'), await from('198.51.100.1'), await from('198.51.100.2')]).toEqual([404, 429, 404])
})
