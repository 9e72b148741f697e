import { describe, expect, test } from 'vitest'
import { shortenUrls } from './log.js'

test.each([
  ['GET https://user:secret@a.example:8545/v3/secret?key=secret failed', 'GET https://a.example:8545 failed'],
  ['wss://secret@[::1]:80/#secret', 'wss://[::1]:80'],
  ['"http://a.example/secret" and <https://b.example?secret>', '"http://a.example" and <https://b.example>'],
  ['https://user:p@secret@a.example/', 'https://a.example'],
  ["https://user:pa'secret@node.example/v3/secret failed", 'https://node.example failed'],
  ['https://user:se"cr<et>@secret\'s@a.example/secret', 'https://a.example'],
  ["'https://a.example/secret' and 'https://user@b.example'", "'https://a.example' and 'https://b.example'"],
  ['https://user:secret/@a.example/', 'https://'],
  ['https://', 'https://'],
  ['no URL: a://', 'no URL: a://'],
])('%s is shown as %s', (text, expected) => {
  expect(shortenUrls(text)).toBe(expected)
})

describe('a text of more than 4,096 characters', () => {
  test('is cut', () => {
    expect(shortenUrls('a'.repeat(4_096))).toBe('a'.repeat(4_096))
    expect(shortenUrls('a'.repeat(4_097))).toBe(`${'a'.repeat(4_096)}…`)
  })

  test.each(['https://user:secret@a.example/secret', "https://user:pass'secret@a.example/secret"])(
    'shows no part of a user or a path at the cut, wherever it splits %s',
    (url) => {
      for (let before = 4_096 - url.length - 1; before < 4_096; before++) {
        const shown = shortenUrls(`${'.'.repeat(before)} ${url}${'b'.repeat(100)}`)
        expect(shown).not.toMatch(/user|secre|@/)
        expect(shown.length).toBeLessThanOrEqual(4_097)
      }
    },
  )
})
