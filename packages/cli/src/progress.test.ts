import type { ServiceEvent } from '@payment-integration/core'
import { describe, expect, it } from 'vitest'
import { catchUpLine, caughtUpLine, countingLine, createProgress, shownAfterMs, showProgress } from './progress.js'

const payment = (chainId: number): ServiceEvent => ({
  ...{ type: 'payment.indexed', chainId, txHash: '0xaa', blockNumber: 1, blockTimestamp: 0, integrationAddress: null },
})
const indexed = (chainId: number, blockNumber: number, head: number): ServiceEvent => ({
  ...{ type: 'chain.indexed', chainId, blockNumber, head },
})
const router = `0x${'12'.repeat(19)}34`
const backfilled = (blockNumber: number, to: number): ServiceEvent => ({
  ...{ type: 'chain.backfilled', chainId: 1, router, blockNumber, to },
})

/** Feeds events at their times. Returns a line for each chain or range that is unfinished at the time `at`. */
function linesAt(at: number, ...events: readonly (readonly [number, ServiceEvent])[]): string[] {
  const progress = createProgress()
  for (const [time, event] of events) progress.saw(event, time)
  return progress.unfinished(at).map(catchUpLine)
}

describe('progress', () => {
  it('prints block, rates and time left of a chain', () => {
    const events = Array.from({ length: 8 }, (_, second) => [
      [second * 1_000, payment(137)] as const,
      [second * 1_000, payment(137)] as const,
      [second * 1_000, indexed(137, 1_000 + second * 500, 100_000)] as const,
    ]).flat()
    expect(linesAt(7_000, ...events)).toEqual([
      'Chain 137: block 4,500 of 100,000, 500 blocks/s, 2.0 payments/s, 4 min left',
    ])
  })

  it('computes rates over the last ten seconds', () => {
    const at = (ms: number, block: number) => [ms, indexed(1, block, 100_000)] as const
    const slow = Array.from({ length: 60 }, (_, second) => at(second * 1_000, second))
    const fast = Array.from({ length: 21 }, (_, half) => at(60_000 + half * 500, 60 + half * 50))
    expect(linesAt(59_000, ...slow)[0]).toContain(' 1.0 blocks/s')
    expect(linesAt(70_000, ...slow, ...fast)[0]).toContain(' 100 blocks/s')
  })

  it('prints a rate of zero and no time left for a chain without progress', () => {
    const events = [0, 1, 2, 3, 4].map((second) => [second * 1_000, indexed(1, second * 100, 100_000)] as const)
    expect(linesAt(9_000, ...events)).toEqual(['Chain 1: block 400 of 100,000, 44 blocks/s, 0 payments/s, 38 min left'])
    expect(linesAt(60_000, ...events)).toEqual(['Chain 1: block 400 of 100,000, 0 blocks/s, 0 payments/s'])
  })

  it('shows nothing of a chain at its head, nor of one that is behind for a moment', () => {
    expect(linesAt(60_000, [0, indexed(1, 100, 100)], [30_000, indexed(1, 101, 101)])).toEqual([])
    expect(linesAt(shownAfterMs - 1, [0, indexed(1, 99, 100)])).toEqual([])
    expect(linesAt(shownAfterMs, [0, indexed(1, 99, 100)])).toHaveLength(1)
  })

  it('reports once that a chain is caught up, with its payments and its time', () => {
    const progress = createProgress()
    const events: [number, ServiceEvent][] = [
      [0, payment(1)],
      [0, indexed(1, 10, 100)],
      [6_000, payment(1)],
      [6_000, payment(2)],
      [11_500, indexed(1, 100, 100)],
      [12_500, indexed(1, 101, 101)],
    ]
    const states = events.map(([time, event]) => progress.saw(event, time))
    expect(states.filter((each) => each !== null).map(caughtUpLine)).toEqual([
      'Chain 1 is caught up at block 100: 2 payments in 12 s',
    ])
    expect(progress.unfinished(60_000)).toEqual([])
  })

  it('reports no catch-up that is shorter than the limit', () => {
    const progress = createProgress()
    progress.saw(payment(1), 0)
    expect(progress.saw(indexed(1, 99, 100), 50_000)).toBeNull()
    expect(progress.saw(indexed(1, 100, 100), 50_100)).toBeNull()
  })

  it('prints an added router beside its chain, without a rate of payments', () => {
    const events = [
      [0, indexed(1, 5_000, 10_000)],
      [0, backfilled(0, 1_000)],
      [2_000, backfilled(200, 1_000)],
      [2_000, indexed(1, 6_000, 10_000)],
    ] as const
    expect(linesAt(2_000, ...events)).toEqual([
      'Chain 1: block 6,000 of 10,000, 500 blocks/s, 0 payments/s, 8 s left',
      'Chain 1, added router 0x121212..1234: block 200 of 1,000, 100 blocks/s, 8 s left',
    ])
    const progress = createProgress()
    for (const [time, event] of events) progress.saw(event, time)
    const done = progress.saw(backfilled(1_000, 1_000), 9_000)
    const text = 'Chain 1, added router 0x121212..1234 is caught up at block 1,000: done in 9 s'
    expect(done === null ? null : caughtUpLine(done)).toBe(text)
    expect(progress.unfinished(9_000)).toHaveLength(1)
  })

  it('has no negative rate after a reorg', () => {
    const reorganized: ServiceEvent = { type: 'chain.reorganized', chainId: 1, from: 900, commonAncestor: 100 }
    const events = [
      [0, indexed(1, 500, 1_000)],
      [1_000, indexed(1, 900, 1_000)],
      [2_000, reorganized],
      [2_000, indexed(1, 150, 1_000)],
      [3_000, indexed(1, 250, 1_000)],
    ] as const
    expect(linesAt(3_000, ...events)).toEqual(['Chain 1: block 250 of 1,000, 100 blocks/s, 0 payments/s, 8 s left'])
  })
})

