import type { ChainStatus, ServiceEvent } from '@payment-integration/core'
import { Counter, Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { chainStatus, nodeStatus } from '../../test/support/chain-status.js'
import { basic, goodAuthorization, txHash, wallet } from '../../test/support/integration-service.js'
import { listenTempApp } from '../../test/support/listening-app.js'
import { createMetrics } from './create-metrics.js'
import { createAttemptMetrics } from './delivery-metrics.js'
import { createRequestDurations, durationBuckets, type Metrics, prefix, publishBuckets } from './metrics.js'

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
const listen = async (metrics: Metrics, clock?: { now(): number }) =>
  (await listenTempApp({ metrics, metricsToken, clock })).url

const lines = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
/** The samples of a text, by name and formatted labels. */
function samples(text: string): ReadonlyMap<string, number> {
  return new Map(
    lines(text).map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space).replace('payment_integration_', ''), Number(line.slice(space + 1))]
    }),
  )
}

const read = async (metrics: Metrics) => samples(await metrics.text())

type Watched = Parameters<Metrics['watch']>[0]
/** Metrics that watch chains and deliveries; without a choice there are none. */
async function watch(deliveries: Partial<Watched['deliveries']>, ...statuses: readonly (() => ChainStatus)[]) {
  const metrics = await createMetrics({ callPrices: new Map([[137, 1.5]]) })
  const none = {
    msUntilDue: async () => null,
    backlog: async () => ({ pending: 0, oldestDueMs: null, oldestBlockedMs: null }),
    endpoints: async () => [],
    oldestSnapshot: async () => null,
  }
  metrics.watch({ indexers: statuses.map((status) => ({ status })), deliveries: { ...none, ...deliveries } })
  return metrics
}

describe('the metrics of chains', () => {
  it('report the status of each indexer at the time of the scrape', async () => {
    let head = 1_200
    const unknown = { head: null, headAt: null, indexed: null, proof: null }
    const metrics = await watch(
      {},
      () => chainStatus({ chainId: 137, head, indexed: 1_190, proof: 'bloom', reorgs: 3 }),
      () => chainStatus({ chainId: 1, ...unknown, leading: false, error: 'x' }),
    )
    expect((await read(metrics)).get('chain_head_block{chain="137"}')).toBe(1_200)
    head = 1_201
    const found = await read(metrics)
    const of = (chain: number, names: readonly string[]) =>
      names.map((each) => found.get(`chain_${each}{chain="${chain}"}`))
    const names = ['head_block', 'indexed_block', 'lag_blocks', 'leading', 'failing', 'reorgs_total']
    expect(of(137, names)).toEqual([1_201, 1_190, 11, 1, 0, 3])
    const others = [...names.slice(0, 5), 'head_timestamp_seconds']
    expect(of(1, others)).toEqual([undefined, undefined, undefined, 0, 1, undefined])
    const proofs = [...found].filter(([key]) => key.startsWith('chain_proof'))
    const levels = proofs.map(([key, value]) => `${/level="(\w+)"/.exec(key)?.[1]} ${value}`)
    expect(levels.sort()).toEqual(['bloom 1', 'none 0', 'root 0'])
  })

  it('report each node by name, what it was asked and what that cost; a chain without a price has no cost', async () => {
    const faults = { score: 0.25, inUse: false, failures: 4, contradictions: 2, failedProofs: 1 }
    const nodes = [
      nodeStatus({ name: 'a.example #1', ...faults, calls: 3_000, receivedBytes: 4_096, blocks: 1_200 }),
      nodeStatus({ name: 'a.example #2', latencyMs: 250, head: null, maxRange: 500 }),
    ]
    const metrics = await watch(
      {},
      () => chainStatus({ chainId: 137, nodes, lastError: { message: 'x', at: 5_000 } }),
      () => chainStatus({ chainId: 1, nodes }),
    )
    const found = await read(metrics)
    const of = (chain: number, position: number, names: readonly string[]) =>
      names.map((each) => found.get(`node_${each}{chain="${chain}",node="a.example #${position}"}`))
    const faulty = ['score', 'in_use', 'failures_total', 'contradictions_total', 'failed_proofs_total']
    expect(of(137, 1, faulty)).toEqual([0.25, 0, 4, 2, 1])
    const counters = ['calls_total', 'received_bytes_total', 'blocks_total', 'cost_total']
    expect(of(137, 1, counters)).toEqual([3_000, 4_096, 1_200, 0.0045])
    expect(of(1, 1, counters)).toEqual([3_000, 4_096, 1_200, undefined])
    expect(of(137, 2, ['latency_seconds', 'head_block', 'max_range_blocks'])).toEqual([0.25, undefined, 500])
    expect(found.get('chain_last_error_timestamp_seconds{chain="137"}')).toBe(5)
  })
})

