/** URLs as the audit log keeps them. @module */

/** Origin and path of a URL: its query, fragment and credentials may hold a secret. Null stays null. */
export function shownUrl(url: string | null): string | null {
  if (url === null) return null
  try {
    const { origin, pathname } = new URL(url)
    return `${origin}${pathname}`
  } catch {
    return 'unreadable'
  }
}
