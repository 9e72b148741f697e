/** Verifies each shared vector of a delivery, as bytes with headers and as a `Request` of the runtime. @module */
import { getVerdict, toBytes } from './verdict.mjs'

export async function* deliveryVectors({ webhook }, { vectors }) {
  for (const { name, secrets, headers, body, nowMs, expect } of vectors.deliveries) {
    const bytes = toBytes(body)
    const clock = { now: () => nowMs }
    const { verify } = webhook.createVerifier({ secrets: (integration) => secrets[integration], clock })
    const request = new Request('http://127.0.0.1/', { method: 'POST', headers, body: bytes })
    for (const [way, delivery] of [
      ['', { body: bytes, headers }],
      [', as a request', request],
    ]) {
      const { verdict } = await getVerdict(verify(delivery))
      yield `${verdict === expect ? 'right' : 'WRONG'} ${name}${way}: ${verdict}`
    }
  }
}
