import { inspect } from 'node:util'
import { expect, test, vi } from 'vitest'
import * as errors from './errors.js'
import { explainRefusal } from './errors.js'

const everyRefusal = ({ refusal }: typeof errors) => [
  refusal('ERR_SIGNATURE_MISSING', 401),
  refusal('ERR_SIGNATURE_MALFORMED', 400),
  refusal('ERR_SIGNATURE_SCHEME', 400),
  refusal('ERR_DELIVERY_STALE', 400, { ageSeconds: 301 }),
  refusal('ERR_DELIVERY_FUTURE', 400, { ageSeconds: -301 }),
  refusal('ERR_SIGNATURE_MISMATCH', 401),
  refusal('ERR_BODY_NOT_RAW', 500, { arrived: 'x' }),
  refusal('ERR_BODY_TOO_LARGE', 413),
  refusal('ERR_BODY_UNREADABLE', 400, { cause: new Error('x') }),
  refusal('ERR_INTEGRATION_UNKNOWN', 401),
  refusal('ERR_INTEGRATION_MISMATCH', 400),
  refusal('ERR_SNAPSHOT_INVALID', 400, { field: 'x' }),
]

test('every refusal is an error with its own code, is known as one, and is explained in its own words', () => {
  const refusals = everyRefusal(errors)
  for (const error of refusals) {
    expect(error).toBeInstanceOf(Error)
    expect(error).toBeInstanceOf(errors.WebhookError)
    expect(errors.isWebhookRefusal(error), error.code).toBe(true)
    expect(String(error)).toBe(`WebhookError: ${error.code}`)
    expect(explainRefusal(error), error.code).toMatch(/\.$/)
  }
  expect(new Set(refusals.map(({ code }) => code)).size).toBe(refusals.length)
  expect(new Set(refusals.map(explainRefusal)).size).toBe(refusals.length)
})

test('a refusal in a log shows its code, its status and its facts', () => {
  const shown = inspect(errors.refusal('ERR_DELIVERY_STALE', 400, { ageSeconds: 301 }))
  for (const part of ['WebhookError', 'ERR_DELIVERY_STALE', 'status: 400', 'ageSeconds: 301'])
    expect(shown).toContain(part)
})

test('making a refusal neither walks the stack nor touches how others walk it', () => {
  const { stackTraceLimit } = Error
  const { stack } = errors.refusal('ERR_SIGNATURE_MISMATCH', 401)
  expect(stack).toBe('ERR_SIGNATURE_MISMATCH')
  expect(Error.stackTraceLimit).toBe(stackTraceLimit)
})

test('refusals of a second copy of the package, as the CommonJS one beside the ESM one, are known too', async () => {
  vi.resetModules()
  const copy = await import('./errors.js')
  for (const refusal of everyRefusal(copy)) {
    expect(refusal).not.toBeInstanceOf(errors.WebhookError)
    expect(errors.isWebhookRefusal(refusal), refusal.code).toBe(true)
  }
})

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a plain error', new Error('x')],
  ['a plain error with a status', Object.assign(new Error('x'), { status: 204 })],
  ['another error with a code of ours', Object.assign(new Error('x'), { code: 'ERR_BODY_TOO_LARGE', status: 204 })],
  ['an error of our name without a code', Object.assign(new Error('x'), { name: 'WebhookError', status: 204 })],
  ['an error of our name with another code', Object.assign(new Error('x'), { name: 'WebhookError', code: 'ENOENT' })],
  ['an object that is no error', { name: 'WebhookError', code: 'ERR_BODY_TOO_LARGE', status: 413 }],
  ['an error named after a property of objects', Object.assign(new Error('x'), { name: 'toString', code: 'toString' })],
])('%s is no refusal, and is not explained', (_, value) => {
  expect(errors.isWebhookRefusal(value)).toBe(false)
  expect(explainRefusal(value)).toBeUndefined()
})
