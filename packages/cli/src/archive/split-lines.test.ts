import { expect, test } from 'vitest'
import { maxLineBytes } from './format-lines.js'
import { createLineSplitter } from './split-lines.js'

const text = 'ä\n\nb𝄞c\r\n\ufeffd\n'

test('lines are the same however the content is cut', () => {
  const bytes = Buffer.from(text)
  for (let size = 1; size <= bytes.length; size += 1) {
    const splitter = createLineSplitter()
    const lines: string[] = []
    for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.split(bytes.subarray(at, at + size)))
    expect(lines, `${size} bytes at a time`).toStrictEqual(['ä', '', 'b𝄞c\r', '\ufeffd'])
    expect(splitter.isInLine()).toBe(false)
  }
})

test('a line without its end is none', () => {
  const splitter = createLineSplitter()
  expect(splitter.split(Buffer.from('a\nb'))).toStrictEqual(['a'])
  expect(splitter.isInLine()).toBe(true)
})

test('a line of 64 MiB is the longest', () => {
  const splitter = createLineSplitter()
  const content = Buffer.alloc(maxLineBytes / 64, 'a')
  for (let count = 0; count < 64; count += 1) expect(splitter.split(content)).toStrictEqual([])
  expect(() => splitter.split(Buffer.from('a'))).toThrow(RangeError)
})

test('lines that run from one content into the next may have more than 64 MiB together', () => {
  const splitter = createLineSplitter()
  const content = Buffer.alloc(maxLineBytes / 16, 'a')
  content.write('\n')
  const lengths = Array.from({ length: 18 }, () => splitter.split(content).map((line) => line.length))
  expect(lengths.flat()).toStrictEqual([0, ...Array.from({ length: 17 }, () => content.length - 1)])
})
