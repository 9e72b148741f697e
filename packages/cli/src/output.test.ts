import { describe, expect, it } from 'vitest'
import { getEvents, testIo } from '../test/test-io.js'
import { createReporter, createStyle, plainOutput, shortHash, wantsColor } from './output.js'

describe('plainOutput', () => {
  const hostile = 'a\u001b[2Jb\r\nc\u202ed\u009b31me\u001b[8mf\tg'

  it('leaves no control character but tabs in any line', () => {
    const liveLines: string[] = []
    const io = testIo({ live: (lines) => void liveLines.push(...lines) })
    const { out, err, live } = plainOutput(io)
    out(hostile)
    err(hostile)
    live?.([hostile])
    for (const lines of [io.lines, io.errors, liveLines]) expect(lines).toEqual(['a [2Jb c d 31me [8mf\tg'])
  })

  it('leaves the codes of styles where colors are shown, and no other code', () => {
    const { dim, bold, red } = createStyle(true)
    const line = [bold('x'), dim('y'), red('z'), hostile].join(' ')
    const colored = testIo({ color: true })
    plainOutput(colored).out(line)
    expect(colored.lines).toEqual([[bold('x'), dim('y'), red('z'), 'a [2Jb c d 31me [8mf\tg'].join(' ')])
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

describe('color', () => {
  it.each([
    [true, {}, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
    [false, { FORCE_COLOR: '1' }, false],
  ])('on a terminal %s with %j: %s', (terminal, env, wanted) => expect(wantsColor(terminal, env)).toBe(wanted))
})

describe('shortHash', () => {
  it.each([
    [`0x${'9f2c81'.padEnd(60, '0')}04e1`, '0x9f2c81..04e1'],
    ['0x12345678', '0x12345678'],
    ['', ''],
  ])('shortens %s', (hash, short) => expect(shortHash(hash)).toBe(short))
})
