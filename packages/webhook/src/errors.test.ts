import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createRejection, explainRejection, isWebhookRejection, WebhookError } from './errors.js'

const rejections = [
  createRejection('ERR_SIGNATURE_MISSING', 401),
  createRejection('ERR_SIGNATURE_MALFORMED', 400),
  createRejection('ERR_SIGNATURE_SCHEME', 400),
  createRejection('ERR_DELIVERY_STALE', 400, { ageSeconds: 301 }),
  createRejection('ERR_DELIVERY_FUTURE', 400, { ageSeconds: -301 }),
  createRejection('ERR_SIGNATURE_MISMATCH', 401),
  createRejection('ERR_BODY_NOT_RAW', 500, { arrived: 'x' }),
  createRejection('ERR_BODY_TOO_LARGE', 413),
  createRejection('ERR_BODY_UNREADABLE', 400, { cause: new Error('x') }),
  createRejection('ERR_INTEGRATION_UNKNOWN', 401),
  createRejection('ERR_INTEGRATION_MISMATCH', 400),
  createRejection('ERR_SNAPSHOT_INVALID', 400, { field: 'x' }),
]

test('every rejection is an error with its own code, is known as one, and is explained in its own words', () => {
  for (const error of rejections) {
    expect(error).toBeInstanceOf(Error)
    expect(error).toBeInstanceOf(WebhookError)
    expect(isWebhookRejection(error), error.code).toBe(true)
    expect(String(error)).toBe(`WebhookError: ${error.code}`)
    expect(explainRejection(error), error.code).toMatch(/\.$/)
  }
  expect(new Set(rejections.map(({ code }) => code)).size).toBe(rejections.length)
  expect(new Set(rejections.map(explainRejection)).size).toBe(rejections.length)
})

test('a rejection in a log shows its code, its status and its facts', () => {
  const shown = inspect(createRejection('ERR_DELIVERY_STALE', 400, { ageSeconds: 301 }))
  for (const part of ['WebhookError', 'ERR_DELIVERY_STALE', 'status: 400', 'ageSeconds: 301'])
    expect(shown).toContain(part)
})

test('making a rejection neither walks the stack nor touches how others walk it', () => {
  const { stackTraceLimit } = Error
  const { stack } = createRejection('ERR_SIGNATURE_MISMATCH', 401)
  expect(stack).toBe('ERR_SIGNATURE_MISMATCH')
  expect(Error.stackTraceLimit).toBe(stackTraceLimit)
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
])('%s is no rejection, and is not explained', (_, value) => {
  expect(isWebhookRejection(value)).toBe(false)
  expect(explainRejection(value)).toBeUndefined()
})
