import type { ServiceEvent } from '@payment-integration/core'
import { Counter, Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createMetrics } from './create-metrics.js'
import { createAttemptMetrics } from './delivery-metrics.js'
import { prefix, publishBuckets } from './metrics.js'

const name = { chainId: 137, txHash: `0x${'12'.repeat(32)}`, integrationAddress: `0x${'cd'.repeat(20)}` }
const attempted = {
  type: 'delivery.attempted',
  deliveryId: '1',
  version: 1,
  attempt: 1,
  status: 204,
  reason: null,
  latencyMs: 30,
  replay: false,
  publishedMs: null,
  outcome: 'delivered',
  retryInMs: null,
  ...name,
} as const satisfies ServiceEvent

const samples = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
const resultsIn = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/delivery_attempts_total\{result="([^"]+)"\} (\d+)/g)].map(([, result, count]) => [
      result,
      Number(count),
    ]),
  )

describe('attempts by result', () => {
  const nothing = {
    ...{ '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 },
    ...{ timeout: 0, connection: 0, refused_address: 0, malformed_answer: 0, secret_unreadable: 0, other: 0 },
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
    [null, 'refused_address', 'refused_address'],
    [null, 'secret_unreadable', 'secret_unreadable'],
    [null, 'malformed_answer', 'malformed_answer'],
    [200, 'malformed_answer', 'malformed_answer'],
    [null, '"} 1\nforged{', 'other'],
    [null, null, 'other'],
  ] as const)('status %s with reason %j is %s', (status, reason, result) => {
    const metrics = createAttemptMetrics()
    metrics.attempted({ ...attempted, status, reason })
    expect(resultsIn(metrics.text())).toEqual({ ...nothing, [result]: 1 })
  })
})

describe('the text of attempts', () => {
  it('has every sample that the Prometheus library writes for the same events', async () => {
    const registry = new Registry()
    const registers = [registry]
    const outcomes = new Counter({
      name: `${prefix}deliveries_attempted_total`,
      help: 'x',
      labelNames: ['outcome'],
      registers,
    })
    const published = new Histogram({
      name: `${prefix}published_to_delivered_seconds`,
      help: 'x',
      buckets: publishBuckets,
      registers,
    })
    const own = createAttemptMetrics()
    for (const publishedMs of [0, 1, 1.5, 900, 61_000, 259_200_000, 300_000_000, null]) {
      const outcome = publishedMs === null ? 'pending' : 'delivered'
      own.attempted({ ...attempted, publishedMs, outcome })
      outcomes.inc({ outcome })
      if (publishedMs !== null) published.observe(publishedMs / 1_000)
    }
    const mine = samples(own.text()).filter((line) => /deliveries_attempted|published_to/.test(line))
    expect(mine).toEqual(samples(await registry.metrics()))
    expect(own.text()).toContain(`# TYPE ${prefix}published_to_delivered_seconds histogram`)
  })

  it('measures delivery times from a millisecond to three days', () => {
    expect([publishBuckets[0], publishBuckets.at(-1)]).toEqual([0.001, 259_200])
    expect(publishBuckets).toEqual([...publishBuckets].sort((a, b) => a - b))
  })
})

describe('events of endpoints and exhausted deliveries', () => {
  it('are counted without naming an integration', async () => {
    const metrics = await createMetrics()
    const transitions = (text: string) => samples(text).filter((line) => line.includes('endpoint_transitions'))
    const of = (to: string, count: number) => `${prefix}notification_endpoint_transitions_total{to="${to}"} ${count}`
    expect(transitions(await metrics.text())).toEqual([of('failing', 0), of('recovered', 0)])
    const { integrationAddress } = name
    const block = { failures: 5, blockedUntil: 5_000, failingMs: 9_000 }
    metrics.onEvent({ type: 'endpoint.failing', integrationAddress, ...block })
    metrics.onEvent({ type: 'endpoint.failing', integrationAddress, ...block })
    metrics.onEvent({ type: 'endpoint.recovered', integrationAddress, failingMs: 9_000 })
    metrics.onEvent({ type: 'delivery.exhausted', deliveryId: '7', version: 1, reason: 'status_410', ...name })
    metrics.onEvent(attempted)
    const text = await metrics.text()
    expect(transitions(text)).toEqual([of('failing', 2), of('recovered', 1)])
    expect(samples(text)).toContain(`${prefix}deliveries_exhausted_total 1`)
    expect(text).not.toMatch(/0x[0-9a-f]{40}/i)
  })
})
