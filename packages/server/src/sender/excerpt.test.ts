import { excerptBytes } from '@payment-integration/core/internal'
import { describe, expect, it } from 'vitest'
import { createExcerpt } from './exchange.js'

function getExcerpt(...chunks: readonly (string | Uint8Array)[]): string | null {
  const excerpt = createExcerpt()
  for (const chunk of chunks) excerpt.add(Buffer.from(chunk as string))
  return excerpt.text()
}

describe('an excerpt', () => {
  it('is null without a byte, and empty with control characters only', () => {
    expect(getExcerpt()).toBeNull()
    expect(getExcerpt('\0\x1b')).toBe('')
  })

  it('is the whole of a short body, joined over its chunks', () => {
    expect(getExcerpt('{"ok"', ':true}')).toBe('{"ok":true}')
  })

  it('joins a character that is split over two chunks', () => {
    const bytes = Buffer.from('a€b')
    expect(getExcerpt(bytes.subarray(0, 2), bytes.subarray(2))).toBe('a€b')
  })

  it(`ends after ${excerptBytes} bytes, wherever the chunks end`, () => {
    expect(getExcerpt('a'.repeat(excerptBytes - 1), 'bcd', 'e')).toBe(`${'a'.repeat(excerptBytes - 1)}b`)
    expect(getExcerpt('a'.repeat(100_000))).toHaveLength(excerptBytes)
  })

  it('drops a character split by the cut, and shows one that the body broke off', () => {
    expect(getExcerpt(`${'a'.repeat(excerptBytes - 1)}€`)).toBe('a'.repeat(excerptBytes - 1))
    expect(getExcerpt(Buffer.from('ab€').subarray(0, 4))).toBe('ab\ufffd')
  })

  it('shows bytes that are not UTF-8 as U+FFFD', () => {
    expect(getExcerpt(Buffer.from([0x61, 0xff, 0xfe, 0x62]))).toBe('a\ufffd\ufffdb')
    expect(getExcerpt(Buffer.from([0xed, 0xa0, 0x80]))).toBe('\ufffd\ufffd\ufffd')
  })

  it('holds no control character but line feed and tab', () => {
    const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((c) =>
      /\p{Cc}/u.test(c),
    )
    expect(controls).toHaveLength(65)
    expect(getExcerpt(`a${controls.join('')}b`)).toBe('a\t\nb')
  })

  it('holds no character that changes the text direction', () => {
    expect(getExcerpt('a\u202eb\u2066c\u200fd\u061ce')).toBe('abcde')
  })

  it('counts the bytes of the whole body', () => {
    const excerpt = createExcerpt()
    excerpt.add(Buffer.alloc(5_000))
    excerpt.add(Buffer.alloc(5_000))
    expect(excerpt.size()).toBe(10_000)
  })
})
