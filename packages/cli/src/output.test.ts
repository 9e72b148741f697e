import { describe, expect, it } from 'vitest'
import { getEvents, testIo } from '../test/test-io.js'
import {
  alignRows,
  createReporter,
  createStyle,
  formatDuration,
  formatRate,
  groupDigits,
  plainOutput,
  roundDuration,
  shortHash,
  wantsColor,
} from './output.js'

describe('plainOutput', () => {
  const hostile = 'a\u001b[2Jb\r\nc\u202ed\u009b31me\u001b[8mf\tg\u2028é 中'

  it('leaves no control character but tabs in any line', () => {
    const liveLines: string[] = []
    const io = testIo({ live: (lines) => void liveLines.push(...lines) })
    const { out, err, live } = plainOutput(io)
    out(hostile)
    err(hostile)
    live?.([hostile])
    for (const lines of [io.lines, io.errors, liveLines]) expect(lines).toEqual(['a [2Jb c d 31me [8mf\tg é 中'])
  })

  it('leaves the codes of styles where colors are shown, and no other code', () => {
    const { dim, bold, red } = createStyle(true)
    const line = [bold('x'), dim('y'), red('z'), hostile].join(' ')
    const colored = testIo({ color: true })
    plainOutput(colored).out(line)
    expect(colored.lines).toEqual([[bold('x'), dim('y'), red('z'), 'a [2Jb c d 31me [8mf\tg é 中'].join(' ')])
    const plain = testIo()
    plainOutput(plain).out(line)
    expect(plain.lines[0]).not.toContain('\u001b')
  })

  it('leaves JSON, whose texts have them as escapes', () => {
    const io = testIo()
    const event = { event: 'x', name: `${hostile}\u2028\u{1f468}\u200d\u{1f469}\u{e0001}` }
    createReporter(plainOutput(io), true)(event, () => [])
    expect(getEvents(io)).toEqual([event])
    expect(io.lines[0]).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]*$/u)
  })
})

/** Lines of progress on a clock that the test moves. */
function shown({ live, json }: { live: boolean; json: boolean }) {
  let now = 0
  const screens: (readonly string[])[] = []
  const out: string[] = []
  const showLines = (lines: readonly string[]) => void screens.push(lines)
  const io = { now: () => now, out: (line: string) => void out.push(line), live: live ? showLines : undefined }
  const report = createReporter(io, json)
  const states = { '10 of 100': 1_000, '50 of 100': 11_000, '90 of 100': 12_000 }
  for (const [state, at] of Object.entries(states)) {
    now = at
    report.progress(state)
  }
  return { screens, out }
}

describe('the progress of a command', () => {
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

it.each([
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
  [false, { FORCE_COLOR: '1' }, false],
])('color on a terminal %s with %j: %s', (terminal, env, wanted) => expect(wantsColor(terminal, env)).toBe(wanted))

it.each([
  [`0x${'9f2c81'.padEnd(60, '0')}04e1`, '0x9f2c81..04e1'],
  ['0x12345678', '0x12345678'],
  ['', ''],
])('shortHash shortens %s', (hash, short) => expect(shortHash(hash)).toBe(short))

describe('figures', () => {
  it.each([
    [0, '0 ms'],
    [1, '1 ms'],
    [1_500, '1,500 ms'],
    [10_000, '10 s'],
    [5_400_000, '90 min'],
    [86_400_000, '24 h'],
    [129_600_000, '36 h'],
    [604_800_000, '7 days'],
  ])('writes a duration of %s ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

  it.each([
    [0, '0'],
    [999.6, '1,000'],
    [1_204_331, '1,204,331'],
  ])('groups %s as %s', (value, text) => expect(groupDigits(value)).toBe(text))

  it.each([
    [0, '0'],
    [0.016, '0.02'],
    [8.26, '8.3'],
    [1_203.6, '1,204'],
  ])('writes the rate %s as %s', (value, text) => expect(formatRate(value)).toBe(text))

  it.each([
    [0, '0 s'],
    [0.2, '1 s'],
    [89, '89 s'],
    [90, '2 min'],
    [5_400, '2 h'],
    [172_800, '2 days'],
  ])('writes %s seconds as %s', (value, text) => expect(roundDuration(value)).toBe(text))
})

describe('alignRows', () => {
  it('puts columns below each other, numbers to the right', () => {
    const rows = [
      ['chain', 'head', 'role'],
      ['1', '1,204', 'leads'],
      ['42161', '-', 'stands by'],
    ]
    expect(alignRows(rows)).toEqual(['chain   head  role', '    1  1,204  leads', '42161      -  stands by'])
  })

  it('is nothing without rows', () => expect(alignRows([])).toEqual([]))
})
