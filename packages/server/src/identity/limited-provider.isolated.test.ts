import type { IdentityProvider, RedeemResult } from '@payment-integration/core/ports'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Admission } from './limited-provider.js'
import { computeLimits, createGate, limitProvider, minRatePercent, providerLimits } from './limited-provider.js'

beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => vi.useRealTimers())

const now = () => Date.now()
const clock = { now }
const redeemed: RedeemResult = { kind: 'redeemed', applicant: { applicantId: 'a', review: null } }

/** A provider that answers at once, and the limits around it. */
function setUp() {
  const calls: { readonly at: number; readonly call: string }[] = []
  const noted = <T>(call: string, value: T) => {
    calls.push({ at: now(), call })
    return value
  }
  const answers = { redeem: redeemed as RedeemResult }
  const provider: IdentityProvider = {
    levelName: 'basic',
    redeem: async ({ externalUserId }) => noted(`redeem ${externalUserId}`, answers.redeem),
    find: async (name) => noted(`find ${name}`, { kind: 'answer', value: null }),
    review: async (id) => noted(`review ${id}`, { kind: 'answer', value: null }),
  }
  const limited = limitProvider(provider, { clock, monotonicClock: clock })
  const redeem = (name = 'x', sendBy = Number.POSITIVE_INFINITY, integrationAddress?: string) =>
    limited.redeem({ shareToken: 't', externalUserId: name, sendBy, integrationAddress })
  return { calls, answers, limited, redeem }
}

describe('redemptions', () => {
  it('above the limit of the provider for 5 seconds wait their turn, and above twice that are shed with a wait', async () => {
    const { redeem, calls } = setUp()
    const outcomes = Array.from({ length: 100 }, (_, n) => redeem(`${n}`))
    await vi.advanceTimersByTimeAsync(0)
    expect(calls).toHaveLength(providerLimits.redemptions)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(calls).toHaveLength(2 * providerLimits.redemptions)
    const kinds = (await Promise.all(outcomes)).map((outcome) => outcome.kind)
    expect(kinds).toEqual([...Array(80).fill('redeemed'), ...Array(20).fill('throttled')])
    expect(await outcomes[99]).toEqual({ kind: 'throttled', retryAfterMs: 10_000 })
  })

  it('whose deadline passed in the queue are not sent', async () => {
    const { redeem, calls } = setUp()
    const sent = Array.from({ length: providerLimits.redemptions }, () => redeem())
    const late = redeem('late', now() + 4_000)
    await vi.advanceTimersByTimeAsync(5_000)
    await Promise.all(sent)
    expect(await late).toEqual({ kind: 'unsent' })
    expect(calls.map(({ call }) => call)).not.toContain('redeem late')
  })
})

it('one integration with 500 redemptions at once delays another one by one turn, and is 503 over its share', async () => {
  const { redeem, calls } = setUp()
  const crowd = Array.from({ length: 500 }, (_, n) => redeem(`crowd ${n}`, undefined, 'crowded'))
  await vi.advanceTimersByTimeAsync(100)
  const single = redeem('single', undefined, 'quiet')
  await vi.advanceTimersByTimeAsync(4_900)
  expect(await single).toEqual(redeemed)
  const { redemptions } = providerLimits
  const next = calls.slice(redemptions, redemptions + 2).map(({ call }) => call)
  expect(next).toEqual([`redeem crowd ${redemptions}`, 'redeem single'])
  await vi.advanceTimersByTimeAsync(5_000)
  const kinds = (await Promise.all(crowd)).map(({ kind }) => kind)
  expect(kinds).toEqual([...Array(2 * redemptions).fill('redeemed'), ...Array(420).fill('throttled')])
})

it('what processes have of the limits, however it is divided, is together no more than the provider takes', async () => {
  expect(computeLimits(100)).toEqual(providerLimits)
  expect(computeLimits(25)).toEqual({ redemptions: 10, lookUps: 30, polls: 15 })
  for (let percent = minRatePercent; percent <= 100; percent += 1)
    for (const [kind, limit] of Object.entries(computeLimits(percent))) {
      const whole = providerLimits[kind as keyof typeof providerLimits]
      expect(limit, `${percent} %`).toBeGreaterThanOrEqual(1)
      expect((limit * 100) / percent, `${percent} %`).toBeLessThanOrEqual(whole)
    }
})

it.each([
  ['as long as it said', 7_000, 7_000],
  ['a window when it named no time', null, 5_000],
  ['a window when it named no wait', 0, 5_000],
  ['a minute at most', 3_600_000, 60_000],
])('after a 429 nothing is sent for %s', async (_, retryAfterMs, pauseMs) => {
  const { redeem, calls, limited, answers } = setUp()
  answers.redeem = { kind: 'throttled', retryAfterMs }
  expect(await redeem()).toEqual({ kind: 'throttled', retryAfterMs })
  answers.redeem = redeemed
  const asked = calls.length
  for (const ask of [() => redeem(), () => limited.find('n'), () => limited.review('a')])
    expect(await ask()).toEqual({ kind: 'throttled', retryAfterMs: pauseMs })
  await vi.advanceTimersByTimeAsync(pauseMs - 1)
  expect(await limited.review('a')).toEqual({ kind: 'throttled', retryAfterMs: 1 })
  expect(calls).toHaveLength(asked)
  await vi.advanceTimersByTimeAsync(1)
  expect(await redeem()).toEqual(redeemed)
  expect(await limited.review('a')).toEqual({ kind: 'answer', value: null })
})

