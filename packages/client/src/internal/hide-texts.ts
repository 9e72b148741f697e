/** Takes secrets out of a text. @module */

/** What stands for each of them. */
const hidden = '[hidden]'

/** The text without any of `secrets`: as they are or as in a URL, in any case. Empty ones are left out. */
export function hideTexts(text: string, secrets: readonly string[]): string {
  const spellings = secrets.filter((each) => each !== '').flatMap((each) => [each, inUrl(each)])
  if (spellings.length === 0) return text
  // The longest first: of two that begin alike, the shorter would leave the end of the other.
  const patterns = spellings
    .sort((a, b) => b.length - a.length)
    .map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return text.replace(new RegExp(patterns.join('|'), 'giu'), hidden)
}

/** Unlike encodeURIComponent, this takes half a surrogate pair. */
function inUrl(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
