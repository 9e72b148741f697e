/** Formats text for a cell of a Markdown table. @module */

/** One line without bars; empty when there is no text. */
export function cell(text = ''): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()
}
