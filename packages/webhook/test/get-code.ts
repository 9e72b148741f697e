import type { WebhookError } from '../src/errors.js'

/** The code of a rejection, or `ok`. */
export function getCode(verdict: Promise<unknown>): Promise<string> {
  return verdict.then(
    () => 'ok',
    (error: WebhookError) => error.code,
  )
}
