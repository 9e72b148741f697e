import { excerptBytes } from '@payment-integration/core/internal'
import { expect, it } from 'vitest'
import { createExcerpt } from './exchange.js'

const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((c) => /\p{Cc}/u.test(c))
const euro = Buffer.from('a€b')
const filled = 'a'.repeat(excerptBytes - 1)

it.each<[string, readonly (string | Uint8Array)[], string | null]>([
  ['is null without a byte', [], null],
  ['is empty with control characters only', ['\0\x1b'], ''],
  ['is the whole of a short body, joined over its chunks', ['{"ok"', ':true}'], '{"ok":true}'],
  ['joins a character that is split over two chunks', [euro.subarray(0, 2), euro.subarray(2)], 'a€b'],
  ['ends after its bytes, wherever the chunks end', [filled, 'bcd', 'e'], `${filled}b`],
  ['ends after its bytes within a chunk', ['a'.repeat(100_000)], `${filled}a`],
  ['drops a character split by the cut', [`${filled}€`], filled],
  ['shows a character that the body broke off', [Buffer.from('ab€').subarray(0, 4)], 'ab\ufffd'],
  ['shows bytes that are not UTF-8 as U+FFFD', [Buffer.from([0x61, 0xff, 0xfe, 0x62])], 'a\ufffd\ufffdb'],
  ['shows half of a character as U+FFFD', [Buffer.from([0xed, 0xa0, 0x80])], '\ufffd\ufffd\ufffd'],
  ['holds no control character but line feed and tab', [`a${controls.join('')}b`], 'a\t\nb'],
  ['holds no character that changes the text direction', ['a\u202eb\u2066c\u200fd\u061ce'], 'abcde'],
])('an excerpt %s', (_, chunks, text) => {
  const excerpt = createExcerpt()
  for (const chunk of chunks) excerpt.add(Buffer.from(chunk as string))
  expect(excerpt.text()).toBe(text)
  expect(excerpt.size()).toBe(chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0))
})
