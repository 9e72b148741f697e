/** Decides whether a path lies below a prefix, in any spelling. Source: docs/interface.md 5 rule 4. @module */
import { unescape as unescapeLeniently } from 'node:querystring'

/**
 * A path that every parser reads alike except for its case. Nearly every request has one, so it skips the work below.
 */
const plain = /^(?:\/[A-Za-z0-9_-]+)+$/

/**
 * Every reading of a path by some parser: other case, encoded characters (also twice), doubled slashes, backslashes,
 * dot segments and segment parameters (`/a;b/`). Each begins and ends with a slash.
 */
export function readingsOf(path: string): readonly string[] {
  if (plain.test(path)) return [`${path}/`.toLowerCase()]
  let text = path
  for (let round = 0; round < 3 && text.includes('%'); round++) text = unescapeLeniently(text)
  const segments = text
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .split('/')
    .filter(isNamed)
  return [segments, resolveDots(segments)].map((each) => `/${each.join('/')}/`.toLowerCase())
}

/**
 * Whether a path lies below a prefix in one of its readings.
 * @param prefix - In lower case, without a slash at the end.
 */
export function isBelow(readings: readonly string[], prefix: string): boolean {
  return readings.some((each) => each.includes(`${prefix}/`))
}

/** True for a path that every parser reads alike. */
export function isPlain(path: string): boolean {
  return plain.test(path)
}

function isNamed(segment: string): boolean {
  return segment !== ''
}

function resolveDots(segments: readonly string[]): string[] {
  const resolved: string[] = []
  for (const segment of segments) {
    if (segment === '..') resolved.pop()
    else if (segment !== '.') resolved.push(segment)
  }
  return resolved
}
