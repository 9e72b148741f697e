import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { listenTempApp } from '../../test/support/listening-app.js'

const token = 'a-token-of-the-tests'

describe.each(['/health', '/metrics'])('%s', (path) => {
  /** An app whose computations a test counts. */
  async function listen() {
    const state = { at: 0, started: 0, running: 0, most: 0 }
    async function compute<T>(value: T): Promise<T> {
      state.started += 1
      state.running += 1
      state.most = Math.max(state.most, state.running)
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
      state.running -= 1
      return value
    }
    const { url } = await listenTempApp({
      health: () => compute({ status: 'ok', database: 'ok', chains: [] } as const),
      metrics: {
        ...{ text: () => compute('text'), contentType: 'text/plain' },
        ...{ onRequest: () => undefined, countRejectedWebhook: () => undefined },
      },
      metricsToken: token,
      clock: { now: () => state.at },
    })
    const ask = (times: number) => {
      const headers = { authorization: `Bearer ${token}` }
      return Promise.all(Array.from({ length: times }, async () => (await fetch(`${url}${path}`, { headers })).status))
    }
    return { state, ask }
  }

  it('is computed once a second, for any number of requests', async () => {
    const { state, ask } = await listen()
    for (let round = 1; round <= 3; round += 1) {
      expect(await ask(100)).toEqual(Array(100).fill(200))
      state.at += 999
      expect(await ask(20)).toEqual(Array(20).fill(200))
      expect(state).toMatchObject({ started: round, most: 1 })
      state.at += 1
    }
  })
})
