/** Makes text of the request safe to show: no secret, no control character, and short. @module */

/** Shows a text from outside. */
export type ShowText = (text: string) => string

const longest = 60
/** Shorter secrets are words that any text may contain. */
const shortestSecret = 4

/** Creates a function that shows text from outside without any of `secrets`. */
export function createShowText(secrets: readonly string[]): ShowText {
  const hidden = [...new Set(secrets.flatMap((secret) => [secret, secret.trim()]))]
    .filter((secret) => secret.length >= shortestSecret)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    // A secret is looked for before the text is cut, or its beginning would remain.
    if (hidden.some((secret) => text.includes(secret))) return '(hidden: it contains a secret)'
    const head = text.slice(0, longest * 2).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
    return head.length > longest ? `${head.slice(0, longest)}… (${text.length} characters)` : head
  }
}

/** The first names of a list, shown, with the number of the others. */
export function listed(names: readonly string[], show: ShowText, most = 8): string {
  const rest = names.length - most
  return `${names.slice(0, most).map(show).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
