/** Finds the secret that made one of the claimed codes. @module */
import { SignatureMismatchError } from '../errors.js'
import type { Hmac, HmacKey } from './hmac.js'
import type { SignatureClaim } from './parse-header.js'

/**
 * One hash per secret; each is compared with every claimed code in constant time. Gives the index of the secret.
 * @throws {@link SignatureMismatchError} `ERR_SIGNATURE_MISMATCH` when none matches.
 */
export async function matchSecret(
  hmac: Hmac,
  keys: readonly HmacKey[],
  claim: SignatureClaim,
  body: Uint8Array,
): Promise<number> {
  for (const [index, key] of keys.entries()) {
    const digest = await hmac.digest(key, claim.timestamp, body)
    if (claim.candidates.some((candidate) => hmac.equal(candidate, digest))) return index
  }
  throw new SignatureMismatchError()
}
