import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Admission, createGate } from './gate.js'

beforeEach(() => vi.useFakeTimers({ now: 0 }))
afterEach(() => vi.useRealTimers())

const go = { kind: 'go' } as const
const gate = (waiting = 3) => createGate({ perWindow: 2, windowMs: 1_000, waiting, now: () => Date.now() })

/** Enters, and notes with the time what came of it. */
function entering(through: ReturnType<typeof gate>, times: number) {
  const notes: [number, Admission][] = []
  for (let n = 0; n < times; n += 1) void through.enter().then((admission) => notes.push([Date.now(), admission]))
  return notes
}

describe('a gate', () => {
  it('lets a window of requests begin at once, and the next ones as their turn comes', async () => {
    const notes = entering(gate(), 5)
    await vi.advanceTimersByTimeAsync(2_500)
    expect(notes).toEqual([0, 0, 1_000, 1_000, 2_000].map((at) => [at, go]))
  })

  it('counts any window, not those of a calendar', async () => {
    const through = gate(10)
    const begun: number[] = []
    for (let n = 0; n < 40; n += 1) {
      void through.enter().then(({ kind }) => kind === 'go' && begun.push(Date.now()))
      await vi.advanceTimersByTimeAsync((n * 137) % 700)
    }
    await vi.advanceTimersByTimeAsync(10_000)
    for (const [n, at] of begun.entries())
      expect(at - (begun[n - 2] ?? -1_000), `request ${n}`).toBeGreaterThanOrEqual(1_000)
    expect(begun.length).toBeGreaterThan(20)
  })

  it('sends away at once whoever finds the line full, with the time until a turn', async () => {
    const notes = entering(gate(3), 7)
    await vi.advanceTimersByTimeAsync(0)
    expect(notes.filter(([, { kind }]) => kind === 'shed')).toEqual([
      [0, { kind: 'shed', retryAfterMs: 2_000 }],
      [0, { kind: 'shed', retryAfterMs: 2_000 }],
    ])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(notes.filter(([, { kind }]) => kind === 'go').map(([at]) => at)).toEqual([0, 0, 1_000, 1_000, 2_000])
  })

  it('sends everybody away while it is paused, those who wait too, and opens again', async () => {
    const through = gate()
    const notes = entering(through, 3)
    await vi.advanceTimersByTimeAsync(500)
    through.pause(4_000)
    through.pause(100)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(notes[2]).toEqual([500, { kind: 'shed', retryAfterMs: 4_000 }])
    expect(await through.enter()).toEqual({ kind: 'shed', retryAfterMs: 3_000 })
    await vi.advanceTimersByTimeAsync(3_000)
    expect(await through.enter()).toEqual(go)
  })

  it('sends everybody away once it is closed, and leaves no timer', async () => {
    const through = gate()
    const notes = entering(through, 3)
    through.close()
    await vi.advanceTimersByTimeAsync(10)
    expect(notes[2]).toEqual([0, { kind: 'shed', retryAfterMs: 1_000 }])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await through.enter()).toEqual({ kind: 'shed', retryAfterMs: 1_000 })
    expect(vi.getTimerCount()).toBe(0)
  })
})
