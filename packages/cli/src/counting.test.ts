import { describe, expect, it } from 'vitest'
import { countingLine, createLiveLine } from './progress.js'

describe('countingLine', () => {
  it.each([
    [{ done: 0, total: 10_000, ms: 0 }, '[------------------------] 0 %, 0 of 10,000'],
    [{ done: 5_000, total: 10_000, ms: 2_000 }, '[############------------] 50 %, 5,000 of 10,000, 2,500/s, 2 s left'],
    [{ done: 9_999, total: 10_000, ms: 4_000 }, '[#######################-] 99 %, 9,999 of 10,000, 2,500/s, 1 s left'],
    [{ done: 8, total: 8, ms: 4_000 }, '[########################] 100 %, 8 of 8, 2.0/s, 0 s left'],
    // More failed since they were counted.
    [{ done: 12, total: 10, ms: 1_000 }, '[########################] 100 %, 12 of 12, 12/s, 0 s left'],
    [{ done: 0, total: 0, ms: 0 }, '[########################] 100 %, 0 of 0'],
  ])('%j is %s', (state, line) => expect(countingLine('Replaying', state)).toBe(`Replaying ${line}`))
})

/** A line on a clock that the test moves. */
function shown({ live, json }: { live: boolean; json: boolean }) {
  let now = 0
  const screens: (readonly string[])[] = []
  const out: string[] = []
  const io = {
    now: () => now,
    out: (line: string) => void out.push(line),
    live: live ? (lines: readonly string[]) => void screens.push(lines) : undefined,
  }
  const show = createLiveLine(io, json)
  const states = { '10 of 100': 1_000, '50 of 100': 11_000, '90 of 100': 12_000 }
  for (const [state, at] of Object.entries(states)) {
    now = at
    show(state)
  }
  return { screens, out }
}

describe('createLiveLine', () => {
  it('updates one line of a terminal', () => {
    const { screens, out } = shown({ live: true, json: false })
    expect(screens.map((lines) => lines.length)).toEqual([1, 1, 1])
    expect(screens[1]).toEqual(['50 of 100'])
    expect(out).toEqual([])
  })

  it('prints a line every ten seconds without a terminal', () => {
    const { out } = shown({ live: false, json: false })
    expect(out).toEqual(['50 of 100'])
  })

  it('prints nothing with --json', () => {
    expect(shown({ live: true, json: true })).toEqual({ screens: [], out: [] })
    expect(shown({ live: false, json: true })).toEqual({ screens: [], out: [] })
  })
})
