/** Replaces secrets in a text. @module */

const hidden = '[hidden]'

/** Replaces each of `secrets`, plain or as in a URL or in JSON, in any case. Ignores empty secrets. */
export function hideTexts(text: string, secrets: readonly string[]): string {
  const spellings = secrets
    .filter((each) => each !== '')
    .flatMap((each) => [each, inUrl(each), JSON.stringify(each).slice(1, -1)])
  if (spellings.length === 0) return text
  // Longest first: a shorter secret that begins alike would leave the end of the longer one.
  const patterns = spellings
    .sort((a, b) => b.length - a.length)
    .map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return text.replace(new RegExp(patterns.join('|'), 'giu'), hidden)
}

/** Unlike encodeURIComponent, this accepts half a surrogate pair. */
function inUrl(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