it('a pause of a gate sheds waiting requests, and a shorter one after it does not end it', async () => {
  const gate = createGate({
    maxPerWindow: 1,
    windowMs: 1_000,
    maxWaiting: 3,
    maxWaitingPerQueue: 3,
    maxWaitMs: 60_000,
    clock,
  })
  const [, waiting] = [gate.enter(), gate.enter()]
  gate.pause(4_000)
  gate.pause(100)
  expect(await waiting).toEqual({ kind: 'shed', retryAfterMs: 4_000 })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await gate.enter()).toEqual({ kind: 'shed', retryAfterMs: 3_000 })
})

it('polls for reviews have their own limit, and take no turn of a look-up', async () => {
  const { limited, calls } = setUp()
  const polls = Array.from({ length: 200 }, (_, n) => limited.review(`${n}`))
  await vi.advanceTimersByTimeAsync(0)
  expect(calls).toHaveLength(providerLimits.polls)
  expect(await limited.find('n')).toEqual({ kind: 'answer', value: null })
  await vi.advanceTimersByTimeAsync(5_000)
  await Promise.all(polls)
  expect(calls.length).toBeLessThanOrEqual(2 * providerLimits.polls + 1)
})

it('closing sheds waiting and new requests, and keeps the description of the provider', async () => {
  const { redeem, limited, calls } = setUp()
  expect(limited.levelName).toBe('basic')
  const outcomes = Array.from({ length: providerLimits.redemptions + 1 }, () => redeem())
  await vi.advanceTimersByTimeAsync(0)
  limited.close()
  expect(await outcomes.at(-1)).toEqual({ kind: 'throttled', retryAfterMs: 1_000 })
  expect(await limited.review('a')).toMatchObject({ kind: 'throttled' })
  expect(calls).toHaveLength(providerLimits.redemptions)
  expect(vi.getTimerCount()).toBe(0)
})

describe('queues of a gate', () => {
  const lines = (maxWaiting: number, maxWaitingPerQueue: number) =>
    createGate({
      maxPerWindow: 2,
      windowMs: 1_000,
      maxWaiting,
      maxWaitingPerQueue,
      maxWaitMs: 60_000,
      clock: Date,
    })

  /** Enters so often for one queue, and records when and in which order requests begin or are shed. */
  function crowd(through: ReturnType<typeof lines>) {
    const begun: string[] = []
    const sentAway: [string, number][] = []
    return {
      begun,
      sentAway,
      async come(whose: string, times: number) {
        for (let n = 1; n <= times; n += 1)
          void through.enter(whose).then((admission) => {
            if (admission.kind === 'go') begun.push(`${whose}${n}`)
            else sentAway.push([`${whose}${n}`, admission.retryAfterMs])
          })
        await vi.advanceTimersByTimeAsync(0)
      },
    }
  }

  it('have a limit: a request beyond it is shed with the wait until a turn, while other queues have places', async () => {
    const { come, begun, sentAway } = crowd(lines(100, 3))
    await come('a', 7)
    await come('b', 2)
    expect(sentAway).toEqual([
      ['a6', 2_000],
      ['a7', 2_000],
    ])
    await come('a', 1)
    // Two of the other queue have their turns before the fourth of this one.
    expect(sentAway[2]).toEqual(['a1', 3_000])
    await vi.advanceTimersByTimeAsync(3_000)
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5'])
  })

  it('that are full in total give the last place of the longest queue to a shorter one', async () => {
    const { come, begun, sentAway } = crowd(lines(4, 3))
    await come('a', 5)
    await come('b', 1)
    expect(sentAway).toEqual([])
    await come('c', 1)
    expect(sentAway.map(([who]) => who)).toEqual(['a5'])
    await come('d', 1)
    expect(sentAway.map(([who]) => who)).toEqual(['a5', 'a4'])
    // No queue has more than one place now.
    await come('e', 1)
    await come('a', 1)
    expect(sentAway.map(([who]) => who)).toEqual(['a5', 'a4', 'e1', 'a1'])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'd1'])
  })

  it('respect the longest wait: a request that cannot begin in time is shed as soon as that is known, and takes no turn', async () => {
    const through = createGate({
      maxPerWindow: 2,
      windowMs: 1_000,
      maxWaiting: 8,
      maxWaitingPerQueue: 8,
      maxWaitMs: 2_000,
      clock,
    })
    const ended = new Map<string, [number, Admission['kind']][]>()
    const enter = async (whose: string) => {
      const came = Date.now()
      const { kind } = await through.enter(whose)
      ended.set(whose, [...(ended.get(whose) ?? []), [Date.now() - came, kind]])
      return kind
    }
    let isOpen = true
    /** Enters again right after its turn. */
    const comeAgain = async (whose: string) => {
      while (isOpen && (await enter(whose)) === 'go');
    }
    void enter('first')
    void enter('first')
    for (let n = 0; n < 5; n += 1) void enter('crowd')
    for (const quiet of ['a', 'b', 'c']) void comeAgain(quiet)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(ended.get('crowd')).toEqual([[1_000, 'go']])
    // Both turns of that time belong to other queues, and the next ones are too late for the oldest requests.
    await vi.advanceTimersByTimeAsync(1_000)
    expect(ended.get('crowd')?.slice(1)).toEqual(Array(4).fill([2_000, 'shed']))
    await vi.advanceTimersByTimeAsync(8_000)
    isOpen = false
    through.close()
    await vi.advanceTimersByTimeAsync(0)
    const quiet = ['a', 'b', 'c'].flatMap((whose) => ended.get(whose) ?? [])
    const begun = quiet.filter(([, kind]) => kind === 'go')
    // One of the 20 turns in 10 seconds went to the crowd: no turn was lost.
    expect(begun).toHaveLength(19)
    expect(Math.max(...begun.map(([waited]) => waited))).toBeLessThanOrEqual(2_000)
    expect(quiet.length - begun.length).toBe(3)
  })
})
