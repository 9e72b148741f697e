import { describe, expect, it } from 'vitest'
import { showProgress } from './progress.js'

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
