import type { ChainStatus, ServiceEvent } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { afterEach, describe, expect, it } from 'vitest'
import { chainStatus, nodeStatus } from '../../test/support/chain-status.js'
import { basic, goodAuthorization, txHash, wallet } from '../../test/support/integration-service.js'
import { listenApp } from '../../test/support/listening-app.js'
import { createMetrics } from './create-metrics.js'
import type { Metrics } from './metrics.js'

const name = { chainId: 137, txHash, integrationAddress: wallet } as const
const attempted = {
  type: 'delivery.attempted',
  deliveryId: 'd1',
  version: 1,
  attempt: 1,
  status: 204,
  reason: null,
  latencyMs: 30,
  replay: false,
  publishedMs: 45,
  outcome: 'delivered',
  retryInMs: null,
  ...name,
} as const satisfies ServiceEvent

const metricsToken = 'a-token-of-the-tests'
const bearer = { headers: { authorization: `Bearer ${metricsToken}` } }
let server: Awaited<ReturnType<typeof listenApp>> | undefined
afterEach(() => server?.stop())

async function listen(metrics: Metrics, now?: () => number) {
  server = await listenApp({ metrics, metricsToken, now })
  return server.url
}

/** The samples of a text, by name and formatted labels. */
function samples(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space).replace('payment_integration_', ''), Number(line.slice(space + 1))]
    }),
  )
}

const read = async (metrics: Metrics) => samples(await metrics.text())

function watching(
  metrics: Metrics,
  statuses: () => readonly ChainStatus[],
  msUntilDue: () => Promise<number | null>,
  backlog: Store['deliveries']['backlog'] = async () => ({ pending: 0, oldestDueMs: null, oldestBlockedMs: null }),
  endpoints: Store['deliveries']['endpoints'] = async () => [],
  oldestSnapshot: Store['deliveries']['oldestSnapshot'] = async () => null,
) {
  const indexers = statuses().map((_, index) => ({ status: () => statuses()[index] ?? chainStatus() }))
  metrics.watch({ indexers, deliveries: { msUntilDue, backlog, endpoints, oldestSnapshot } })
}

describe('the metrics of chains', () => {
  it('report the status of each indexer at the time of the scrape', async () => {
    const metrics = await createMetrics()
    let head = 1_200
    const status = () => [
      chainStatus({ chainId: 137, head, indexed: 1_190, proof: 'bloom', reorganisations: 3 }),
      chainStatus({ chainId: 1, head: null, headAt: null, indexed: null, proof: null, leading: false, error: 'x' }),
    ]
    watching(metrics, status, async () => null)
    const first = await read(metrics)
    head = 1_201
    const second = await read(metrics)
    expect(first.get('chain_head_block{chain="137"}')).toBe(1_200)
    expect(second.get('chain_head_block{chain="137"}')).toBe(1_201)
    expect(second.get('chain_indexed_block{chain="137"}')).toBe(1_190)
    expect(second.get('chain_lag_blocks{chain="137"}')).toBe(11)
    expect(second.get('chain_leading{chain="137"}')).toBe(1)
    expect(second.get('chain_failing{chain="137"}')).toBe(0)
    expect(second.get('chain_reorganisations_total{chain="137"}')).toBe(3)
    for (const [level, value] of Object.entries({ root: 0, bloom: 1, none: 0 }))
      expect(second.get(`chain_proof{chain="137",level="${level}"}`)).toBe(value)
    expect(second.get('chain_leading{chain="1"}')).toBe(0)
    expect(second.get('chain_failing{chain="1"}')).toBe(1)
    for (const unknown of [
      ...['chain_head_block', 'chain_head_timestamp_seconds', 'chain_indexed_block', 'chain_lag_blocks'],
    ])
      expect(second.has(`${unknown}{chain="1"}`)).toBe(false)
    expect([...second.keys()].some((key) => key.startsWith('chain_proof{chain="1"'))).toBe(false)
  })

  it('report the score of each node by name', async () => {
    const metrics = await createMetrics()
    const nodes = [
      nodeStatus({
        name: 'a.example #1',
        score: 0.25,
        inUse: false,
        failures: 4,
        contradictions: 2,
        failedProofs: 1,
      }),
      nodeStatus({ name: 'a.example #2', latencyMs: 250, head: null, maxRange: 500 }),
    ]
    watching(
      metrics,
      () => [chainStatus({ nodes, lastError: { message: 'x', at: 5_000 } })],
      async () => null,
    )
    const found = await read(metrics)
    const of = (metric: string, position: number) => found.get(`${metric}{chain="1",node="a.example #${position}"}`)
    expect(
      ['score', 'in_use', 'failures_total', 'contradictions_total', 'failed_proofs_total'].map((each) =>
        of(`node_${each}`, 1),
      ),
    ).toEqual([0.25, 0, 4, 2, 1])
    expect(['latency_seconds', 'head_block', 'max_range_blocks'].map((each) => of(`node_${each}`, 2))).toEqual([
      0.25,
      undefined,
      500,
    ])
    expect(found.get('chain_last_error_timestamp_seconds{chain="1"}')).toBe(5)
  })
})

