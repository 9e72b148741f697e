/** Paths and addresses of one set of pages. @module */
import { parseUrl } from '@payment-integration/contract'

/** Builds addresses below a path, such as `/console`. Parameters without a value are left out. */
export function linksBelow(mountedAt: string) {
  return (path: string, parameters: Readonly<Record<string, string | number | null | undefined>> = {}): string => {
    const given = Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined || value === null || value === '' ? [] : [[name, String(value)] satisfies [string, string]],
    )
    return given.length === 0 ? `${mountedAt}${path}` : `${mountedAt}${path}?${new URLSearchParams(given)}`
  }
}

/** The path of a request below that one, decoded, without a slash at its end. */
export function pathBelow(url: string, mountedAt: string): string {
  const path = new URL(url).pathname.slice(mountedAt.length).replace(/\/$/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const origin = 'http://pages.invalid'

/** The path and query if they lead to a page below `base` of this server; else `base`. No open redirect. */
export function localPath(given: string | null | undefined, base: string): string {
  const url = given?.startsWith('/') ? parseUrl(`${origin}${given}`) : null
  if (url === null || url.origin !== origin) return base
  const isBelow = url.pathname === base || url.pathname.startsWith(`${base}/`)
  return isBelow ? `${url.pathname}${url.search}` : base
}
