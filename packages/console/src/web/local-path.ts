/** Checks where a page sends a browser next. @module */
import { parseUrl } from '@payment-integration/contract'

const origin = 'http://pages.invalid'

/** The path and query if they lead to a page below `base` of this server; else `base`. No open redirect. */
export function localPath(given: string | null | undefined, base: string): string {
  const url = given?.startsWith('/') ? parseUrl(`${origin}${given}`) : null
  if (url === null || url.origin !== origin) return base
  const isBelow = url.pathname === base || url.pathname.startsWith(`${base}/`)
  return isBelow ? `${url.pathname}${url.search}` : base
}