it('the calls, bytes, blocks and cost of each node are counted; a chain without a price has no cost', async () => {
  const metrics = await createMetrics({ callPrices: new Map([[137, 1.5]]) })
  const nodes = [nodeStatus({ name: 'a.example #1', calls: 3_000, receivedBytes: 4_096, blocks: 1_200 })]
  watching(
    metrics,
    () => [chainStatus({ chainId: 137, nodes }), chainStatus({ chainId: 1, nodes })],
    async () => null,
  )
  const found = await read(metrics)
  const of = (metric: string, chain: number) => found.get(`node_${metric}{chain="${chain}",node="a.example #1"}`)
  const counters = ['calls_total', 'received_bytes_total', 'blocks_total', 'cost_total']
  expect(counters.map((each) => of(each, 137))).toEqual([3_000, 4_096, 1_200, 0.0045])
  expect(counters.map((each) => of(each, 1))).toEqual([3_000, 4_096, 1_200, undefined])
})

describe('the metrics of events', () => {
  it('count payments, versions, updates, deliveries, quarantined logs and outages', async () => {
    const metrics = await createMetrics()
    const events: ServiceEvent[] = [
      { type: 'payment.indexed', blockNumber: 1, blockTimestamp: 0, ...name },
      { type: 'payment.indexed', blockNumber: 1, blockTimestamp: 0, ...name, chainId: 1 },
      { type: 'payment.indexed', blockNumber: 2, blockTimestamp: 0, ...name },
      { type: 'payment.additional', ordinal: 1, blockNumber: 1, ...name },
      { type: 'payment.additional', ordinal: 2, blockNumber: 1, ...name, integrationAddress: null },
      { type: 'payment.changed', version: 2, from: null, to: 'success', ...name },
      { type: 'update.settled', updateId: 'u', outcome: 'refused', reason: 'x', ...name },
      attempted,
      { ...attempted, outcome: 'pending', status: null, reason: 'timeout', latencyMs: 10_000, publishedMs: null },
      { type: 'log.quarantined', chainId: 10, txHash, blockNumber: 1, logIndex: 0, reason: 'x' },
      { type: 'chain.failed', chainId: 10, message: 'x' },
      { type: 'chain.indexed', chainId: 10, blockNumber: 1, head: 1 },
    ]
    events.forEach(metrics.onEvent)
    const found = await read(metrics)
    expect(found.get('payments_indexed_total{chain="137",kind="first"}')).toBe(2)
    expect(found.get('payments_indexed_total{chain="1",kind="first"}')).toBe(1)
    expect(found.get('payments_indexed_total{chain="137",kind="hidden"}')).toBe(1)
    expect(found.get('payments_indexed_total{chain="137",kind="additional"}')).toBe(1)
    expect(found.get('payments_changed_total{chain="137"}')).toBe(1)
    expect(found.get('updates_settled_total{outcome="refused"}')).toBe(1)
    expect(found.get('deliveries_attempted_total{outcome="delivered"}')).toBe(1)
    expect(found.get('deliveries_attempted_total{outcome="pending"}')).toBe(1)
    expect(found.get('delivery_duration_seconds_count')).toBe(2)
    expect(found.get('delivery_duration_seconds_bucket{le="0.05"}')).toBe(1)
    expect(found.get('delivery_duration_seconds_sum')).toBeCloseTo(10.03)
    expect(found.get('logs_quarantined_total{chain="10"}')).toBe(1)
    expect(found.get('chain_outages_total{chain="10"}')).toBe(1)
  })
})

describe('the backlog of deliveries', () => {
  const noChains = () => []
  const none = async () => null

  it.each([
    [{ pending: 0, oldestDueMs: null, oldestBlockedMs: null }, undefined, undefined],
    [{ pending: 7, oldestDueMs: 0, oldestBlockedMs: null }, 0, undefined],
    [{ pending: 7, oldestDueMs: null, oldestBlockedMs: 3_600_000 }, undefined, 3_600],
    [{ pending: 10_000, oldestDueMs: 61_500, oldestBlockedMs: 1_500 }, 61.5, 1.5],
  ])(
    '%o is a number of deliveries and two ages in seconds: of sendable and of blocked ones',
    async (backlog, seconds, blockedSeconds) => {
      const metrics = await createMetrics()
      watching(metrics, noChains, none, async () => backlog)
      const found = await read(metrics)
      expect(found.get('deliveries_pending')).toBe(backlog.pending)
      expect(found.get('oldest_due_delivery_seconds')).toBe(seconds)
      expect(found.get('oldest_blocked_delivery_seconds')).toBe(blockedSeconds)
    },
  )

  it('is read once at each scrape, and counted up to 10,000', async () => {
    const metrics = await createMetrics()
    const asked: number[] = []
    watching(metrics, noChains, none, async ({ atMost }) => {
      asked.push(atMost)
      return { pending: asked.length, oldestDueMs: null, oldestBlockedMs: null }
    })
    expect((await read(metrics)).get('deliveries_pending')).toBe(1)
    expect((await read(metrics)).get('deliveries_pending')).toBe(2)
    expect(asked).toEqual([10_000, 10_000])
    expect(await metrics.text()).toMatch(/deliveries_pending .*Counted up to 10000/)
  })
})

