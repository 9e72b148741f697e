/** The published vectors, on both primitives. */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import * as chosen from '#hmac'
import { isWebhookRejection } from './errors.js'
import * as node from './internal/hmac.node.js'
import * as web from './internal/hmac.web.js'

type Vector = Record<'name' | 'body' | 'expect', string> & { nowMs: number }
type SignatureVector = Vector &
  Partial<Record<'secretIndex' | 'ageSeconds', number>> & {
    secrets: string[]
    header: string | null
    toleranceSeconds: number
  }
type DeliveryVector = Vector & { secrets: Record<string, string[]>; headers: [string, string][]; field?: string }

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../vectors/${name}.json`, import.meta.url), 'utf8'))
const signatures = read('signature') as SignatureVector[]
const deliveries = read('deliveries') as DeliveryVector[]
const getOutcome = (verdict: Promise<unknown>): Promise<unknown> => verdict.catch((reason: unknown) => reason)

test('there are at least 100 vectors with distinct names', () => {
  expect(new Set(signatures.map(({ name }) => name)).size).toBe(signatures.length)
  expect(signatures.length).toBeGreaterThanOrEqual(100)
})

test('Node runs on the node:crypto primitive', () => expect(chosen.findMatchingKey).toBe(node.findMatchingKey))

describe.each(Object.entries({ 'node:crypto': node, 'Web Crypto': web }))('on %s', (_, primitive) => {
  let createVerifier: typeof import('./create-verifier.js').createVerifier
  let verifySignature: typeof import('./verify-signature.js').verifySignature
  let verifyBytes: typeof import('./verify-signature.js').verifyBytes
  beforeAll(async () => {
    vi.resetModules()
    vi.doMock('#hmac', () => primitive)
    ;({ createVerifier } = await import('./create-verifier.js'))
    ;({ verifySignature, verifyBytes } = await import('./verify-signature.js'))
    return () => vi.doUnmock('#hmac')
  })

  test.each(signatures)('$name: $expect', async ({ expect: expected, secretIndex, ageSeconds, ...vector }) => {
    const { secrets, header, toleranceSeconds, nowMs } = vector
    const body = Buffer.from(vector.body, 'base64')
    const keys = secrets.map(primitive.signingKey)
    for (const verdict of [
      () => verifySignature({ body, header, secrets, toleranceSeconds, clock: { now: () => nowMs } }),
      () => verifyBytes({ body, header, keys, toleranceSeconds, receivedAt: nowMs }),
    ]) {
      const outcome = await getOutcome(verdict())
      expect(isWebhookRejection(outcome)).toBe(expected !== 'ok')
      expect(outcome).toMatchObject(expected === 'ok' ? { secretIndex } : { code: expected })
      if (expected === 'ok' && ageSeconds !== undefined) expect(outcome).toMatchObject({ ageSeconds })
    }
  })

  test.each(deliveries)('$name: $expect', async ({ secrets, headers, nowMs, expect: expected, field, ...vector }) => {
    const body = Buffer.from(vector.body, 'base64')
    const { verify } = createVerifier({ secrets: (integration) => secrets[integration], clock: { now: () => nowMs } })
    const request = new Request('http://127.0.0.1/', { method: 'POST', headers, body })
    for (const delivery of [{ body, headers }, request]) {
      const outcome = await getOutcome(verify(delivery))
      expect(isWebhookRejection(outcome)).toBe(expected !== 'ok')
      if (expected === 'ok')
        expect(outcome).toMatchObject({ snapshot: JSON.parse(body.toString()), secretIndex: 0, ageSeconds: 0 })
      else expect(outcome).toMatchObject(field === undefined ? { code: expected } : { code: expected, field })
    }
  })
})
