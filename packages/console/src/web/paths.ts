/** Paths and addresses of one set of pages. @module */

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
