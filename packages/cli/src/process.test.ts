import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createScreen, createSignalReader, isReaderGone, isStoppedEarly, readKeys } from './process.js'

it.each([
  ['one signal stops', '0 INT', 'stop'],
  ['a copy of the first within half a second is ignored', '0 INT, 2 INT, 499 INT', 'stop ignore ignore'],
  ['the same signal half a second later insists', '0 INT, 500 INT', 'stop insist'],
  ['another signal insists at once', '0 INT, 0 TERM', 'stop insist'],
  ['a closed terminal stops', '0 HUP', 'stop'],
  ['a closed terminal never insists', '0 TERM, 1 HUP, 9000 HUP', 'stop stop stop'],
  ['and is no first signal for another to insist on', '0 HUP, 0 TERM, 500 TERM', 'stop stop insist'],
])('of signals, %s', (_name, sent, meanings) => {
  let clock = 0
  const read = createSignalReader({ now: () => 1_000 + clock })
  const answers = sent.split(', ').map((each) => {
    const [ms, signal] = each.split(' ')
    clock = Number(ms)
    return read(`SIG${signal}` as 'SIGINT' | 'SIGTERM' | 'SIGHUP')
  })
  expect(answers.join(' ')).toBe(meanings)
})

it('in raw mode Ctrl-C is an interrupt and no key', () => {
  const [input, received] = [Object.assign(new PassThrough(), { setRawMode: () => undefined }), [] as string[]]
  readKeys(input, () => received.push('interrupt'))((key) => received.push(key))
  input.emit('data', 'a\u0003b')
  expect(received).toEqual(['a', 'interrupt', 'b'])
})

it('a start that fails was stopped if a signal came before, else it failed by itself', async () => {
  expect(await isStoppedEarly(new AbortController().signal)).toBe(false)
  expect(await isStoppedEarly(AbortSignal.abort())).toBe(true)
})

it.each([
  ['EPIPE', false, true],
  ['EPIPE', true, true],
  ['EIO', true, true],
  ['EIO', false, false],
  ['ENOSPC', false, false],
  [undefined, true, false],
])('%s on a terminal %s: %s', (code, isTerminal, gone) => {
  expect(isReaderGone(Object.assign(new Error('write'), { code }), isTerminal)).toBe(gone)
})

/** A terminal that understands what a screen writes: lines, and going up by some to erase everything from there. */
function terminal(columns: number) {
  const rows: string[] = ['']
  return {
    columns,
    write(text: string) {
      const [before = '', ...rest] = text.split('\u001b[')
      const parts = rest.flatMap((part) => part.split(/(?<=^\d+[AJ])/))
      for (const part of [before, ...parts]) {
        const up = /^(\d+)A$/.exec(part)?.[1]
        if (up !== undefined) rows.splice(rows.length - 1 - Number(up), Number(up) + 1, '')
        else if (part !== '0J')
          for (const [index, line] of part.split('\n').entries()) {
            if (index > 0) rows.push('')
            rows[rows.length - 1] += line
          }
      }
    },
    shown: () => rows.slice(0, -1),
  }
}

describe('createScreen', () => {
  it('keeps status lines below all output, and removes them completely', () => {
    const stream = terminal(40)
    const { above, live } = createScreen(stream)
    const print = (line: string) => above(() => stream.write(`${line}\n`))
    print('first')
    live(['a 1', 'b 1'])
    print('second')
    expect(stream.shown()).toEqual(['first', 'second', 'a 1', 'b 1'])
    live(['a 2'])
    print('third')
    expect(stream.shown()).toEqual(['first', 'second', 'third', 'a 2'])
    live([])
    print('last')
    expect(stream.shown()).toEqual(['first', 'second', 'third', 'last'])
  })

  it('cuts a line that would wrap, and keeps no more lines than fit', () => {
    const stream = terminal(10)
    createScreen(stream).live(Array.from({ length: 40 }, () => 'x'.repeat(30)))
    expect(stream.shown()).toEqual(Array.from({ length: 12 }, () => 'x'.repeat(9)))
  })
})
