/** Decides whether a path belongs to the legacy API. Source: docs/interface.md 4.3. @module */
import { paths } from '@payment-integration/contract'
import { isBelow } from './path-spelling.js'

/** The part of the look-up's path before its parameters. */
const lookupPrefix = paths.legacyLookup.slice(0, paths.legacyLookup.indexOf('/:'))

/** A legacy path that does not exist. It replaces an unreadable target whose caller must still get a 401. */
export const unreadableLegacyPath = `${lookupPrefix}/unreadable`

/**
 * True for every path that some parser could assign to the legacy API. It answers 401 first, existing or not.
 * @param readings - Of `readingsOf`.
 */
export function isLegacyPath(readings: readonly string[]): boolean {
  return isBelow(readings, lookupPrefix) || isBelow(readings, paths.legacyVerify)
}
