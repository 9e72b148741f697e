/** The shared vectors of the identity provider's signatures. @module */
import { getVerdict, toBytes } from './verdict.mjs'

/** Most webhooks of the vectors hold no event. If only the content is rejected, the digest was accepted. */
const accepted = ['ok', 'ERR_PROVIDER_WEBHOOK_MALFORMED']

export async function* identityVectors({ identity, identityService }, { vectors }) {
  for (const { name, body, signature, secretKey, timestamp, method, uri } of vectors.identity.requests) {
    const computed = await identity.computeRequestSignature({ secretKey, timestamp, method, uri, body: toBytes(body) })
    yield `${computed === signature ? 'right' : 'WRONG'} ${name}: ${computed}`
  }
  for (const { name, secret, algorithm, digest, body } of vectors.identity.webhooks) {
    const read = identityService.createWebhookReader({ secret })
    const { verdict } = await getVerdict(read({ algorithm, digest, body: toBytes(body) }))
    // SHA-1 is rejected by name: a verifier must not accept it from a header.
    const isRight = algorithm === 'HMAC_SHA1_HEX' ? !accepted.includes(verdict) : accepted.includes(verdict)
    yield `${isRight ? 'right' : 'WRONG'} ${name}: ${verdict}`
    const changed = toBytes(body)
    const other = await getVerdict(read({ algorithm, digest, body: Uint8Array.from([...changed, 32]) }))
    yield `${accepted.includes(other.verdict) ? 'WRONG' : 'right'} ${name}, with one byte more: ${other.verdict}`
  }
}
