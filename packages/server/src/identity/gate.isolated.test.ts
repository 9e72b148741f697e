import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Admission, createGate } from './limited-provider.js'

beforeEach(() => vi.useFakeTimers({ now: 0 }))
afterEach(() => vi.useRealTimers())

const go = { kind: 'go' } as const
const gate = (waiting = 3) => createGate({ perWindow: 2, windowMs: 1_000, waiting, now: () => Date.now() })

/** Enters, and records the result with its time. */
function entering(through: ReturnType<typeof gate>, times: number) {
  const notes: [number, Admission][] = []
  for (let n = 0; n < times; n += 1) void through.enter().then((admission) => notes.push([Date.now(), admission]))
  return notes
}

describe('a gate', () => {
  it('lets a window of requests begin at once, and the next ones in turn', async () => {
    const notes = entering(gate(), 5)
    await vi.advanceTimersByTimeAsync(2_500)
    expect(notes).toEqual([0, 0, 1_000, 1_000, 2_000].map((at) => [at, go]))
  })

  it('sheds new and waiting requests during a pause, and then opens again', async () => {
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
})

describe('queues of a gate', () => {
  const lines = (waiting: number, waitingEach: number) =>
    createGate({ perWindow: 2, windowMs: 1_000, waiting, waitingEach, now: () => Date.now() })

  /** Enters so often for one queue, and records when and in which order requests begin or are shed. */
  function crowd(through: ReturnType<typeof lines>) {
    const begun: string[] = []
    const sentAway: [string, number][] = []
    return {
      begun,
      sentAway,
      come(whose: string, times: number) {
        for (let n = 1; n <= times; n += 1)
          void through.enter(whose).then((admission) => {
            if (admission.kind === 'go') begun.push(`${whose}${n}`)
            else sentAway.push([`${whose}${n}`, admission.retryAfterMs])
          })
      },
    }
  }

  it('take turns: of 500 waiting requests at most one begins before a new request of another queue', async () => {
    const { come, begun, sentAway } = crowd(lines(1_000, 500))
    come('a', 502)
    await vi.advanceTimersByTimeAsync(500)
    expect(begun).toEqual(['a1', 'a2'])
    come('b', 1)
    await vi.advanceTimersByTimeAsync(500)
    expect(begun.slice(2)).toEqual(['a3', 'b1'])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(begun.slice(4)).toEqual(['a4', 'a5'])
    expect(sentAway).toEqual([])
  })

  it('have a limit: a request beyond it is shed with the wait until a turn, while other queues have places', async () => {
    const { come, begun, sentAway } = crowd(lines(100, 3))
    come('a', 7)
    come('b', 2)
    await vi.advanceTimersByTimeAsync(0)
    expect(sentAway).toEqual([
      ['a6', 2_000],
      ['a7', 2_000],
    ])
    come('a', 1)
    await vi.advanceTimersByTimeAsync(0)
    // Two of the other queue have their turns before the fourth of this one.
    expect(sentAway[2]).toEqual(['a1', 3_000])
    await vi.advanceTimersByTimeAsync(3_000)
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5'])
  })

  it('that are full in total give the last place of the longest queue to a shorter one', async () => {
    const { come, begun, sentAway } = crowd(lines(4, 3))
    come('a', 5)
    come('b', 1)
    await vi.advanceTimersByTimeAsync(0)
    expect(sentAway).toEqual([])
    come('c', 1)
    await vi.advanceTimersByTimeAsync(0)
    expect(sentAway.map(([who]) => who)).toEqual(['a5'])
    come('d', 1)
    await vi.advanceTimersByTimeAsync(0)
    expect(sentAway.map(([who]) => who)).toEqual(['a5', 'a4'])
    // No queue has more than one place now.
    come('e', 1)
    come('a', 1)
    await vi.advanceTimersByTimeAsync(0)
    expect(sentAway.map(([who]) => who)).toEqual(['a5', 'a4', 'e1', 'a1'])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(begun).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'd1'])
  })

  it('respect the longest wait: a request that cannot begin in time is shed as soon as that is known, and takes no turn', async () => {
    const through = createGate({
      perWindow: 2,
      windowMs: 1_000,
      waiting: 8,
      maxWaitMs: 2_000,
      now: () => Date.now(),
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