it('each event is counted by its kind, and no integration is named', async () => {
  const metrics = await createMetrics()
  const endpoint = { integrationAddress: wallet, failingMs: 9_000 }
  const failing = { type: 'endpoint.failing', failures: 5, blockedUntil: 5_000, ...endpoint } as const
  const transitions = (found: ReadonlyMap<string, number>) =>
    ['failing', 'recovered'].map((to) => found.get(`notification_endpoint_transitions_total{to="${to}"}`))
  expect(transitions(await read(metrics))).toEqual([0, 0])
  const events: ServiceEvent[] = [
    { type: 'payment.indexed', blockNumber: 1, blockTimestamp: 0, ...name },
    { type: 'payment.indexed', blockNumber: 1, blockTimestamp: 0, ...name, chainId: 1 },
    { type: 'payment.indexed', blockNumber: 2, blockTimestamp: 0, ...name },
    { type: 'payment.additional', ordinal: 1, blockNumber: 1, ...name },
    { type: 'payment.additional', ordinal: 2, blockNumber: 1, ...name, integrationAddress: null },
    { type: 'payment.changed', version: 2, from: null, to: 'success', ...name },
    { type: 'update.settled', updateId: 'u', outcome: 'rejected', reason: 'x', ...name },
    attempted,
    { ...attempted, outcome: 'pending', status: null, reason: 'timeout', latencyMs: 10_000, publishedMs: null },
    { type: 'delivery.exhausted', deliveryId: '7', version: 1, reason: 'status_410', ...name },
    failing,
    failing,
    { type: 'endpoint.recovered', ...endpoint },
    { type: 'log.quarantined', chainId: 10, txHash, blockNumber: 1, logIndex: 0, reason: 'x' },
    { type: 'chain.failed', chainId: 10, message: 'x' },
    { type: 'chain.indexed', chainId: 10, blockNumber: 1, head: 1 },
  ]
  events.forEach(metrics.onEvent)
  const text = await metrics.text()
  const found = samples(text)
  const counted = {
    'payments_indexed_total{chain="137",kind="first"}': 2,
    'payments_indexed_total{chain="1",kind="first"}': 1,
    'payments_indexed_total{chain="137",kind="hidden"}': 1,
    'payments_indexed_total{chain="137",kind="additional"}': 1,
    'payments_changed_total{chain="137"}': 1,
    'updates_settled_total{outcome="rejected"}': 1,
    'deliveries_attempted_total{outcome="delivered"}': 1,
    'deliveries_attempted_total{outcome="pending"}': 1,
    deliveries_exhausted_total: 1,
    delivery_duration_seconds_count: 2,
    'delivery_duration_seconds_bucket{le="0.05"}': 1,
    'logs_quarantined_total{chain="10"}': 1,
    'chain_outages_total{chain="10"}': 1,
  }
  expect(Object.fromEntries(Object.keys(counted).map((key) => [key, found.get(key)]))).toEqual(counted)
  expect(found.get('delivery_duration_seconds_sum')).toBeCloseTo(10.03)
  expect(transitions(found)).toEqual([2, 1])
  expect(text).not.toMatch(/0x[0-9a-f]{40}/i)
})

