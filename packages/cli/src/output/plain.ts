/** Text of others on a terminal. @module */

/** One line of a text that somebody else wrote: what could move the cursor or change colours becomes a space. */
export function plain(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
}
