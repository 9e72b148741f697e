import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { isWebhookRejection } from './errors.js'
import * as node from './internal/hmac.node.js'
import * as web from './internal/hmac.web.js'

interface Vector {
  name: string
  secrets: Record<string, string[]>
  headers: [string, string][]
  body: string
  nowMs: number
  expect: string
  field?: string
}

const file = new URL('../../../vectors/deliveries.json', import.meta.url)
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[]

describe.each([
  ['node:crypto', node],
  ['Web Crypto', web],
])('on %s', (_, primitive) => {
  let createVerifier: typeof import('./create-verifier.js').createVerifier
  beforeAll(async () => {
    vi.resetModules()
    vi.doMock('#hmac', () => primitive)
    ;({ createVerifier } = await import('./create-verifier.js'))
    return () => vi.doUnmock('#hmac')
  })

  test.each(vectors)('$name: $expect', async ({ secrets, headers, nowMs, expect: expected, field, ...vector }) => {
    const body = Buffer.from(vector.body, 'base64')
    const { verify } = createVerifier({ secrets: (integration) => secrets[integration], now: () => nowMs })
    const request = new Request('http://127.0.0.1/', { method: 'POST', headers, body })
    for (const delivery of [{ body, headers }, request]) {
      const outcome: unknown = await verify(delivery).catch((reason: unknown) => reason)
      if (expected === 'ok') {
        expect(outcome).toMatchObject({ snapshot: JSON.parse(body.toString()), secretIndex: 0, ageSeconds: 0 })
      } else {
        expect(isWebhookRejection(outcome)).toBe(true)
        expect(outcome).toMatchObject(field === undefined ? { code: expected } : { code: expected, field })
      }
    }
  })
})
