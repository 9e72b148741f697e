/** The signature header, strictly, and the time in it. Source: INTERFACE 6, signature rules 3 and 5. @module */
import { refusal, type WebhookError } from '../errors.js'

/** What a well-formed, recent header claims. */
export interface SignatureClaim {
  /** Tells it from a refusal. */
  readonly code?: undefined
  /** The `v1` codes, 64 lowercase hex digits each. */
  readonly codes: readonly string[]
  readonly proof: {
    /** The header's `t`: unix time in whole seconds. Written out it is what was hashed, because a leading zero is refused. */
    readonly signedAt: number
    /** Seconds from `t` to the time of receipt; negative when `t` is ahead. */
    readonly ageSeconds: number
  }
}

/**
 * Reads `t=<unix seconds>,v1=<hex>[,v1=<hex>][,<unknown>=<anything>]`, and compares `t` with the time of receipt, on both sides.
 * A time of receipt or a tolerance that is no finite number accepts nothing. A refusal is given back, not thrown: strangers cause most of them,
 * and in V8 a throw out of a nested call takes longer than all of this.
 */
export function readClaim(
  header: string | null | undefined,
  receivedAt: number,
  toleranceSeconds: number,
): SignatureClaim | WebhookError {
  // A header of more than 4096 characters is refused unread, before anything looks for its blanks; the service's own has 80.
  const text = header?.[4096] ? 't' : header
  if (!text?.trim()) return refusal('ERR_SIGNATURE_MISSING', 401)
  const codes: string[] = []
  // One field and the comma after it: `t`, `v1`, or any other name, whose content is not looked at. Spaces and tabs around a field are
  // allowed, because HTTP lets proxies join repeated headers with them. Nothing is matched twice, so that the time grows with the length:
  // anybody may send a header of blanks. How long a code is, is compared below: in here, a wrong one would cost twice the time.
  const fieldForm = /[ \t]*(?:(?:t=(0|[1-9]\d{0,11})|v1=([\da-f]+))[ \t]*|(?!t=|v1=)[^\s=,]+=[^,]*)(,|$)/y
  let field: RegExpExecArray | null
  let timestamp: string | undefined
  let another: string | undefined
  // biome-ignore lint/suspicious/noAssignInExpressions: written apart, the loop takes two bytes more.
  while ((field = fieldForm.exec(text))) {
    if (field[1]) {
      another = timestamp
      timestamp = field[1]
    }
    if (field[2]) codes.push(field[2])
    if (!field[3]) break
  }
  // A ninth code is refused: each may cost one comparison per secret.
  if (!field || !timestamp || another || codes[8] || codes.some((code) => code.length - 64))
    return refusal('ERR_SIGNATURE_MALFORMED', 400)
  if (!codes[0]) return refusal('ERR_SIGNATURE_SCHEME', 400)

  const signedAt = +timestamp
  const ageSeconds = Math.floor(receivedAt / 1000 - signedAt)
  // The remainder of Infinity is no number.
  if (toleranceSeconds % Infinity >= Math.abs(ageSeconds)) return { codes, proof: { signedAt, ageSeconds } }
  return refusal(ageSeconds > 0 ? 'ERR_DELIVERY_STALE' : 'ERR_DELIVERY_FUTURE', 400, { ageSeconds })
}
