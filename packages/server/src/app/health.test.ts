import type { ChainStatus } from '@payment-integration/core'
import { describe, expect, it } from 'vitest'
import { chainStatus, nodeStatus } from '../../test/support/chain-status.js'
import { listenTempApp } from '../../test/support/listening-app.js'
import { createHealth, type HealthDeps, recentFailedProofMs } from './health.js'

const up = { ping: async () => undefined }
const chain = (status: Partial<ChainStatus>) => ({ status: () => chainStatus(status) })

async function ask(deps: HealthDeps, path = '/health') {
  const { url } = await listenTempApp({ health: createHealth(deps) })
  const answer = await fetch(`${url}${path}`)
  expect(answer.headers.get('cache-control')).toBe('private, no-store')
  return { status: answer.status, body: await answer.json() }
}

describe('GET /health', () => {
  it('is 200 with the status of each chain', async () => {
    const lastError = { message: 'node did not answer', at: 1_767_323_045_000 }
    const status = chainStatus({
      head: 120,
      indexed: 118,
      proof: 'bloom',
      reorgs: 3,
      lastError,
      nodes: [nodeStatus({ name: 'a.example #1', latencyMs: 14.5 }), nodeStatus({ score: 0, inUse: false })],
    })
    const { newestReorgs: _, ...shown } = status
    expect(await ask({ store: up, indexers: [{ status: () => status }] })).toEqual({
      status: 200,
      body: { status: 'ok', database: 'ok', chains: [{ ...shown, lag: 2 }] },
    })
  })

  it('shows only known fields, and only the host of a URL', async () => {
    const node = { ...nodeStatus({ lastError: 'https://u:CANARY@a.example/CANARY is away' }), url: 'CANARY' }
    const status = {
      ...chainStatus({
        nodes: [node],
        error: 'wss://a.example/CANARY?k=CANARY closed',
        lastError: { message: 'http://a.example/CANARY closed', at: 1 },
      }),
      rpcUrl: 'CANARY',
    }
    const { body } = await ask({ store: up, indexers: [{ status: () => status }] })
    expect(JSON.stringify(body)).not.toContain('CANARY')
    expect(body).toMatchObject({
      chains: [
        {
          error: 'wss://a.example closed',
          lastError: { message: 'http://a.example closed', at: 1 },
          nodes: [{ lastError: 'https://a.example is away' }],
        },
      ],
    })
  })

  it('is 200 and degraded while a chain cannot be followed: the API still answers', async () => {
    const indexers = [chain({ head: 9, indexed: 9, error: 'node does not answer' })]
    expect(await ask({ store: up, indexers })).toMatchObject({ status: 200, body: { status: 'degraded' } })
  })

  it('is ok on standby: another process leads', async () => {
    const { body } = await ask({ store: up, indexers: [chain({ leading: false, head: null })] })
    expect(body).toMatchObject({ status: 'ok', chains: [{ leading: false }] })
  })

  it('is degraded for ten minutes after each failed proof, and then ok', async () => {
    let now = 1_000
    let failedProofs = 0
    const indexers = [{ status: () => chainStatus({ nodes: [nodeStatus(), nodeStatus({ failedProofs })] }) }]
    const health = createHealth({ store: up, indexers, clock: { now: () => now } })
    const statuses: string[] = []
    const look = async () => statuses.push((await health()).status)
    await look()
    failedProofs = 2
    await look()
    now += recentFailedProofMs - 1
    await look()
    now += 1
    await look()
    failedProofs = 3
    await look()
    now += recentFailedProofMs
    await look()
    expect(statuses).toEqual(['ok', 'degraded', 'degraded', 'ok', 'degraded', 'ok'])
  })

  it.each<[string, HealthDeps['store']['ping']]>([
    ['rejects the connection', () => Promise.reject(new Error('secret detail'))],
    [
      'throws at once',
      () => {
        throw new Error('secret detail')
      },
    ],
    ['does not answer in time', () => new Promise(() => undefined)],
  ])('is 503 when the database %s', async (_, ping) => {
    const { status, body } = await ask({ store: { ping }, indexers: [], timeoutMs: 20 })
    expect([status, body]).toEqual([503, { status: 'down', database: 'unavailable', chains: [] }])
  })

  it('is 503 once the loops have stopped', async () => {
    expect(await ask({ store: up, indexers: [], running: () => false })).toMatchObject({ status: 503 })
  })

  it('live is 200 even when the database is down', async () => {
    const store = { ping: () => Promise.reject(new Error('away')) }
    expect(await ask({ store, indexers: [] }, '/health/live')).toEqual({ status: 200, body: { status: 'ok' } })
  })
})
