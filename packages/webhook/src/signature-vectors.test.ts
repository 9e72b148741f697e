import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { hmac as chosen } from '#hmac'
import { WebhookError } from './errors.js'
import { hmac as node } from './internal/hmac.node.js'
import { hmac as web } from './internal/hmac.web.js'
import { verifySignatureWith } from './verify-signature.js'

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
  expect(chosen).toBe(node)
})

describe.each([
  ['node:crypto', node],
  ['Web Crypto', web],
])('on %s', (_, primitive) => {
  test.each(vectors)('$name: $expect', async (vector) => {
    const verdict = verifySignatureWith(primitive, {
      body: Buffer.from(vector.body, 'base64'),
      header: vector.header,
      secrets: vector.secrets,
      toleranceSeconds: vector.toleranceSeconds,
      now: () => vector.nowMs,
    })
    if (vector.expect === 'ok') {
      const proof = await verdict
      expect(proof.secretIndex).toBe(vector.secretIndex)
      if (vector.ageSeconds !== undefined) expect(proof.ageSeconds).toBe(vector.ageSeconds)
      return
    }
    const error = await verdict.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(WebhookError)
    expect(error).toMatchObject({ code: vector.expect })
  })
})
