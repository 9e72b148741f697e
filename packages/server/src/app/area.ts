/** Which API a path belongs to, and so which credentials it asks for. Source: docs/interface.md 5 rule 4. @module */
import { isIntegrationPath } from './integration-path.js'
import { isLegacyPath } from './legacy-path.js'
import { isPlain, readingsOf } from './path-spelling.js'

/** Characters that are read of a path that readers may take differently; no path of the service is a fifth as long. */
const mostCharacters = 1_024

/**
 * The API that some reader could take a path to be of: it answers 401 first, whether the path exists or not. Null for
 * every other path. One that is not read to its end is taken for one of the integration API: reading all of it would
 * cost more than the 401.
 */
export function areaOf(path: string): 'integration' | 'legacy' | null {
  const isCut = !isReadWhole(path)
  const readings = readingsOf(isCut ? path.slice(0, mostCharacters) : path)
  if (isIntegrationPath(readings)) return 'integration'
  if (isLegacyPath(readings)) return 'legacy'
  return isCut ? 'integration' : null
}

/** False for a long path that readers may take differently. */
export function isReadWhole(path: string): boolean {
  return path.length <= mostCharacters || isPlain(path)
}
