import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, test } from 'vitest'
import {
  type AnswerSocket,
  filterAnswers,
  MalformedAnswerError,
  maxAnswerBytes,
  maxAnswerHeadBytes,
  startTimeLimit,
} from './foreign-answers.js'

/** A socket that records what the parser receives, and the error that destroyed it. */
function open() {
  const got: (string | null)[] = []
  const seen: { error?: Error | undefined; destroyed: number } = { destroyed: 0 }
  const socket = {
    bytesWritten: 0,
    push: (chunk: Uint8Array | null) => got.push(chunk === null ? null : Buffer.from(chunk).toString('latin1')) > 0,
    destroy(error?: Error) {
      seen.destroyed++
      seen.error = error
    },
  } satisfies AnswerSocket
  filterAnswers(socket)
  return {
    ...{ socket, got, seen },
    send(bytes: number) {
      socket.bytesWritten += bytes
    },
    receive: (...texts: readonly string[]) => texts.map((text) => socket.push(Buffer.from(text, 'latin1'))),
  }
}

const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const allowed: readonly (readonly [answer: string, parsed: string])[] = [
  [plain, plain],
  [`HTTP/1.1 100 Continue\r\n\r\n${plain}`, plain],
  [`HTTP/1.1 103 X\r\nLink: </a>\r\n\r\nHTTP/1.1 100\r\n\r\n${plain}`, plain],
  [`\r\n${plain}`, `\r\n${plain}`],
  ['HTTP/1.1 204 X\r\nA: b\r\n c\r\n\td\r\n\r\n', 'HTTP/1.1 204 X\r\nA: b   c  \td\r\n\r\n'],
  ['HTTP/1.1 204 X\r\nA: b\r\n \r\n\r\n', 'HTTP/1.1 204 X\r\nA: b   \r\n\r\n'],
  ['HTTP/1.1 204 X\r\n A: b\r\n\r\n', 'HTTP/1.1 204 X   A: b\r\n\r\n'],
  ['HTTP/1.1 200 X\r\n\r\n\r\n a\n\r\n\tb', 'HTTP/1.1 200 X\r\n\r\n\r\n a\n\r\n\tb'],
  ['HTTP/1.1 abc X\r\n\r\n', 'HTTP/1.1 abc X\r\n\r\n'],
]

describe('an answer', () => {
  it.each(allowed)('%j reaches the parser the same, whole and cut at any two places', (answer, parsed) => {
    for (let first = 0; first <= answer.length; first++)
      for (let second = first; second <= answer.length; second++) {
        const { socket, got, send, receive, seen } = open()
        send(1)
        receive(
          ...[answer.slice(0, first), answer.slice(first, second), answer.slice(second)].filter((part) => part !== ''),
        )
        socket.push(null)
        expect([got.slice(0, -1).join(''), got.at(-1), seen.destroyed]).toEqual([parsed, null, 0])
      }
  })

  it('after another one is filtered again, and bytes that nothing asked for are not', () => {
    const { got, send, receive } = open()
    send(9)
    receive(plain)
    receive('HTTP/1.1 100 Continue\r\n\r\n')
    send(9)
    receive(`HTTP/1.1 100 Continue\r\n\r\n${plain}`)
    expect(got).toEqual([plain, 'HTTP/1.1 100 Continue\r\n\r\n', plain])
  })

  it.each([
    ['220 mail ESMTP\r\n', null],
    ['HTTP/2', null],
    ['HTTP/1.1 200 OK\nA: b', 200],
    ['HTTP/1.1 200 OK\r\nA: b\nC: d', 200],
    ['HTTP/1.1 101 X\r\n\r\n', 101],
    ['HTTP/1.1 099 X\r\n\r\n', 99],
    ['HTTP/1.1 100 X\n\n', 100],
    [`HTTP/1.1 503 X\r\nA: ${'b'.repeat(maxAnswerHeadBytes)}`, 503],
    ['HTTP/1.1 103 X\r\n\r\n'.repeat(maxAnswerBytes / 18 + 1), null],
  ])('%.40j is malformed, with its status', (answer, status) => {
    const { got, seen, receive } = open()
    expect(receive(answer)).toEqual([false])
    expect(got).toEqual([])
    expect(seen.error).toBeInstanceOf(MalformedAnswerError)
    expect(seen.error).toMatchObject({ code: 'ERR_ANSWER_MALFORMED', retryable: false, status })
  })

  it('may have a head of 16 KB, and a body up to the limit of all bytes', () => {
    const { got, seen, receive } = open()
    const [start, end] = ['HTTP/1.1 200 X\r\nA: ', '\r\n\r\n']
    const head = start + 'b'.repeat(maxAnswerHeadBytes - start.length - end.length) + end
    receive(head, 'c'.repeat(maxAnswerBytes - head.length))
    expect([got.join('').length, seen.destroyed]).toEqual([maxAnswerBytes, 0])
    receive('c')
    expect(seen.error).toMatchObject({ status: 200 })
  })

  it('that undici rejects is malformed, with the status of its head; any other error stays as it is', () => {
    const { socket, seen, receive } = open()
    receive('HTTP/1.1 200 OK\r\n: a\r\n\r\n')
    const cause = Object.assign(new Error('Invalid header token'), { name: 'HTTPParserError' })
    socket.destroy(cause)
    expect(seen.error).toMatchObject({ code: 'ERR_ANSWER_MALFORMED', status: 200, cause })
    const reset = new Error('reset')
    socket.destroy(reset)
    expect(seen.error).toBe(reset)
    socket.destroy()
    expect(seen.error).toBeUndefined()
  })
})

test('a time limit fires though nothing but its listener refers to it and memory is collected', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const fired = Array.from(
    { length: 20 },
    () =>
      new Promise<string>((resolve) => {
        const { signal } = startTimeLimit(50, new AbortController().signal)
        signal.addEventListener('abort', () => resolve(signal.reason.name))
      }),
  )
  collect()
  await new Promise(setImmediate)
  collect()
  expect(new Set(await Promise.all(fired))).toEqual(new Set(['TimeoutError']))
})

test("a time limit aborts with the caller's signal and its reason", async () => {
  const caller = new AbortController()
  const limits = [startTimeLimit(60_000, caller.signal)]
  caller.abort(new Error('enough'))
  limits.push(startTimeLimit(60_000, caller.signal))
  for (const limit of limits) {
    expect(limit.signal.reason).toEqual(new Error('enough'))
    await expect(limit.whenAborted).rejects.toThrow('enough')
    limit.end()
  }
})
