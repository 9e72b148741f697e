/** Formats HTTP Basic credentials without Buffer, for every runtime. Source: docs/interface.md 5 rules 1, 2. @module */

/**
 * The value of `Authorization` for a username and a password, encoded as UTF-8.
 * @param username - Must not contain a colon; the caller has checked it.
 */
export function basicAuthorization(username: string, password: string): string {
  let binary = ''
  // One character per byte: btoa rejects characters above 255. Spreading a long array overflows the stack.
  for (const byte of new TextEncoder().encode(`${username}:${password}`)) binary += String.fromCharCode(byte)
  return `Basic ${btoa(binary)}`
}
