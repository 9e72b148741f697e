/** Decides which API, and so which credentials, a path belongs to. Source: docs/interface.md 5 rule 4. @module */
import { isIntegrationPath } from './integration-path.js'
import { isLegacyPath } from './legacy-path.js'
import { isPlain, readingsOf } from './path-spelling.js'

/** Longest ambiguous path that is read, in characters. No path of the service is a fifth as long. */
const mostCharacters = 1_024

/**
 * The API that some parser could assign a path to. It answers 401 first, whether the path exists or not. Null for every
 * other path. An ambiguous path that is too long counts as the integration API: reading all of it would cost more than
 * the 401.
 */
export function areaOf(path: string): 'integration' | 'legacy' | null {
  const isCut = !isReadWhole(path)
  const readings = readingsOf(isCut ? path.slice(0, mostCharacters) : path)
  if (isIntegrationPath(readings)) return 'integration'
  if (isLegacyPath(readings)) return 'legacy'
  return isCut ? 'integration' : null
}

/** False for a long path that parsers may read differently. */
export function isReadWhole(path: string): boolean {
  return path.length <= mostCharacters || isPlain(path)
}
