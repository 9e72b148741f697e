import { identityUnavailableBody } from '@payment-integration/contract/internal'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { catchError, getClient, page } from '../../test/fixtures.js'
import { shareResponse, submission } from '../../test/share-fixtures.js'
import type { ClientOptions } from '../client.js'

const start = Date.parse('2026-01-02T03:04:05Z')
beforeEach(() => void vi.useFakeTimers({ now: start }))
afterEach(() => void vi.useRealTimers())

/** An answer of the service; null: the connection fails. */
type Scripted = { status: number; body?: unknown; retryAfter?: string | undefined } | null

/** Makes a call whose attempts get these answers, then the last one always. Returns the waits between the attempts. */
async function run(
  answers: readonly Scripted[],
  options: Partial<ClientOptions> = {},
  calls: 'list' | 'share' = 'list',
) {
  const times: number[] = []
  const fetch = async () => {
    const answer = answers[Math.min(times.length, answers.length - 1)] as Scripted
    times.push(Date.now())
    if (answer === null) throw new TypeError('fetch failed')
    const { status, body = {}, retryAfter } = answer
    return Response.json(body, { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } })
  }
  const settings = { retryDelayMs: 100, maxRetryDelayMs: 1_000, random: () => 0.5, maxRetries: 10, ...options, fetch }
  const client = getClient('https://payments.example.com', settings)
  const outcome = (calls === 'list' ? client.payments.list() : client.identity.share(submission)).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  )
  await vi.runAllTimersAsync()
  const waits = times.slice(1).map((at, i) => at - (times[i] as number))
  return { ...(await outcome), waits, endedAt: Date.now() - start }
}
const done = { status: 200, body: page([1]) }
const busy = { status: 503 }

describe('the wait before a retry', () => {
  test('is half of a ceiling that doubles up to maxRetryDelayMs, for a random 0.5', async () => {
    const { waits } = await run([...Array(7).fill(busy), done])
    expect(waits).toEqual([50, 100, 200, 400, 500, 500, 500])
  })

  test('ranges from 0 to the ceiling', async () => {
    expect((await run([busy, done], { random: () => 0 })).waits).toEqual([0])
    expect((await run([busy, busy, done], { random: () => 0.99 })).waits).toEqual([99, 198])
  })

  test.each([429, 502, 503, 504])('is the Retry-After of a %i, longer than any ceiling', async (status) => {
    const { waits, value } = await run([{ status, retryAfter: '7' }, done])
    expect(waits).toEqual([7_000])
    expect(value).toEqual(page([1]))
  })

  test('is the Retry-After of a 503 about the identity provider', async () => {
    const down = { status: 503, body: identityUnavailableBody, retryAfter: '7' }
    const { waits, value } = await run([down, { status: 200, body: shareResponse() }], {}, 'share')
    expect(waits).toEqual([7_000])
    expect(value).toMatchObject({ kind: 'in_flight' })
  })

  // The contract tests all forms, in foreign-text.test.ts.
  const forms = { '1.5': 1_500, 'Friday, 02-Jan-26 03:04:09 GMT': 4_000 }
  test.each(Object.entries(forms))('is the Retry-After %s', async (retryAfter, waitMs) => {
    expect((await run([{ status: 429, retryAfter }, done])).waits).toEqual([waitMs])
  })

  const noWait = ['0', 'Fri, 02 Jan 2026 03:00:00 GMT', '-1', 'soon', '2026-01-02T03:04:09Z', '']
  test.each(noWait)('is the usual one after the past, empty or malformed Retry-After %j', async (retryAfter) => {
    expect((await run([{ status: 429, retryAfter }, done])).waits).toEqual([50])
  })
})

describe('a call of 60 seconds', () => {
  const options = { totalTimeoutMs: 60_000, maxRetries: 1 }

  test('waits for a Retry-After of 59 seconds', async () => {
    expect((await run([{ status: 429, retryAfter: '59' }, done], options)).value).toEqual(page([1]))
  })

  test('ends at once with a Retry-After of 60 seconds in its error', async () => {
    const { error, endedAt } = await run([{ status: 429, retryAfter: '60' }], options)
    expect(error).toMatchObject({ code: 'ERR_RATE_LIMITED', retryAfterSeconds: 60 })
    expect(endedAt).toBe(0)
  })

  test('ends during a longer backoff with the error of the last attempt', async () => {
    const slow = { ...options, retryDelayMs: 200_000, maxRetryDelayMs: 200_000 }
    const { error, endedAt } = await run([{ status: 502 }], slow)
    expect(error).toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE', status: 502 })
    expect(endedAt).toBe(60_000)
  })
})

describe('a call', () => {
  test('is made again after a failed connection', async () => {
    expect(await run([null, done])).toMatchObject({ value: page([1]), waits: [50] })
  })

  test.each([400, 401, 404, 408, 413, 500, 501])('is not made again after %i', async (status) => {
    const { waits, error } = await run([{ status, body: { error: 'x' }, retryAfter: '1' }, done])
    expect(error).toBeInstanceOf(Error)
    expect(waits).toEqual([])
  })
})

test('neither a header of another rate limiter nor a body of an error page changes the wait', async () => {
  let tries = 0
  const fetch = async () => {
    tries += 1
    const headers = { 'ratelimit-reset': '9', 'x-ratelimit-reset': '9', 'x-rate-limit-reset': '9' }
    return tries === 1 ? new Response('x'.repeat(2_000), { status: 503, headers }) : Response.json(page([]))
  }
  const call = getClient('https://payments.example.com', { fetch, maxResponseBytes: 1_000 }).payments.list()
  await vi.advanceTimersByTimeAsync(10)
  expect(tries).toBe(2)
  expect(await call).toEqual(page([]))
})

test('the error of a last attempt has the whole seconds of its Retry-After, and null without one', async () => {
  const maxRetries = 0
  for (const [retryAfter, retryAfterSeconds] of [
    ['7', 7],
    ['0', 0],
    ['1.2', 2],
    ['soon', null],
    ['Fri, 02 Jan 2026 03:04:15 GMT', 10],
    [undefined, null],
  ] as const)
    expect((await run([{ status: 503, retryAfter }], { maxRetries })).error).toMatchObject({ retryAfterSeconds })
})

test("a call whose fetch ignores its signal ends with the caller's abort, and leaves no timer", async () => {
  const controller = new AbortController()
  const client = getClient('https://payments.example.com', { fetch: () => new Promise(() => undefined) })
  const error = catchError(client.payments.list({ signal: controller.signal }))
  await vi.advanceTimersByTimeAsync(5)
  controller.abort()
  expect(await error).toMatchObject({ code: 'ERR_ABORTED' })
  expect(vi.getTimerCount()).toBe(0)
})
