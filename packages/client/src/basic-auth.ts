/** HTTP Basic credentials without Buffer, so that every runtime with `btoa` can make them. Source: docs/interface.md 5 rules 1, 2. @module */

/**
 * The value of `Authorization` for a username and a password, encoded as UTF-8.
 * @param username - Must not contain a colon; the caller has checked it.
 */
export function basicAuthorization(username: string, password: string): string {
  let binary = ''
  // One character per byte: btoa refuses characters above 255, and spreading a long array overflows the stack.
  for (const byte of new TextEncoder().encode(`${username}:${password}`)) binary += String.fromCharCode(byte)
  return `Basic ${btoa(binary)}`
}
