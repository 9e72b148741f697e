/** A snapshot is parsed from the verified bytes, even if the caller's memory changes. docs/interface.md 6, rule 2. */
import { createHmac } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { VerifierOptions } from './create-verifier.js'
import type { WebhookError } from './errors.js'
import * as node from './internal/hmac.node.js'
import * as web from './internal/hmac.web.js'
import type { Hmac } from './signing-key.js'
import { createTestSnapshot } from './test-delivery.js'

const t = 1_700_000_000
const secret = 'whsec_bytes'
const toBytes = (version: number) => new TextEncoder().encode(JSON.stringify(createTestSnapshot({ version })))
const [signed, unsigned] = [toBytes(1), toBytes(9)]
const headers = {
  'x-service-signature': `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(signed).digest('hex')}`,
  'x-service-integration': createTestSnapshot().integrationAddress,
}

afterEach(() => vi.doUnmock('#hmac'))
async function verifierOn(
  primitive: Pick<Hmac, 'findMatchingKey' | 'signingKey'>,
  secrets: VerifierOptions['secrets'],
) {
  vi.resetModules()
  vi.doMock('#hmac', () => primitive)
  const { createVerifier } = await import('./create-verifier.js')
  const { verify } = createVerifier({ secrets, clock: { now: () => t * 1000 } })
  /** The version of the snapshot, or the code of the rejection. */
  return (body: Uint8Array) =>
    verify({ body, headers }).then(
      ({ snapshot }) => snapshot.version,
      (error: WebhookError) => error.code,
    )
}

describe.each(Object.entries({ 'node:crypto': node, 'Web Crypto': web }))('on %s', (_, primitive) => {
  const verifiers: [string, VerifierOptions['secrets']][] = [
    ['one secret', secret],
    ['the second of two secrets', ['whsec_newer', secret]],
    ['a secret that is looked up', async () => [secret]],
  ]
  test.each(verifiers)(
    'memory that is filled anew at any moment never makes a snapshot of it: %s',
    async (__, secrets) => {
      const verify = await verifierOn(primitive, secrets)
      const outcomes = new Set<number | string>()
      for (let ticks = 0; ticks < 40; ticks += 1)
        for (const [first, then] of [
          [signed, unsigned],
          [unsigned, signed],
        ] as const) {
          const pooled = Uint8Array.from(first)
          const outcome = verify(pooled)
          for (let tick = 0; tick < Math.min(ticks, 30); tick += 1) await null
          for (let tick = 30; tick < ticks; tick += 1) await turn()
          pooled.set(then)
          outcomes.add(await outcome)
        }
      expect(outcomes).toEqual(new Set([1, 'ERR_SIGNATURE_MISMATCH']))
    },
  )

  test('nor does shared memory that another thread writes between the hash and the reading', async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(signed.length))
    shared.set(signed)
    const findMatchingKey: Hmac['findMatchingKey'] = (...call) => {
      const found = primitive.findMatchingKey(...call)
      shared.set(unsigned)
      return found
    }
    const verify = await verifierOn({ ...primitive, findMatchingKey }, secret)
    expect([await verify(shared), await verify(shared)]).toEqual([1, 'ERR_SIGNATURE_MISMATCH'])
  })

  test('nor does a body that is put in its place while the secret is looked up', async () => {
    vi.resetModules()
    vi.doMock('#hmac', () => primitive)
    const { createVerifier } = await import('./create-verifier.js')
    const delivery: { body: unknown; headers: object } = { body: signed, headers }
    const secrets = async () => {
      delivery.body = { byteLength: 1, length: 1 }
      return secret
    }
    const { snapshot } = await createVerifier({ secrets, clock: { now: () => t * 1000 } }).verify(delivery as never)
    expect(snapshot.version).toBe(1)
  })
})
