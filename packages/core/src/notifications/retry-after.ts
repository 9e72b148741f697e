/** Parses `Retry-After` (RFC 9110 10.2.3). See docs/decisions/retries.md. @module */

/**
 * Milliseconds from `now`, or null when the header is absent or malformed. Accepts whole seconds (`120`) and the one
 * date form that a sender may write (`Sun, 06 Nov 1994 08:49:37 GMT`). A date in the past is 0.
 * @param now - Unix time in milliseconds.
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^[0-9]+$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  // Date.parse accepts almost anything; only the exact form formats back to itself.
  if (Number.isNaN(at) || new Date(at).toUTCString() !== header) return null
  return Math.max(0, at - now)
}
