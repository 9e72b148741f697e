import { expectTypeOf, test } from 'vitest'
import { WebhookError, type WebhookErrorCode } from './exports/index.js'

test('a rejection cannot be made from outside: it would have no name, code and status', () => {
  // @ts-expect-error the class is for `instanceof`
  new WebhookError('ERR_SIGNATURE_MISMATCH')
  // @ts-expect-error a subclass must define name, code and status
  class Incomplete extends WebhookError {}
  expectTypeOf(Incomplete).toBeConstructibleWith()
})

test('instanceof narrows to code and status', () => {
  const error: unknown = undefined
  if (error instanceof WebhookError) {
    expectTypeOf(error.code).toEqualTypeOf<WebhookErrorCode>()
    expectTypeOf(error.status).toBeNumber()
  }
})
