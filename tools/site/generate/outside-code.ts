/** Changes the text of a Markdown page and leaves its code blocks as they are. @module */

/** Applies `change` to every part of the page outside code blocks. */
export function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/^(```[\s\S]*?^```$)/m)
    .map((part, place) => (place % 2 === 1 ? part : change(part)))
    .join('')
}
