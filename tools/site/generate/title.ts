/** Finds the title of a page. @module */

/** The first heading, as plain text; the route when there is none. */
export function getTitle(route: string, text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '').replaceAll('\\', '') ?? route
}
