import { describe, expect, it } from 'vitest'
import { createSignalReader, isStoppedEarly, readerIsGone } from './process.js'

type Sent = readonly [ms: number, signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP']

describe('createSignalReader', () => {
  it.each<[string, readonly Sent[], readonly string[]]>([
    ['one signal stops', [[0, 'SIGINT']], ['stop']],
    [
      'a copy of the first within half a second is ignored',
      [
        [0, 'SIGINT'],
        [2, 'SIGINT'],
        [499, 'SIGINT'],
      ],
      ['stop', 'ignore', 'ignore'],
    ],
    [
      'the same signal half a second later insists',
      [
        [0, 'SIGINT'],
        [500, 'SIGINT'],
      ],
      ['stop', 'insist'],
    ],
    [
      'another signal insists at once',
      [
        [0, 'SIGINT'],
        [0, 'SIGTERM'],
      ],
      ['stop', 'insist'],
    ],
    ['a closed terminal stops', [[0, 'SIGHUP']], ['stop']],
    [
      'a closed terminal never insists',
      [
        [0, 'SIGTERM'],
        [1, 'SIGHUP'],
        [9_000, 'SIGHUP'],
      ],
      ['stop', 'stop', 'stop'],
    ],
    [
      'and is no first signal for another to insist on',
      [
        [0, 'SIGHUP'],
        [0, 'SIGTERM'],
        [500, 'SIGTERM'],
      ],
      ['stop', 'stop', 'insist'],
    ],
  ])('%s', (_name, sent, meanings) => {
    let clock = 0
    const read = createSignalReader(() => 1_000 + clock)
    const seen = sent.map(([ms, signal]) => {
      clock = ms
      return read(signal)
    })
    expect(seen).toEqual(meanings)
  })
})

it('a start that fails without a signal failed by itself', async () => {
  expect(await isStoppedEarly(new AbortController().signal)).toBe(false)
})

it('a start that fails after a signal was stopped', async () => {
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
  expect(readerIsGone(Object.assign(new Error('write'), { code }), isTerminal)).toBe(gone)
})
