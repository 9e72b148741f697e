/** URLs in texts that may be shown. @module */

/** Characters of a text that are read and kept: enough for ten frames of a stack. */
const mostCharacters = 4_096
/**
 * A URL, whose user information may hold the quotes that end it elsewhere. The bounds keep the search linear, and no
 * scheme or password that is in use is longer.
 */
const anyUrl = /[a-z][a-z0-9+.-]{0,31}:\/\/(?:[^\s/?#]{0,256}@)?[^\s"'<>]*/gi
/** A host with or without a port. */
const host = /^(?:[^:[\]]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i

/**
 * Keeps scheme and host of every URL in a text: credentials, path and query may hold keys. Where no host can be told
 * from them, only the scheme is kept. A text that is too long is cut, and a URL that the cut goes through is left out.
 */
export function shortenUrls(text: string): string {
  const isCut = text.length > mostCharacters
  const shown = (isCut ? cut(text) : text).replace(anyUrl, shortUrl)
  return isCut ? `${shown}…` : shown
}

/**
 * The beginning of a text, without a URL that the cut may go through: what it holds before an `@` that is cut off may
 * be a password.
 */
function cut(text: string): string {
  const read = text.slice(0, mostCharacters)
  let word = read.length
  while (word > 0 && !/\s/.test(read.charAt(word - 1))) word -= 1
  const url = read.indexOf('://', word)
  return url === -1 ? read : read.slice(0, url)
}

function shortUrl(url: string): string {
  const start = url.indexOf('://') + 3
  const [authority = ''] = url.slice(start).split(/[/?#]/, 1)
  const shown = authority.slice(authority.lastIndexOf('@') + 1)
  return `${url.slice(0, start)}${host.test(shown) ? shown : ''}`
}
