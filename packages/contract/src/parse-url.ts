/**
 * Parses an absolute URL, or returns null. It replaces `URL.canParse`, which Node 20 answers wrongly once it is
 * optimised: a URL with a letter such as `ü` is refused after some thousand calls. `URL.parse` needs Node 22.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}
