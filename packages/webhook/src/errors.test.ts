import { expect, test, vi } from 'vitest'
import * as errors from './errors.js'

const everyRefusal = (of: typeof errors) => [
  new of.SignatureMissingError(),
  new of.SignatureMalformedError('x'),
  new of.SignatureSchemeError(),
  new of.StaleDeliveryError(301, 300),
  new of.FutureDeliveryError(-301, 300),
  new of.SignatureMismatchError(),
  new of.BodyNotRawError('x'),
  new of.BodyTooLargeError(1),
  new of.BodyUnreadableError(new Error('x')),
  new of.IntegrationUnknownError('x'),
  new of.IntegrationMismatchError(),
  new of.SnapshotInvalidError('x', 'y'),
]

test('every class of refusal is known as one', () => {
  const classes = Object.values(errors).filter(
    (value) => typeof value === 'function' && value.prototype instanceof errors.WebhookError,
  )
  expect(everyRefusal(errors).map((refusal) => refusal.constructor)).toEqual(classes)
  for (const refusal of everyRefusal(errors)) expect(errors.isWebhookRefusal(refusal), refusal.name).toBe(true)
})

test('refusals of a second copy of the package, as the CommonJS one beside the ESM one, are known too', async () => {
  vi.resetModules()
  const copy = await import('./errors.js')
  for (const refusal of everyRefusal(copy)) {
    expect(refusal).not.toBeInstanceOf(errors.WebhookError)
    expect(errors.isWebhookRefusal(refusal), refusal.name).toBe(true)
  }
})

test.each([
  ['nothing', undefined],
  ['null', null],
  ['a plain error', new Error('x')],
  ['a plain error with a status', Object.assign(new Error('x'), { status: 204 })],
  ['another error with a code of ours', Object.assign(new Error('x'), { code: 'ERR_BODY_TOO_LARGE', status: 204 })],
  ['an object that is no error', { name: 'BodyTooLargeError', code: 'ERR_BODY_TOO_LARGE', status: 413 }],
  ['an error named after a property of objects', Object.assign(new Error('x'), { name: 'toString', code: 'toString' })],
])('%s is no refusal', (_, value) => {
  expect(errors.isWebhookRefusal(value)).toBe(false)
})
