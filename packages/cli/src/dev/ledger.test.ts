import { describe, expect, it } from 'vitest'
import { createLedger } from './watch.js'

const txHash = '0xaa'
const delivery = { deliveryId: '1', txHash, version: 1, attempt: 1, latencyMs: 10, outcome: 'delivered' }

describe('createLedger', () => {
  it('counts deliveries, retries, and the median latency of deliveries', () => {
    const ledger = createLedger()
    expect(ledger.figures()).toEqual({ delivered: 0, retried: 0, p50Ms: null })
    ledger.sawDelivery({ ...delivery, latencyMs: 5_000, outcome: 'pending' })
    for (const latencyMs of [30, 10, 20]) ledger.sawDelivery({ ...delivery, latencyMs, attempt: 2 })
    expect(ledger.figures()).toEqual({ delivered: 3, retried: 3, p50Ms: 20 })
  })
})
