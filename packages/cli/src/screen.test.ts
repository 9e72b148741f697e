import { describe, expect, it } from 'vitest'
import { createScreen } from './process.js'

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
