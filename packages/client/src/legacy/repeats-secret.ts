/** Detects an answer that repeats a secret. @module */

/** A shorter secret may occur in ordinary text such as a memo, and the client would reject true answers. */
const shortestDetected = 16

/** Whether a parsed body holds the secret, in any escaping. Always false for a secret under 16 characters. */
export function repeatsSecret(body: unknown, secret: string): boolean {
  // The body is already parsed, so JSON.stringify escapes body and secret alike.
  return secret.length >= shortestDetected && JSON.stringify(body).includes(JSON.stringify(secret).slice(1, -1))
}
