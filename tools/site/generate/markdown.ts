/** Reads and changes the text of Markdown pages. @module */

/** The first heading, as plain text; the route when there is none. */
export function getTitle(route: string, text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '').replaceAll('\\', '') ?? route
}

/** Text for a cell of a table: one line without bars; empty when there is no text. */
export function toCell(text = ''): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()
}

/** Applies `change` to every part of the page outside code blocks. */
export function mapProse(text: string, change: (part: string) => string): string {
  return text
    .split(/^(```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('')
}
