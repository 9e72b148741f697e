import type { ServiceEvent } from '@payment-integration/core'
import { describe, expect, it } from 'vitest'
import type { DemoEvent } from './demo-events.js'
import { createPaymentTracker, watchService } from './watch.js'

const name = { chainId: 31_337, txHash: '0xaa', integrationAddress: `0x${'11'.repeat(20)}` }
const attempt = {
  ...{ type: 'delivery.attempted', deliveryId: 'd1', version: 2, attempt: 1, status: 204, reason: null, latencyMs: 5 },
  ...{ replay: false, publishedMs: 7, outcome: 'delivered', retryInMs: null, ...name },
} as const satisfies ServiceEvent

function watched(stopping = false) {
  const reported: DemoEvent[] = []
  const tracker = createPaymentTracker()
  const report = (event: DemoEvent) => reported.push(event)
  const watch = watchService(report, tracker, 31_337, () => stopping)
  return { reported, tracker, watch }
}

describe('watchService', () => {
  it("reports the receiver's log line with the first attempt of a version only", () => {
    const { reported, watch, tracker } = watched()
    tracker.sawStored('0xaa', 1, 'another version')
    tracker.sawStored('0xaa', 2, 'signature ok, stored v2')
    watch(attempt)
    watch({ ...attempt, attempt: 2 })
    expect(reported).toMatchObject([
      { event: 'delivery.attempted', chainId: '31337', receiver: 'signature ok, stored v2' },
      { event: 'delivery.attempted', attempt: 2, receiver: null },
    ])
    expect(tracker.figures()).toMatchObject({ delivered: 2, retried: 1 })
  })

  it.each([
    [{ type: 'chain.failed', chainId: 1, message: 'the node is away' }, 'Chain 1: the node is away'],
    [
      { type: 'chain.reorganized', chainId: 31_337, from: 9, commonAncestor: 7 },
      'Chain 31337 was reorganized above block 7.',
    ],
    [
      { type: 'log.quarantined', chainId: 1, txHash: '0xaa', blockNumber: 5, logIndex: 2, reason: 'it was cut' },
      'Chain 1: log 2 of 0xaa is not a payment: it was cut',
    ],
    [
      { type: 'update.settled', updateId: 'u1', outcome: 'rejected', reason: 'no', ...name },
      'Update u1 was rejected: no',
    ],
    [
      { type: 'delivery.exhausted', deliveryId: 'd1', version: 2, reason: 'status_410', ...name },
      'The notification of version 2 of 0xaa is exhausted: status_410',
    ],
  ] as const satisfies readonly (readonly [ServiceEvent, string])[])('reports %j as a problem', (event, reason) => {
    const { reported, watch } = watched()
    watch(event)
    expect(reported).toEqual([{ event: 'problem', reason }])
  })

  it('reports until when a failing receiver is blocked', () => {
    const { reported, watch } = watched()
    const { integrationAddress } = name
    watch({ type: 'endpoint.failing', integrationAddress, failures: 5, blockedUntil: 3_000, failingMs: 9 })
    expect(reported).toEqual([{ event: 'receiver.blocked', until: '1970-01-01T00:00:03.000Z', failures: 5 }])
  })

  it('reports nothing during the shutdown', () => {
    const { reported, watch } = watched(true)
    watch({ type: 'chain.failed', chainId: 1, message: 'gone' })
    watch(attempt)
    expect(reported).toEqual([])
  })
})

const txHash = '0xaa'
const delivery = { deliveryId: '1', txHash, version: 1, attempt: 1, latencyMs: 10, outcome: 'delivered' }

it('the tracker counts deliveries, retries, and the median latency of deliveries', () => {
  const tracker = createPaymentTracker()
  expect(tracker.figures()).toEqual({ delivered: 0, retried: 0, p50Ms: null })
  tracker.sawDelivery({ ...delivery, latencyMs: 5_000, outcome: 'pending' })
  for (const latencyMs of [30, 10, 20]) tracker.sawDelivery({ ...delivery, latencyMs, attempt: 2 })
  expect(tracker.figures()).toEqual({ delivered: 3, retried: 3, p50Ms: 20 })
})
