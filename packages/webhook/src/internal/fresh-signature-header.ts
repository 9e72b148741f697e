/**
 * Parses the signature header and compares its time with the clock. Source:
 * docs/interface.md 6, signature rules 3 and 5.
 * @module
 */
import { createRejection, type WebhookError } from '../errors.js'

/** A well-formed and fresh header. */
export interface FreshHeader {
  /** Distinguishes a header from a rejection. */
  readonly code?: undefined
  /** The `v1` codes, 64 lowercase hex digits each. */
  readonly codes: readonly string[]
  /** The header's `t`: unix time in whole seconds. It has no leading zero, so its digits are the signed ones. */
  readonly signedAt: number
  /** Seconds from `t` to the time of receipt; negative when `t` is ahead. */
  readonly ageSeconds: number
}

/**
 * Parses `t=<unix seconds>,v1=<hex>[,v1=<hex>][,<unknown>=<anything>]`, and rejects a `t` that is not fresh.
 * A rejection is returned, not thrown: strangers cause most of them, and V8 takes longer to throw than to parse.
 * @param receivedAt - Milliseconds since the epoch.
 */
export function parseFreshHeader(
  header: string | null | undefined,
  receivedAt: number,
  toleranceSeconds: number,
): FreshHeader | WebhookError {
  // The service's own header has 80 characters. A header above this limit is not even trimmed.
  if (header && header.length > 4096) return createRejection('ERR_SIGNATURE_MALFORMED', 400)
  if (!header?.trim()) return createRejection('ERR_SIGNATURE_MISSING', 401)
  const times: string[] = []
  const codes: string[] = []
  // Matches one field and the comma after it: `t`, `v1`, or another name, whose value does not matter. Proxies may join
  // repeated headers with spaces and tabs. No character is matched twice, so the time grows with the header's length.
  // The length of a code is checked below: in the pattern, a wrong length would make the match start over.
  const fieldForm = /[ \t]*(?:(?:t=(0|[1-9]\d{0,11})|v1=([\da-f]+))[ \t]*|(?!t=|v1=)[^\s=,]+=[^,]*)(,|$)/y
  let field: RegExpExecArray | null
  do {
    field = fieldForm.exec(header)
    if (field?.[1]) times.push(field[1])
    if (field?.[2]) codes.push(field[2])
  } while (field?.[3])
  // A ninth code is rejected, because each costs one comparison per secret.
  if (!field || codes.length > 8 || codes.some((code) => code.length !== 64) || times.length !== 1)
    return createRejection('ERR_SIGNATURE_MALFORMED', 400)
  if (!codes[0]) return createRejection('ERR_SIGNATURE_SCHEME', 400)

  const signedAt = Number(times[0])
  const ageSeconds = Math.floor(receivedAt / 1000 - signedAt)
  // A header is never fresh if its age or the tolerance is not a finite number.
  return toleranceSeconds < Infinity && Math.abs(ageSeconds) <= toleranceSeconds
    ? { codes, signedAt, ageSeconds }
    : createRejection(ageSeconds > 0 ? 'ERR_DELIVERY_STALE' : 'ERR_DELIVERY_FUTURE', 400, { ageSeconds })
}
