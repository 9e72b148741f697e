import { afterEach, describe, expect, it } from 'vitest'
import { listenApp } from '../../test/support/listening-app.js'

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
        countRejectedWebhook: () => undefined,
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
