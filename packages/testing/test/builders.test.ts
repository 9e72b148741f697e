import { shareRequestSchema } from '@payment-integration/contract'
import {
  lookupWriteSchema,
  pageWriteSchema,
  paymentWriteSchema,
  shareResponseWriteSchema,
  snapshotWriteSchema,
  verifyResponseWriteSchema,
} from '@payment-integration/contract/internal'
import { describe, expect, test } from 'vitest'
import { fakeClockStart } from '../src/builders.js'
import { createBuilders, createFakeClock } from '../src/exports/index.js'

type Build = ReturnType<typeof createBuilders>
const shapes: readonly [string, (build: Build) => unknown, { parse(value: unknown): unknown }][] = [
  ['payment', (build) => build.payment(), paymentWriteSchema],
  ['page', (build) => build.page(5), pageWriteSchema],
  ['snapshot', (build) => build.snapshot(), snapshotWriteSchema],
  ['lookup', (build) => build.lookup(), lookupWriteSchema],
  ['verify', (build) => build.verify(), verifyResponseWriteSchema],
  ['share response', (build) => build.shareResponse(), shareResponseWriteSchema],
  ['share request', (build) => build.shareRequest(), shareRequestSchema],
]

describe.each(shapes)('a %s', (_, make, schema) => {
  test('passes the write schema of the contract for every seed', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      const value = make(createBuilders({ seed }))
      expect(schema.parse(value)).toEqual(value)
    }
  })

  test('is equal for the same seed, and different for the next seed and the next call', () => {
    const build = createBuilders({ seed: 7 })
    const first = make(build)
    expect(make(createBuilders({ seed: 7 }))).toEqual(first)
    if (_ === 'share response') return
    expect(make(createBuilders({ seed: 8 }))).not.toEqual(first)
    expect(make(build)).not.toEqual(first)
  })
})

test('given fields replace drawn ones, and the source follows chain and hash', () => {
  const build = createBuilders()
  const txHash = build.txHash()
  const given = { chainId: '10', txHash, state: 'refund_pending', version: 3 } as const
  expect(build.payment(given)).toMatchObject({ ...given, source: { chainId: '10', txHash } })
})

test.each([
  ['an address in capitals', { sender: `0x${'AB'.repeat(20)}` }],
  ['an unknown state', { state: 'paid' }],
  ['an amount as a float has it', { tokenIn: { address: `0x${'ab'.repeat(20)}`, symbol: null, amount: '1e21' } }],
  ['an unknown field', { points: 5 }],
])('%s is an error at once', (_, fields) => {
  expect(() => createBuilders().payment(fields as never)).toThrow()
})

test('payments belong to one integration and lie within the day before the clock', () => {
  const clock = createFakeClock(Date.UTC(2030, 5, 1))
  const build = createBuilders({ clock, integrationAddress: `0x${'a1'.repeat(20)}` })
  for (const { integrationAddress, blockTimestamp } of build.page(50).payments) {
    expect(integrationAddress).toBe(`0x${'a1'.repeat(20)}`)
    expect(clock.now() - Date.parse(blockTimestamp)).toBeGreaterThan(0)
    expect(clock.now() - Date.parse(blockTimestamp)).toBeLessThanOrEqual(86_400_000)
  }
})

test('a page is newest first', () => {
  const { payments } = createBuilders({ seed: 3 }).page(60)
  const times = payments.map(({ blockTimestamp }) => Date.parse(blockTimestamp))
  expect(times).toEqual(times.toSorted((a, b) => b - a))
})

test('verify has the given reasons', () => {
  const build = createBuilders()
  const [payment] = build.verify(build.lookup(), ['Invalid payment amount']).payments
  expect(payment).toMatchObject({ verified: false, verificationErrors: ['Invalid payment amount'] })
})

test.each([-1, 0.5, 2 ** 32, Number.NaN])('the seed %d is a RangeError', (seed) => {
  expect(() => createBuilders({ seed })).toThrow(RangeError)
})

describe('the clock', () => {
  test('moves only by advance, forwards, and by set, to any time', () => {
    const { now, advance, set } = createFakeClock()
    expect([now(), now()]).toEqual([fakeClockStart, fakeClockStart])
    advance(1_500)
    expect(now()).toBe(fakeClockStart + 1_500)
    set(5)
    expect(now()).toBe(5)
  })

  test('ends a sleep when it has moved past its end, the earliest first, or when its signal aborts', async () => {
    const { sleep, advance } = createFakeClock()
    const ended: string[] = []
    const stop = new AbortController()
    const sleeping = [
      sleep(20).then(() => ended.push('later')),
      sleep(10).then(() => ended.push('earlier')),
      sleep(10, AbortSignal.abort()).then(() => ended.push('aborted before')),
      sleep(1_000, stop.signal).then(() => ended.push('aborted')),
    ]
    advance(9)
    await sleeping[2]
    expect(ended).toEqual(['aborted before'])
    advance(11)
    await Promise.all(sleeping.slice(0, 2))
    stop.abort()
    await Promise.all(sleeping)
    expect(ended).toEqual(['aborted before', 'earlier', 'later', 'aborted'])
  })

  test.each([0, -5])('ends a sleep of %d ms at once', async (ms) => {
    expect(await createFakeClock().sleep(ms)).toBeUndefined()
  })

  test.each([-1, 0.5, Number.NaN])('does not advance by %d', (ms) => {
    expect(() => createFakeClock().advance(ms)).toThrow(RangeError)
  })

  test.each([0.5, Number.NaN])('cannot be set to %d', (ms) => {
    expect(() => createFakeClock().set(ms)).toThrow(RangeError)
    expect(() => createFakeClock(ms)).toThrow(RangeError)
  })
})
