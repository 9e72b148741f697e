/** Parses the request target into a path. Source: RFC 9112 section 3.2; docs/interface.md 5 rule 4. @module */
import { integrationPrefix, parseUrl } from '@payment-integration/contract'
import { areaOf, isReadWhole } from '../app/area.js'
import { unreadableLegacyPath } from '../app/legacy-path.js'
import { isPlain } from '../app/path-spelling.js'

/**
 * `http://host` or `https://host`, followed only by a path or a query. User information in it would mislead a reader.
 */
const origin = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i

/** A backslash, which some parsers read as a slash, or a dot segment; both also encoded. */
const unreadable = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * Path and query of a request target in origin form (`/path`) or absolute form (`http://host/path`). Servers must
 * accept both. The host is ignored, like the Host header. Null for any other form, and for a path that is unreadable,
 * has dot segments, or is long and not plain. A proxy that guards paths may resolve those differently. A target that
 * some parser could assign to the integration or legacy API must get a 401 first. It becomes a path there that does not
 * exist.
 */
export function readTarget(target: string): string | null {
  if (isPlain(target)) return target
  const path = withoutOrigin(target)
  if (isReadable(path)) return path
  switch (areaOf(target)) {
    case 'integration':
      return `${integrationPrefix}/unreadable`
    case 'legacy':
      return unreadableLegacyPath
    case null:
      return null
  }
}

function withoutOrigin(target: string): string {
  const [start, host] = origin.exec(target) ?? []
  if (start === undefined || parseUrl(`http://${host}`) === null) return target
  const path = target.slice(start.length)
  return path.startsWith('/') ? path : `/${path}`
}

function isReadable(path: string): boolean {
  const [withoutQuery = ''] = path.split(/[?#]/, 1)
  return (
    path.startsWith('/') &&
    isReadWhole(withoutQuery) &&
    !unreadable.test(withoutQuery) &&
    parseUrl(`http://localhost${path}`) !== null
  )
}
