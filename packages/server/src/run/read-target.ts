/** The path that a request asks for. Source: RFC 9112 section 3.2; INTERFACE 5 rule 4. @module */
import { integrationPrefix } from '@payment-integration/contract'
import { isIntegrationPath } from '../app/integration-path.js'

/** `http://host` or `https://host`, with nothing but a path or a query after it. A user in it would be an attempt to mislead. */
const origin = /^https?:\/\/([^/?#@\\]+)(?=[/?]|$)/i

/**
 * Path and query of a request target in origin form (`/path`) or absolute form (`http://host/path`), which every server must
 * accept; its host counts as little as the Host header, because no answer depends on it. Null for any other form and for a
 * path that cannot be read, unless some reader could take it for a path of the integration API: such a target still owes its
 * caller a 401 first, and becomes a path below the prefix that exists nowhere.
 */
export function readTarget(target: string): string | null {
  const path = withoutOrigin(target)
  if (isReadable(path)) return path
  return isIntegrationPath(target) ? `${integrationPrefix}/unreadable` : null
}

function withoutOrigin(target: string): string {
  const [start, host] = origin.exec(target) ?? []
  if (start === undefined || !URL.canParse(`http://${host}`)) return target
  const path = target.slice(start.length)
  return path.startsWith('/') ? path : `/${path}`
}

function isReadable(path: string): boolean {
  return path.startsWith('/') && !path.split('?', 1)[0]?.includes('\\') && URL.canParse(`http://localhost${path}`)
}