it.each([
  [{ done: 0, total: 10_000, ms: 0 }, '[------------------------] 0 %, 0 of 10,000'],
  [{ done: 5_000, total: 10_000, ms: 2_000 }, '[############------------] 50 %, 5,000 of 10,000, 2,500/s, 2 s left'],
  [{ done: 9_999, total: 10_000, ms: 4_000 }, '[#######################-] 99 %, 9,999 of 10,000, 2,500/s, 1 s left'],
  [{ done: 8, total: 8, ms: 4_000 }, '[########################] 100 %, 8 of 8, 2.0/s, 0 s left'],
  // More failed since they were counted.
  [{ done: 12, total: 10, ms: 1_000 }, '[########################] 100 %, 12 of 12, 12/s, 0 s left'],
  [{ done: 0, total: 0, ms: 0 }, '[########################] 100 %, 0 of 0'],
])('countingLine of %j is %s', (state, line) => expect(countingLine('Replaying', state)).toBe(`Replaying ${line}`))

/** A display on a clock that its own sleeping moves; it ends after `rounds`. */
function displayed(rounds: number, options: { live: boolean; mayUseTerminal: boolean }) {
  let now = 0
  let remaining = rounds
  const stop = new AbortController()
  const screens: (readonly string[])[] = []
  const logged: object[] = []
  const out: string[] = []
  const io = {
    now: () => now,
    async sleep(ms: number) {
      now += ms
      if (remaining === 0) stop.abort()
      remaining -= 1
    },
    out: (line: string) => void out.push(line),
    live: options.live ? (lines: readonly string[]) => void screens.push(lines) : undefined,
  }
  const logger = { info: (fields: object, message: string) => void logged.push({ ...fields, message }) }
  const display = showProgress({ io, logger, mayUseTerminal: options.mayUseTerminal })
  return { display, run: () => display.run(stop.signal), screens, logged, out, at: (time: number) => (now = time) }
}

const behind = { type: 'chain.indexed', chainId: 1, blockNumber: 0, head: 100 } as const

describe('showProgress', () => {
  it('updates lines of a terminal, reports a finished chain, and removes the lines', async () => {
    const { display, run, screens, logged, out, at } = displayed(4, { live: true, mayUseTerminal: true })
    display.onEvent(behind)
    await run()
    expect(screens.map((lines) => lines.length)).toEqual([0, 0, 0, 1, 0])
    at(5_000)
    display.onEvent({ ...behind, blockNumber: 100 })
    expect(out).toEqual(['Chain 1 is caught up at block 100: 0 payments in 5 s'])
    expect(logged).toEqual([])
  })

  it.each([
    ['where there is no terminal', { live: false, mayUseTerminal: true }],
    ['with --json', { live: true, mayUseTerminal: false }],
  ])('%s logs a line every ten seconds, and prints nothing', async (_, options) => {
    const { display, run, screens, logged, out } = displayed(2, options)
    display.onEvent(behind)
    await run()
    display.onEvent({ ...behind, blockNumber: 100 })
    const facts = { chainId: 1, indexed: 0, to: 100, blocksPerSecond: 0, paymentsPerSecond: 0, secondsLeft: null }
    expect(logged).toEqual([
      { ...facts, message: 'Catching up.' },
      { ...facts, message: 'Catching up.' },
      { chainId: 1, indexed: 100, message: 'Caught up.' },
    ])
    expect([screens, out]).toEqual([[], []])
  })
})
