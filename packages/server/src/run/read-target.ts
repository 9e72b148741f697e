/** The path that a request asks for. Source: RFC 9112 section 3.2; docs/interface.md 5 rule 4. @module */
import { integrationPrefix } from '@payment-integration/contract'
import { areaOf, isReadWhole } from '../app/area.js'
import { unreadableLegacyPath } from '../app/legacy-path.js'
import { isPlain } from '../app/path-spelling.js'

/**
 * `http://host` or `https://host`, with nothing but a path or a query after it. A user in it would be an attempt to
 * mislead.
 */
const origin = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i

/** A backslash, which some readers take for a slash, or a segment of one or two dots, each also encoded. */
const unreadable = /\\|\/(?:\.|%2e){1,2}(?:\/|$)/i

/**
 * Path and query of a request target in origin form (`/path`) or absolute form (`http://host/path`), which every server
 * must accept; its host counts as little as the Host header, because no answer depends on it. Null for any other form,
 * and for a path that cannot be read, has dot segments, or is long and not plain: a proxy that guards paths may resolve
 * them differently. Only where some reader could take the target for a path of the integration or the legacy API it
 * still owes its caller a 401 first, and becomes a path there that exists nowhere.
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
  if (start === undefined || !URL.canParse(`http://${host}`)) return target
  const path = target.slice(start.length)
  return path.startsWith('/') ? path : `/${path}`
}

function isReadable(path: string): boolean {
  const [withoutQuery = ''] = path.split(/[?#]/, 1)
  return (
    path.startsWith('/') &&
    isReadWhole(withoutQuery) &&
    !unreadable.test(withoutQuery) &&
    URL.canParse(`http://localhost${path}`)
  )
}
