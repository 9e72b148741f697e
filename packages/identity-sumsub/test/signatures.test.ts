import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { computeRequestSignature } from '../src/exports/index.js'
import { createWebhookReader } from '../src/exports/service.js'

const file = new URL('../../../vectors/identity-signatures.json', import.meta.url)
interface Vector {
  readonly name: string
  readonly published: boolean
  readonly body: string
}
type RequestVector = Vector &
  Record<'secretKey' | 'method' | 'uri' | 'signature', string> & { readonly timestamp: number }
type WebhookVector = Vector & Record<'secret' | 'algorithm' | 'digest', string>
const vectors = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly requests: readonly RequestVector[]
  readonly webhooks: readonly WebhookVector[]
}
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
/** Errors after an accepted digest: most vectors do not sign an event. */
const accepted = [undefined, 'ERR_PROVIDER_WEBHOOK_MALFORMED']

describe('request signatures made by OpenSSL', () => {
  test.each(vectors.requests)('$name', async ({ body, signature, ...request }) => {
    expect(await computeRequestSignature({ ...request, body: bytes(body) })).toBe(signature)
  })

  test('an absent body is signed like an empty one', async () => {
    const request = { secretKey: 'k', timestamp: 1, method: 'GET', uri: '/' }
    expect(await computeRequestSignature(request)).toBe(
      await computeRequestSignature({ ...request, body: new Uint8Array(0) }),
    )
  })

  test('one was published by an independent client', () => {
    expect(vectors.requests.filter(({ published }) => published)).toHaveLength(1)
  })
})

describe('webhook digests made by OpenSSL', () => {
  const getCode = async ({ secret, algorithm, digest, body }: WebhookVector) => {
    const read = createWebhookReader({ secret })({ algorithm, digest, body: bytes(body) })
    return read.then(() => undefined).catch((error: { code?: string }) => error.code)
  }
  const sha2 = vectors.webhooks.filter(({ algorithm }) => algorithm !== 'HMAC_SHA1_HEX')
  const sha1 = vectors.webhooks.filter(({ algorithm }) => algorithm === 'HMAC_SHA1_HEX')

  test.each(sha2)('$name is accepted', async (vector) => expect(accepted).toContain(await getCode(vector)))

  test.each(sha2)('$name is not accepted with any bit of its digest flipped', async (vector) => {
    for (let at = 0; at < vector.digest.length; at++)
      for (const bit of [1, 2, 4, 8]) {
        const flipped = (Number.parseInt(vector.digest[at] ?? '', 16) ^ bit).toString(16)
        const digest = vector.digest.slice(0, at) + flipped + vector.digest.slice(at + 1)
        expect(await getCode({ ...vector, digest })).toBe('ERR_PROVIDER_WEBHOOK_FORGED')
      }
  })

  test.each(sha1)('$name, is rejected: SHA-1 is not accepted', async (vector) => {
    expect(await getCode(vector)).toBe('ERR_PROVIDER_WEBHOOK_UNSIGNED')
  })
})
