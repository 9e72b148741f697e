/** URLs in texts that may be shown. @module */

/** Keeps scheme and host of every URL in a text: credentials, path and query may hold keys. */
export function shortenUrls(text: string): string {
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#@]*@)?([^\s/?#"'<>]+)[^\s"'<>]*/gi, '$1$2')
}
