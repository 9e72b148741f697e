/** Which paths belong to the integration API. Source: docs/interface.md 5 rule 4. @module */
import { integrationPrefix } from '@payment-integration/contract'
import { isBelow } from './path-spelling.js'

/**
 * True for every path that some reader could take for a path of the integration API: it answers 401 first, whether it
 * exists or not.
 * @param readings - Of `readingsOf`.
 */
export function isIntegrationPath(readings: readonly string[]): boolean {
  return isBelow(readings, integrationPrefix)
}
