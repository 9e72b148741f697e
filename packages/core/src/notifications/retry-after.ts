/** Reads the `Retry-After` header of an endpoint. Source: docs/decisions/retries.md; the form is that of RFC 9110 10.2.3. @module */

/**
 * Milliseconds from `now` that a `Retry-After` header asks for, or null when it is absent or malformed.
 * Accepts whole seconds (`120`) and the one date form that RFC 9110 lets a sender write
 * (`Sun, 06 Nov 1994 08:49:37 GMT`); a date in the past is 0. Anything else is ignored, never guessed at.
 * @param now - Unix time in milliseconds.
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^[0-9]+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  // Date.parse takes almost anything; only the exact form survives the way back.
  if (Number.isNaN(at) || new Date(at).toUTCString() !== header) return null
  return Math.max(0, at - now)
}
