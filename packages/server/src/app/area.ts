/** Decides which API any spelling of a path belongs to. Source: docs/interface.md 4.3, 5. @module */
import { unescape as unescapeLeniently } from 'node:querystring'
import { paths } from '@payment-integration/contract'
import { integrationPrefix } from '@payment-integration/contract/internal'

/** A path that all parsers read alike, except for its case. Most requests have one and skip the work below. */
const plainPattern = /^(?:\/[A-Za-z0-9_-]+)+$/

export const isUnambiguousPath = (path: string): boolean => plainPattern.test(path)

/**
 * Lists every reading of a path: other case, encoded characters (also twice), doubled slashes, backslashes, dot
 * segments and segment parameters (`/a;b/`). Each begins and ends with a slash.
 */
export function listPathInterpretations(path: string): readonly string[] {
  if (plainPattern.test(path)) return [`${path}/`.toLowerCase()]
  let text = path
  for (let round = 0; round < 3 && text.includes('%'); round++) text = unescapeLeniently(text)
  const segments = text
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .split('/')
    .filter((segment) => segment !== '')
  return [segments, resolveDots(segments)].map((each) => `/${each.join('/')}/`.toLowerCase())
}

/**
 * Whether a path lies below a prefix in one of its readings.
 * @param prefix - In lower case, without a slash at the end.
 */
function isBelow(readings: readonly string[], prefix: string): boolean {
  return readings.some((each) => each.includes(`${prefix}/`))
}

function resolveDots(segments: readonly string[]): string[] {
  const resolved: string[] = []
  for (const segment of segments) {
    if (segment === '..') resolved.pop()
    else if (segment !== '.') resolved.push(segment)
  }
  return resolved
}

/** The part of the look-up's path before its parameters. */
const lookupPrefix = paths.legacyLookup.slice(0, paths.legacyLookup.indexOf('/:'))

/** Paths that do not exist. They replace an unreadable target whose caller must still get a 401. */
export const unreadablePaths = {
  integration: `${integrationPrefix}/unreadable`,
  legacy: `${lookupPrefix}/unreadable`,
} as const

/** The most characters of an ambiguous path that are read. Paths of the service are at most a fifth as long. */
const maxCharacters = 1_024

/**
 * The API that some parser could assign a path to. That API answers 401 first, whether the path exists or not. Null
 * for every other path. A long ambiguous path counts as the integration API, because reading the whole path would cost
 * more than the 401.
 */
export function findArea(path: string): 'integration' | 'legacy' | null {
  const isCut = !isFullyChecked(path)
  const readings = listPathInterpretations(isCut ? path.slice(0, maxCharacters) : path)
  if (isBelow(readings, integrationPrefix)) return 'integration'
  if (isBelow(readings, lookupPrefix) || isBelow(readings, paths.legacyVerify)) return 'legacy'
  return isCut ? 'integration' : null
}

/** False for a long path that parsers may read differently. */
export function isFullyChecked(path: string): boolean {
  return path.length <= maxCharacters || isUnambiguousPath(path)
}
