import { describe, expect, test } from 'vitest'
import {
  AbortedError,
  InvalidRequestError,
  InvalidResponseError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  ServiceUnavailableError,
  TimeoutError,
  UnauthorizedError,
} from '../errors.js'
import { IdentityMisconfiguredError, IdentityUnavailableError } from '../identity/errors.js'
import { parseRetryAfter, planRetry, type RetryPlan } from './retry.js'

const plan: RetryPlan = {
  error: new NetworkError(null),
  retry: 1,
  retryDelayMs: 100,
  maxRetryDelayMs: 1_000,
  remainingMs: 60_000,
  random: () => 0.5,
}

describe('the wait before a retry', () => {
  test.each([
    [1, 50],
    [2, 100],
    [4, 400],
    [5, 500],
    [9, 500],
  ])('before retry %i is half of the ceiling for a random 0.5: %i ms', (retry, expected) => {
    expect(planRetry({ ...plan, retry })).toBe(expected)
  })

  test('ranges from 0 to the ceiling', () => {
    expect(planRetry({ ...plan, random: () => 0 })).toBe(0)
    expect(planRetry({ ...plan, random: () => 0.999 })).toBeCloseTo(99.9)
  })

  test.each([
    ['429', new RateLimitedError(7)],
    ['503', new ServiceUnavailableError(503, 7)],
    ['503 about the identity provider', new IdentityUnavailableError(7)],
  ])('equals the Retry-After of a %s when that is longer', (_status, error) => {
    expect(planRetry({ ...plan, error })).toBe(7_000)
  })

  test('is the usual backoff after a Retry-After of 0', () => {
    expect(planRetry({ ...plan, error: new RateLimitedError(0) })).toBe(50)
  })

  test('is null when it would exceed the time of the call', () => {
    expect(planRetry({ ...plan, error: new RateLimitedError(7), remainingMs: 7_000 })).toBeNull()
    expect(planRetry({ ...plan, error: new RateLimitedError(7), remainingMs: 7_001 })).toBe(7_000)
    expect(planRetry({ ...plan, remainingMs: 0 })).toBeNull()
    expect(planRetry({ ...plan, remainingMs: Number.NaN })).toBeNull()
  })
})

describe('retries', () => {
  test.each([
    ['after a failed connection', new NetworkError('ECONNRESET')],
    ['after 429', new RateLimitedError(null)],
    ['after 502', new ServiceUnavailableError(502, null)],
    ['after 503', new ServiceUnavailableError(503, null)],
    ['after 504', new ServiceUnavailableError(504, null)],
    ['after 503 about the identity provider', new IdentityUnavailableError(null)],
    ['after a timed-out attempt', new TimeoutError('try', 10)],
  ])('%s', (_case, error) => {
    expect(planRetry({ ...plan, error })).toBe(50)
  })
})

describe('does not retry', () => {
  test.each([
    ['after 400', new InvalidRequestError(null)],
    ['after 401', new UnauthorizedError('apiSecret')],
    ['after 404', new NotFoundError('0x', null)],
    ['after 500', new ServiceUnavailableError(500, 1)],
    ['after 502 about the identity provider', new IdentityMisconfiguredError()],
    ['after 501', new ServiceUnavailableError(501, null)],
    ['after an abort', new AbortedError()],
    ['after a malformed answer', new InvalidResponseError('not_json', 200)],
    ['after an error of another kind', new Error('bug')],
    ['after a thrown text', 'bug'],
  ])('%s', (_case, error) => {
    expect(planRetry({ ...plan, error })).toBeNull()
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-01-02T03:04:05.250Z')
  test.each<[string | null, number | null]>([
    ['0', 0],
    ['120', 120],
    [' 5 ', 5],
    ['Fri, 02 Jan 2026 03:04:15 GMT', 10],
    ['Fri, 02 Jan 2026 03:04:00 GMT', 0],
    [null, null],
    ['', null],
    ['-5', null],
    ['1.5', null],
    ['1e3', null],
    ['soon', null],
    ['2026', 2026],
    ['2026-01-02T03:04:15Z', null],
    ['Abc, 99 Nop 2026 99:99:99 GMT', null],
    ['9999999999', null],
    ['Infinity', null],
  ])('%j is parsed as %j', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected)
  })
})
