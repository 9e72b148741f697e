import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import * as chosen from '#hmac'
import { isWebhookRejection } from './errors.js'
import * as node from './internal/hmac.node.js'
import * as web from './internal/hmac.web.js'

interface Vector {
  name: string
  secrets: string[]
  body: string
  header: string | null
  nowMs: number
  toleranceSeconds: number
  expect: string
  secretIndex?: number
  ageSeconds?: number
}

const file = new URL('../../../vectors/signature.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[]

test('there are at least 100 vectors with distinct names', () => {
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length)
  expect(vectors.length).toBeGreaterThanOrEqual(100)
})

test('Node runs on the node:crypto primitive', () => {
  expect(chosen.match).toBe(node.match)
})

describe.each([
  ['node:crypto', node],
  ['Web Crypto', web],
])('on %s', (_, primitive) => {
  let verifySignature: typeof import('./verify-signature.js').verifySignature
  let verifyBytes: typeof import('./verify-signature.js').verifyBytes
  beforeAll(async () => {
    vi.resetModules()
    vi.doMock('#hmac', () => primitive)
    ;({ verifySignature } = await import('./verify-signature.js'))
    ;({ verifyBytes } = await import('./verify-signature.js'))
    return () => vi.doUnmock('#hmac')
  })

  test.each(vectors)('$name: $expect', async ({ expect: expected, secretIndex, ageSeconds, ...vector }) => {
    const { secrets, header, toleranceSeconds, nowMs } = vector
    const body = Buffer.from(vector.body, 'base64')
    const keys = secrets.map(primitive.signingKey)
    for (const verdict of [
      () => verifySignature({ body, header, secrets, toleranceSeconds, now: () => nowMs }),
      () => verifyBytes({ body, header, keys, toleranceSeconds, receivedAt: nowMs }),
    ]) {
      const outcome: unknown = await verdict().catch((reason: unknown) => reason)
      if (expected === 'ok') {
        expect(outcome).toMatchObject({ secretIndex })
        if (ageSeconds !== undefined) expect(outcome).toMatchObject({ ageSeconds })
      } else {
        expect(isWebhookRejection(outcome)).toBe(true)
        expect(outcome).toMatchObject({ code: expected })
      }
    }
  })
})