describe('failing endpoints', () => {
  const noChains = () => []
  const endpoint = { integrationAddress: wallet, failingSince: 1, blockedUntil: null }

  it('are the blocked ones; failures in a row alone are not enough', async () => {
    const metrics = await createMetrics()
    const endpoints = [
      { ...endpoint, failures: 4, blocks: 0 },
      { ...endpoint, failures: 5, blocks: 1 },
      { ...endpoint, failures: 90, blocks: 9 },
    ]
    watching(
      metrics,
      noChains,
      async () => null,
      undefined,
      async () => endpoints,
    )
    expect((await read(metrics)).get('notification_endpoints_failing')).toBe(2)
    endpoints.length = 0
    expect((await read(metrics)).get('notification_endpoints_failing')).toBe(0)
  })
})

describe('the oldest database snapshot', () => {
  const name = 'oldest_database_snapshot_seconds{holder="session",database_user="reporting",application="dashboard"}'

  it('has its age by user and application from a minute on, and leaves once it ends', async () => {
    const metrics = await createMetrics()
    const session = { holder: 'session', databaseUser: 'reporting', application: 'dashboard' } as const
    let ageMs: number | null = 59_999
    watching(...([metrics, () => [], async () => 2_500, undefined, undefined] as const), async () =>
      ageMs === null ? null : { ...session, ageMs },
    )
    const values: unknown[] = []
    for (const age of [59_999, 60_000, 3_600_000, null]) {
      ageMs = age
      values.push([...(await read(metrics))].filter(([key]) => key.startsWith('oldest_database_snapshot')))
    }
    expect(values).toEqual([[], [[name, 60]], [[name, 3_600]], []])
  })
})

describe('GET /metrics', () => {
  it('is the text format, with no-store and process metrics', async () => {
    const url = await listen(await createMetrics())
    const answer = await fetch(`${url}/metrics`, bearer)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    const found = samples(await answer.text())
    expect([...found.keys()].filter((key) => key.startsWith('build_info'))).toHaveLength(1)
    expect(found.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(found.has('nodejs_eventloop_lag_seconds')).toBe(true)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
  })

  it.each([
    ['metrics are off', async () => ({ metricsToken })],
    ['there is no token', async () => ({ metrics: await createMetrics() })],
  ])('is not there when %s', async (_, deps) => {
    server = await listenApp(await deps())
    expect((await fetch(`${server.url}/metrics`, bearer)).status).toBe(404)
  })

  it.each([
    undefined,
    '',
    metricsToken,
    ...['Bearer', `Bearer ${metricsToken}x`, `Bearer ${metricsToken.slice(0, -1)}`],
    ...[`Bearer ${metricsToken.toUpperCase()}`, `Basic ${metricsToken}`, `Bearer ${'x'.repeat(5_000)}`],
  ])('is the 401 of the other APIs for the credentials %j', async (authorization) => {
    const url = await listen(await createMetrics())
    const answer = await fetch(`${url}/metrics`, authorization === undefined ? {} : { headers: { authorization } })
    expect([answer.status, await answer.text()]).toEqual([401, '{"error":"Unauthorized"}'])
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer /)
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
  })

  it('counts requests by route pattern, also rejected ones, without naming an integration', async () => {
    let now = 0
    const metrics = await createMetrics()
    const url = await listen(metrics, () => (now += 20))
    const api = '/api/v1/integration'
    const get = (path: string, authorization = goodAuthorization) =>
      fetch(`${url}${path}`, { headers: { authorization } })
    await get(`${api}/payments?limit=1`)
    await get(`${api}/wallet/${wallet}/payments`)
    await get(`${api}/wallet/${wallet}/payments`)
    await get(`${api}/payments/${txHash}`, basic(wallet, 'wrong'))
    await get(`${api}/payments/${txHash}`)
    await get(`/nowhere/${txHash}`)
    await fetch(`${url}/health`, { method: 'PROPFIND' })
    metrics.onEvent({ type: 'payment.indexed', blockNumber: 1, blockTimestamp: 0, ...name })
    const text = await (await fetch(`${url}/metrics`, bearer)).text()
    const counts = [...samples(text)].filter(([key]) => key.startsWith('http_request_duration_seconds_count'))
    const labels = (method: string, route: string, status: number) =>
      `http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`
    expect(Object.fromEntries(counts)).toEqual({
      [labels('GET', `${api}/payments`, 200)]: 1,
      [labels('GET', `${api}/wallet/:address/payments`, 200)]: 2,
      [labels('GET', `${api}/payments/:txHash`, 401)]: 1,
      [labels('GET', `${api}/payments/:txHash`, 500)]: 1,
      [labels('GET', 'none', 404)]: 1,
      [labels('other', '/health', 405)]: 1,
    })
    expect(samples(text).get(`http_request_duration_seconds_sum{method="GET",route="none",status="404"}`)).toBe(0.02)
    expect(text).not.toMatch(/0x[0-9a-f]{40}/i)
    expect(text).not.toContain('://')
  })
})
