/** Formats URLs for the audit log. Source: docs/decisions/audit.md. @module */
import { createHmac } from 'node:crypto'
import type { KeyVersion } from '../secrets/master-key.js'

/** Hex digits of a fingerprint: enough to distinguish the URLs of one integration. */
const fingerprintLength = 12

/**
 * The origin of a URL. If more follows, a keyed fingerprint of the whole URL is added in brackets: path, query and
 * credentials may contain a secret, but a change of them must be visible. Null stays null.
 */
export function shownUrl(key: KeyVersion, url: string | null): string | null {
  if (url === null) return null
  const origin = originOf(url)
  if (url === origin || url === `${origin}/`) return url
  const digest = createHmac('sha256', key.derive('audit-url')).update(url, 'utf8').digest('hex')
  return `${origin}/[${digest.slice(0, fingerprintLength)}]`
}

function originOf(url: string): string {
  try {
    return new URL(url).origin
  } catch {
    return 'unreadable'
  }
}
