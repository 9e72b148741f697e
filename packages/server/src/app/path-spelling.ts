/** Which prefix a path lies below, however it is spelled. Source: INTERFACE 5 rule 4. @module */

/** A path that every reader reads alike but for its case. Nearly every request has one, so it is answered without the work below. */
const plain = /^(?:\/[A-Za-z0-9_-]+)+$/

/**
 * True for every path that some reader could take for one below `prefix`: other case, encoded characters (also twice), doubled
 * slashes, backslashes, dot segments and parameters of segments (`/a;b/`).
 * @param prefix - In lower case, without a slash at the end.
 */
export function couldBeBelow(path: string, prefix: string): boolean {
  if (plain.test(path)) return `${path}/`.toLowerCase().includes(`${prefix}/`)
  let text = path
  for (let round = 0; round < 3 && text.includes('%'); round++) text = decodeLeniently(text)
  const segments = text
    .replaceAll('\\', '/')
    .replace(/;[^/]*/g, '')
    .split('/')
    .filter(isNamed)
  return [segments, resolveDots(segments)].some((each) => `/${each.join('/')}/`.toLowerCase().includes(`${prefix}/`))
}

/** True for a path without anything that two readers may take differently. */
export function isPlain(path: string): boolean {
  return plain.test(path)
}

function isNamed(segment: string): boolean {
  return segment !== ''
}

function decodeLeniently(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escaped) => String.fromCharCode(Number.parseInt(escaped.slice(1), 16)))
}

function resolveDots(segments: readonly string[]): string[] {
  const kept: string[] = []
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  return kept
}
