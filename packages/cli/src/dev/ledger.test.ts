import { describe, expect, it } from 'vitest'
import { createLedger } from './ledger.js'

const txHash = '0xaa'
const delivery = { deliveryId: '1', txHash, version: 1, attempt: 1, latencyMs: 10, outcome: 'delivered' }

describe('createLedger', () => {
  it('resolves a wait once its condition holds, also when it already holds', async () => {
    const ledger = createLedger()
    const waiting = ledger.until(txHash, (seen) => seen.indexed, new AbortController().signal)
    ledger.sawIndexed('0xbb')
    ledger.sawIndexed(txHash)
    expect(await waiting).toBe(true)
    expect(await ledger.until(txHash, (seen) => seen.indexed, new AbortController().signal)).toBe(true)
  })

  it('resolves a wait false when the signal aborts, before or during it', async () => {
    const ledger = createLedger()
    const stop = new AbortController()
    const waiting = ledger.until(txHash, (seen) => seen.indexed, stop.signal)
    stop.abort()
    expect(await waiting).toBe(false)
    expect(await ledger.until(txHash, () => true, stop.signal)).toBe(false)
  })

  it('counts deliveries, retries, and the median latency of deliveries', () => {
    const ledger = createLedger()
    expect(ledger.figures()).toEqual({ delivered: 0, retried: 0, p50Ms: null })
    ledger.sawDelivery({ ...delivery, latencyMs: 5_000, outcome: 'pending' })
    for (const latencyMs of [30, 10, 20]) ledger.sawDelivery({ ...delivery, latencyMs, attempt: 2 })
    expect(ledger.figures()).toEqual({ delivered: 3, retried: 3, p50Ms: 20 })
  })

  it('an undelivered attempt does not count as delivered', async () => {
    const ledger = createLedger()
    ledger.sawDelivery({ ...delivery, outcome: 'pending' })
    const stop = new AbortController()
    const waiting = ledger.until(txHash, (seen) => seen.deliveredVersion >= 1, stop.signal)
    stop.abort()
    expect(await waiting).toBe(false)
  })
})
