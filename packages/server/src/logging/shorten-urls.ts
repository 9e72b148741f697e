/** Shortens URLs in texts for display. @module */

/** Longest text that is shown, in characters: enough for ten stack frames. */
const mostCharacters = 4_096
/**
 * A URL. Its user information may hold quotes, which end it elsewhere. The bounds keep the search linear; no scheme or
 * password in use is longer.
 */
const anyUrl = /[a-z][a-z0-9+.-]{0,31}:\/\/(?:[^\s/?#]{0,256}@)?[^\s"'<>]*/gi
/** A host with or without a port. */
const host = /^(?:[^:[\]]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/i

/**
 * Keeps only scheme and host of every URL in a text: credentials, path and query may hold keys. Without a recognisable
 * host only the scheme stays. A text that is too long is cut, and a URL at the cut is dropped.
 */
export function shortenUrls(text: string): string {
  const isCut = text.length > mostCharacters
  const shown = (isCut ? cut(text) : text).replace(anyUrl, shortUrl)
  return isCut ? `${shown}…` : shown
}

/** The beginning of a text, without a URL at the cut: its part before a lost `@` may be a password. */
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
