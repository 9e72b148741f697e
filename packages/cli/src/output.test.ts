import { describe, expect, it } from 'vitest'
import { shortHash } from './format.js'
import { createReporter, createStyle, wantsColour } from './output.js'

describe('createReporter', () => {
  const event = { event: 'listening', url: 'http://127.0.0.1:1' }
  const text = ({ url }: typeof event) => [`Listening on ${url}`, 'Ctrl-C stops it.']

  it('prints the lines of text for a person', () => {
    const lines: string[] = []
    createReporter({ out: (line) => lines.push(line) }, false)(event, text)
    expect(lines).toEqual(['Listening on http://127.0.0.1:1', 'Ctrl-C stops it.'])
  })

  it('prints one JSON object and nothing else for a machine', () => {
    const lines: string[] = []
    createReporter({ out: (line) => lines.push(line) }, true)(event, text)
    expect(lines).toEqual(['{"event":"listening","url":"http://127.0.0.1:1"}'])
  })
})

describe('colour', () => {
  it.each([
    [true, {}, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
    [false, { FORCE_COLOR: '1' }, false],
  ])('on a terminal %s with %j: %s', (terminal, env, wanted) => expect(wantsColour(terminal, env)).toBe(wanted))

  it('does not change text without colour', () => {
    expect(createStyle(false).red('x')).toBe('x')
    expect(createStyle(true).red('x')).toContain('\u001b[31m')
  })
})

describe('shortHash', () => {
  it.each([
    [`0x${'9f2c81'.padEnd(60, '0')}04e1`, '0x9f2c81..04e1'],
    ['0x12345678', '0x12345678'],
    ['', ''],
  ])('shortens %s', (hash, short) => expect(shortHash(hash)).toBe(short))
})