describe('the metrics of deliveries', () => {
  it.each([
    [{ pending: 0, oldestDueMs: null, oldestBlockedMs: null }, undefined, undefined],
    [{ pending: 7, oldestDueMs: 0, oldestBlockedMs: null }, 0, undefined],
    [{ pending: 7, oldestDueMs: null, oldestBlockedMs: 3_600_000 }, undefined, 3_600],
    [{ pending: 10_000, oldestDueMs: 61_500, oldestBlockedMs: 1_500 }, 61.5, 1.5],
  ])('%o is a number and two ages in seconds: of sendable and of blocked ones', async (backlog, due, blocked) => {
    const asked: number[] = []
    const metrics = await watch({
      async backlog({ atMost }) {
        asked.push(atMost)
        return backlog
      },
    })
    const found = await read(metrics)
    const names = ['deliveries_pending', 'oldest_due_delivery_seconds', 'oldest_blocked_delivery_seconds']
    expect(names.map((each) => found.get(each))).toEqual([backlog.pending, due, blocked])
    expect(asked).toEqual([10_000])
    expect(await metrics.text()).toMatch(/deliveries_pending .*Counted up to 10000/)
  })

  it('have as failing endpoints the blocked ones; failures in a row alone are not enough', async () => {
    const endpoint = { integrationAddress: wallet, failingSince: 1, blockedUntil: null }
    const endpoints = [
      { ...endpoint, failures: 4, blocks: 0 },
      { ...endpoint, failures: 5, blocks: 1 },
      { ...endpoint, failures: 90, blocks: 9 },
    ]
    const metrics = await watch({ endpoints: async () => endpoints })
    expect((await read(metrics)).get('notification_endpoints_failing')).toBe(2)
    endpoints.length = 0
    expect((await read(metrics)).get('notification_endpoints_failing')).toBe(0)
  })

  it('have the age of the oldest snapshot by user and application from a minute on, until it ends', async () => {
    const session = { holder: 'session', databaseUser: 'reporting', application: 'dashboard' } as const
    const ages = [59_999, 60_000, 3_600_000, null]
    const metrics = await watch({
      async oldestSnapshot() {
        const ageMs = ages.shift() ?? null
        return ageMs === null ? null : { ...session, ageMs }
      },
    })
    const key = 'oldest_database_snapshot_seconds{holder="session",database_user="reporting",application="dashboard"}'
    const values: unknown[] = []
    for (const _ of [...ages]) values.push((await read(metrics)).get(key))
    expect(values).toEqual([undefined, 60, 3_600, undefined])
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
    const url = await listen(metrics, { now: () => (now += 20) })
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

function resultsIn(text: string) {
  const found = text.matchAll(/delivery_attempts_total\{result="([^"]+)"\} (\d+)/g)
  return Object.fromEntries([...found].map(([, result, count]) => [result, Number(count)]))
}

const nothing = {
  ...{ '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 },
  ...{ timeout: 0, connection: 0, rejected_address: 0, malformed_answer: 0, secret_unreadable: 0, other: 0 },
}

it.each([
  [200, null, '2xx'],
  [299, null, '2xx'],
  [301, 'status_301', '3xx'],
  [410, 'status_410', '4xx'],
  [599, 'status_599', '5xx'],
  [600, 'status_600', 'other'],
  [100, 'status_100', 'other'],
  [null, 'timeout', 'timeout'],
  [null, 'connection', 'connection'],
  [null, 'rejected_address', 'rejected_address'],
  [null, 'secret_unreadable', 'secret_unreadable'],
  [null, 'malformed_answer', 'malformed_answer'],
  [200, 'malformed_answer', 'malformed_answer'],
  [null, '"} 1\nforged{', 'other'],
  [null, null, 'other'],
] as const)('an attempt of status %s with reason %j is counted as %s', (status, reason, result) => {
  const metrics = createAttemptMetrics()
  metrics.attempted({ ...attempted, status, reason })
  expect(resultsIn(metrics.text())).toEqual({ ...nothing, [result]: 1 })
})

it('the text of attempts has every sample that the Prometheus library writes for the same events', async () => {
  expect([publishBuckets[0], publishBuckets.at(-1)]).toEqual([0.001, 259_200])
  const registry = new Registry()
  const common = { help: 'x', registers: [registry] }
  const outcomes = new Counter({ ...common, name: `${prefix}deliveries_attempted_total`, labelNames: ['outcome'] })
  const name = `${prefix}published_to_delivered_seconds`
  const published = new Histogram({ ...common, name, buckets: publishBuckets })
  const own = createAttemptMetrics()
  for (const publishedMs of [0, 1, 1.5, 900, 61_000, 259_200_000, 300_000_000, null]) {
    const outcome = publishedMs === null ? 'pending' : 'delivered'
    own.attempted({ ...attempted, publishedMs, outcome })
    outcomes.inc({ outcome })
    if (publishedMs !== null) published.observe(publishedMs / 1_000)
  }
  const mine = lines(own.text()).filter((line) => /deliveries_attempted|published_to/.test(line))
  expect(mine).toEqual(lines(await registry.metrics()))
  expect(own.text()).toContain(`# TYPE ${prefix}published_to_delivered_seconds histogram`)
})

const observations = [0, 0.0004, 0.001, 0.0011, 0.02, 0.25, 0.3, 30, 31]

it('durations of requests have every bucket, sum and count that the Prometheus library writes', async () => {
  const registry = new Registry()
  const name = `${prefix}http_request_duration_seconds`
  const labelNames = ['method', 'route', 'status']
  const peer = new Histogram({ name, help: 'x', labelNames, buckets: durationBuckets, registers: [registry] })
  const own = createRequestDurations()
  for (const [method, route, status] of [
    ['GET', '/a/:id', 200],
    ['other', 'none', 404],
  ] as const)
    for (const seconds of observations) {
      own.observe({ method, route, status, ms: seconds * 1_000 })
      peer.observe({ method, route, status: String(status) }, seconds)
    }
  expect(lines(own.text())).toEqual(lines(await registry.metrics()))
  expect(own.text()).toContain(`# TYPE ${name} histogram`)
})
