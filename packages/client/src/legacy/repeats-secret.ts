/** Finds a secret in what an answer says. @module */

/** A shorter secret would be found in ordinary words, such as a memo, and true answers would be refused for it. */
const shortestFound = 16

/** Whether a parsed body holds the secret, however it was escaped. Always false for a secret shorter than 16 characters. */
export function repeatsSecret(body: unknown, secret: string): boolean {
  // Parsing has undone every escape and writing makes one spelling of it, the same for the body as for the secret.
  return secret.length >= shortestFound && JSON.stringify(body).includes(JSON.stringify(secret).slice(1, -1))
}
