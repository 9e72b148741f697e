/** Accepts a delivery only near its time of signing. Source: docs/interface.md 6, signature rule 5. @module */
import { refusal, type WebhookError } from '../errors.js'

/**
 * The refusal of a delivery outside the tolerance, on either side; `undefined` when it is fresh.
 * An age or a tolerance that is no finite number is never fresh.
 */
export function refuseAge(ageSeconds: number, toleranceSeconds: number): WebhookError | undefined {
  if (toleranceSeconds < Infinity && Math.abs(ageSeconds) <= toleranceSeconds) return undefined
  return refusal(ageSeconds > 0 ? 'ERR_DELIVERY_STALE' : 'ERR_DELIVERY_FUTURE', 400, { ageSeconds })
}
