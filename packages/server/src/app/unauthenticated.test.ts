/** Bounds the work that a request without credentials starts. */
import { createWebhookReader } from '@payment-integration/identity-sumsub/service'
import { afterEach, describe, expect, it } from 'vitest'
import { receiveUpdate } from '../../test/support/clause-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { startSharing } from '../../test/support/sharing-service.js'
import { createHealth } from './health.js'

const token = 'a-token-of-the-tests'
const bearer = { headers: { authorization: `Bearer ${token}` } }
let server: Awaited<ReturnType<typeof listenApp>> | undefined
afterEach(() => server?.stop())

describe.each(['/health', '/metrics'])('%s', (path) => {
  /** An app whose computations a test counts and completes. */
  async function listen() {
    let at = 0
    let started = 0
    let running = 0
    let most = 0
    let fails = false
    const waiting: (() => void)[] = []
    async function compute<T>(value: T): Promise<T> {
      started += 1
      running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => waiting.push(resolve))
      running -= 1
      if (fails) throw new Error('away')
      return value
    }
    server = await listenApp({
      health: () => compute({ status: 'ok', database: 'ok', chains: [] } as const),
      metrics: {
        text: () => compute('text'),
        contentType: 'text/plain',
        onRequest: () => undefined,
        webhookRefused: () => undefined,
      },
      metricsToken: token,
      now: () => at,
    })
    const { url } = server
    return {
      pass: (ms: number) => {
        at += ms
      },
      fail: (now: boolean) => {
        fails = now
      },
      counts: () => ({ started, most }),
      /** Sends so many requests at once, completes the computation once all have arrived, and resolves the statuses. */
      async ask(times: number) {
        const answers = Array.from({ length: times }, () => fetch(`${url}${path}`, bearer))
        const all = Promise.all(answers).then((each) => each.map(({ status }) => status))
        let done = false
        void all.then(() => {
          done = true
        })
        while (!done) {
          for (const end of waiting.splice(0)) end()
          await new Promise((resolve) => setImmediate(resolve))
        }
        return all
      },
    }
  }

  it('is computed once a second, for any number of requests', async () => {
    const { ask, counts, pass } = await listen()
    for (let round = 1; round <= 3; round += 1) {
      expect(await ask(100)).toEqual(Array(100).fill(200))
      pass(999)
      expect(await ask(20)).toEqual(Array(20).fill(200))
      expect(counts()).toEqual({ started: round, most: 1 })
      pass(1)
    }
  })

  it('is computed again after a failure', async () => {
    const { ask, counts, fail } = await listen()
    fail(true)
    expect(new Set(await ask(1))).toEqual(new Set([500]))
    fail(false)
    expect(await ask(1)).toEqual([200])
    expect(counts()).toEqual({ started: 2, most: 1 })
  })
})

describe('a computation that takes long', () => {
  it('runs alone: requests that arrive meanwhile wait for it', async () => {
    let started = 0
    let end = () => {}
    let at = 0
    server = await listenApp({
      async health() {
        started += 1
        await new Promise<void>((resolve) => {
          end = resolve
        })
        return { status: 'ok', database: 'ok', chains: [] }
      },
      now: () => at,
    })
    const { url } = server
    const first = fetch(`${url}/health`)
    while (started === 0) await fetch(`${url}/health/live`)
    at += 60_000
    const others = Array.from({ length: 50 }, () => fetch(`${url}/health`))
    // Requests are handled in order of arrival, so these arrived before the answer.
    await Promise.all(Array.from({ length: 60 }, () => fetch(`${url}/health/live`)))
    expect(started).toBe(1)
    end()
    for (const answer of [await first, ...(await Promise.all(others))]) expect(answer.status).toBe(200)
    expect(started).toBe(1)
  })
})

describe('a request without credentials', () => {
  const json = { 'content-type': 'application/json' }
  const hash = `0x${'1'.repeat(64)}`
  const kinds: readonly (readonly [name: string, path: string, looks: number, init?: RequestInit])[] = [
    ['a list', '/api/v1/integration/payments', 1],
    ['a list with a malformed cursor', '/api/v1/integration/payments?cursor=x', 1],
    ['a payment', `/api/v1/integration/payments/${hash}`, 1],
    ['a share', '/api/v1/integration/idv-share-token', 1, { method: 'POST', headers: json, body: '{}' }],
    ['a look-up', `/api/v1/tx/1/${hash}`, 1],
    ['verify', '/api/v1/verify', 1, { method: 'POST', headers: json, body: '{}' }],
    ['a path of 7 KB', `/${'%2541'.repeat(1_400)}`, 1],
    ['an update with a forged signature', '/api/v1/processor/updates', 0, forged('/api/v1/processor/updates')],
    ['a verdict with a forged digest', '/api/v1/identity-provider/webhook', 0, forged('verdict')],
    ['metrics', '/metrics', 0],
    ['liveness', '/health/live', 0],
    ['the document', '/openapi.json', 0],
    ['the reference', '/reference', 0],
    ['an unknown path', '/nowhere', 0],
    ['a method that is not there', '/health', 0, { method: 'PUT' }],
  ]

  function forged(what: string): RequestInit {
    const signature = { 'x-service-signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(64)}` }
    const digest = { 'x-payload-digest': '0'.repeat(64), 'x-payload-digest-alg': 'HMAC_SHA256_HEX' }
    return { method: 'POST', headers: { ...json, ...(what === 'verdict' ? digest : signature) }, body: '{}' }
  }

  it('calls the service at most once, to check its credentials', async () => {
    const clauses = await startSharing()
    let looks = 0
    const counting = <T extends object>(target: T): T =>
      new Proxy(target, {
        get(of, name) {
          const value = Reflect.get(of, name)
          if (typeof value === 'function')
            return (...args: unknown[]) => {
              looks += 1
              return value.apply(of, args)
            }
          return typeof value === 'object' && value !== null ? counting(value) : value
        },
      })
    const { queries, legacy, identity, ...calls } = clauses.service
    const app = await listenApp({
      service: counting({ ...calls, queries, legacy, identity }),
      receiveUpdate,
      readWebhook: createWebhookReader({ secret: 'secret-of-the-webhook' }),
      health: createHealth({ store: clauses.store, indexers: [] }),
      metricsToken: token,
      reference: true,
    })
    const found = []
    for (const [name, path, , init] of kinds) {
      looks = 0
      await fetch(`${app.url}${path}`, init)
      found.push([name, looks])
    }
    await app.stop()
    await clauses.stop()
    expect(found).toEqual(kinds.map(([name, , expected]) => [name, expected]))
  })
})
