/**
 * The shared vectors of the signature, each as `name: verdict`: through the whole verifier, and through its core.
 * @module
 */
import { getVerdict, toBytes } from './verdict.mjs'

export async function* signatureVectors({ webhook, core }, { vectors }) {
  for (const vector of vectors.signature) {
    const { name, secrets, body, header, nowMs, toleranceSeconds, expect, secretIndex, ageSeconds } = vector
    const compare = async (way, verified) => {
      const { verdict, value } = await getVerdict(verified)
      const isRight =
        verdict === expect &&
        (secretIndex === undefined || value?.secretIndex === secretIndex) &&
        (ageSeconds === undefined || value?.ageSeconds === ageSeconds)
      return `${isRight ? 'right' : 'WRONG'} ${name}${way}: ${verdict} ${value?.secretIndex ?? ''} ${value?.ageSeconds ?? ''}`
    }
    const input = { body: toBytes(body), header, toleranceSeconds }
    yield await compare('', webhook.verifySignature({ ...input, secrets, clock: { now: () => nowMs } }))
    const keys = secrets.map((secret) => core.signingKey(secret))
    yield await compare(', by the core', core.verifyBytes({ ...input, keys, receivedAt: nowMs }))
  }
}
