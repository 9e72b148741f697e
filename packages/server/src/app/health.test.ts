import { afterEach, describe, expect, it } from 'vitest'
import { listenApp } from '../../test/support/listening-app.js'
import { createHealth, type HealthDeps } from './health.js'

const up = { ping: async () => undefined }
const chain = (status: { head: number | null; indexed: number | null; error: string | null }) => ({
  status: () => ({ chainId: 1, ...status }),
})
let server: Awaited<ReturnType<typeof listenApp>> | undefined
afterEach(() => server?.stop())

async function ask(deps: HealthDeps, path = '/health') {
  server = await listenApp({ health: createHealth(deps) })
  const answer = await fetch(`${server.url}${path}`)
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
  return { status: answer.status, body: await answer.json() }
}

describe('GET /health', () => {
  it('is 200 with each chain and its lag', async () => {
    const indexers = [chain({ head: 120, indexed: 118, error: null })]
    expect(await ask({ store: up, indexers })).toEqual({
      status: 200,
      body: { status: 'ok', database: 'ok', chains: [{ chainId: 1, head: 120, indexed: 118, lag: 2, error: null }] },
    })
  })

  it('says null for the lag of a chain that was not read yet, and 0 when the node fell back', async () => {
    const indexers = [chain({ head: null, indexed: 5, error: null }), chain({ head: 4, indexed: 5, error: null })]
    const { body } = await ask({ store: up, indexers })
    expect(body).toMatchObject({ status: 'ok', chains: [{ lag: null }, { lag: 0 }] })
  })

  it('is 200 and degraded while a chain cannot be followed: the API still answers', async () => {
    const indexers = [chain({ head: 9, indexed: 9, error: 'node does not answer' })]
    expect(await ask({ store: up, indexers })).toMatchObject({ status: 200, body: { status: 'degraded' } })
  })

  it('is 503 when the database refuses', async () => {
    const store = { ping: () => Promise.reject(new Error('secret detail')) }
    const { status, body } = await ask({ store, indexers: [] })
    expect([status, body]).toEqual([503, { status: 'down', database: 'unavailable', chains: [] }])
  })

  it('is 503 when the database throws at once or does not answer in time', async () => {
    const throwing = {
      ping() {
        throw new Error('secret detail')
      },
    }
    expect((await createHealth({ store: throwing, indexers: [] })()).status).toBe('down')
    const hanging = { ping: () => new Promise<void>(() => undefined) }
    expect((await ask({ store: hanging, indexers: [], timeoutMs: 20 })).status).toBe(503)
  })

  it('is 503 once the loops have ended', async () => {
    expect(await ask({ store: up, indexers: [], running: () => false })).toMatchObject({ status: 503 })
  })

  it('live is 200 whatever the database does', async () => {
    const store = { ping: () => Promise.reject(new Error('away')) }
    expect(await ask({ store, indexers: [] }, '/health/live')).toEqual({ status: 200, body: { status: 'ok' } })
  })
})
