/** Decides whether a path belongs to the integration API. Source: docs/interface.md 5 rule 4. @module */
import { integrationPrefix } from '@payment-integration/contract'
import { isBelow } from './path-spelling.js'

/**
 * True for every path that some parser could assign to the integration API. It answers 401 first, existing or not.
 * @param readings - Of `readingsOf`.
 */
export function isIntegrationPath(readings: readonly string[]): boolean {
  return isBelow(readings, integrationPrefix)
}
