/** Which paths belong to the legacy API. Source: docs/interface.md 4.3. @module */
import { paths } from '@payment-integration/contract'
import { isBelow } from './path-spelling.js'

/** The part of the look-up's path before its parameters. */
const lookupPrefix = paths.legacyLookup.slice(0, paths.legacyLookup.indexOf('/:'))

/**
 * A path of the legacy API that exists nowhere: what a target becomes that cannot be read and owes its caller a 401 all
 * the same.
 */
export const unreadableLegacyPath = `${lookupPrefix}/unreadable`

/**
 * True for every path that some reader could take for a path of the legacy API: it answers 401 first, whether it exists
 * or not.
 * @param readings - Of `readingsOf`.
 */
export function isLegacyPath(readings: readonly string[]): boolean {
  return isBelow(readings, lookupPrefix) || isBelow(readings, paths.legacyVerify)
}
