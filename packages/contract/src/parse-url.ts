/**
 * Parses an absolute URL, or returns null. It replaces `URL.canParse`, which Node 20 answers wrongly once it is
 * optimised: a URL with a letter such as `ü` is rejected after some thousand calls. `URL.parse` needs Node 22.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/**
 * The problem of a database's address whose user name or password has a sign that ends it early, such as `#` or `/`:
 * the `@` comes too late. A fragment has no meaning for a database, and a `%` that begins no code cannot be decoded.
 * Null: it has none of these. The problem names no part of the address.
 */
export function findDatabaseUrlProblem(value: string): string | null {
  const address = value.replace(/^postgres(?:ql)?:\/\//, '')
  return address === value || isEncoded(value, address)
    ? null
    : 'has a # / ? or % in its user name, password or database; encode it, such as %23 for # and %2F for /.'
}

function isEncoded(value: string, address: string): boolean {
  const end = address.search(/[/?#]/)
  const authority = end === -1 ? address : address.slice(0, end)
  const rest = address.slice(authority.length)
  if (/%(?![0-9a-f]{2})/i.test(authority) || rest.includes('#')) return false
  if (authority.includes('@') || !rest.includes('@')) return true
  // The value of a parameter may hold an @, after a path that holds none.
  return parseUrl(value) !== null && /^\/[^@?]*\?[^@]*=/.test(rest)
}
