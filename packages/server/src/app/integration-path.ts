/** Which paths belong to the integration API, however they are spelled. Source: INTERFACE 5 rule 4. @module */
import { integrationPrefix } from '@payment-integration/contract'

/**
 * True for every path that some reader could take for a path of the integration API: other case, encoded characters (also
 * twice), doubled slashes, backslashes and dot segments. Such a path answers 401 first, whether it exists or not.
 */
export function isIntegrationPath(path: string): boolean {
  let text = path
  for (let round = 0; round < 3 && text.includes('%'); round++) text = decodeLeniently(text)
  const segments = text.replaceAll('\\', '/').split('/').filter(isNamed)
  return [segments, resolveDots(segments)].some((each) =>
    `/${each.join('/')}/`.toLowerCase().includes(`${integrationPrefix}/`),
  )
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
