/** Whatever the network sends, verify gives a snapshot or a rejection. On both primitives, with the same verdict. */
import { createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { beforeAll, expect, test, vi } from 'vitest'
import type { VerifierOptions } from './create-verifier.js'
import type { Delivery, HeadersLike } from './delivery.js'
import { isWebhookRejection } from './errors.js'
import * as web from './internal/hmac.web.js'
import { createTestSnapshot } from './test-delivery.js'

const t = 1_700_000_000
const secret = 'whsec_hostile_network'
const snapshot = createTestSnapshot()
const options: VerifierOptions = { secrets: () => secret, clock: { now: () => t * 1000 }, maxBytes: 4_096 }
type Make = typeof import('./create-verifier.js').createVerifier
const makers: Make[] = []
beforeAll(async () => {
  makers.push((await import('./create-verifier.js')).createVerifier)
  vi.resetModules()
  vi.doMock('#hmac', () => web)
  makers.push((await import('./create-verifier.js')).createVerifier)
  return () => vi.doUnmock('#hmac')
})

const sign = (body: Uint8Array, key = secret) =>
  `t=${t},v1=${createHmac('sha256', key).update(`${t}.`).update(body).digest('hex')}`
const utf8 = (text: string) => new TextEncoder().encode(text)

const bodies = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map(utf8),
  fc.constantFrom(
    ...[snapshot, { ...snapshot, version: 0 }, { ...snapshot, state: '' }].map((value) => utf8(JSON.stringify(value))),
  ),
  fc.constantFrom('\ufeff{}', '{"__proto__":null}', '"x"', 'null', '[]', `${'['.repeat(2_000)}`).map(utf8),
  fc.constant(new Uint8Array(4_097)),
)
const latin1 = fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)) })
const fragments = fc.array(
  fc.constantFrom(
    `t=${t}`,
    `t=${t - 301}`,
    `v1=${'a'.repeat(64)}`,
    ...'t=|v1=|,|=| |\t|v2=x'.split('|'),
    '9'.repeat(13),
  ),
  { maxLength: 12 },
)
/** A header from what the body is, and what it says. */
const signatures = fc.oneof(
  fc.constant((body: Uint8Array) => sign(body)),
  fc.constant((body: Uint8Array) => sign(body, 'another')),
  latin1.map((text) => () => text),
  fragments.map((parts) => () => parts.join('')),
  fc
    .constantFrom('', `t=${t}`, `t=${t - 301},v1=${'a'.repeat(64)}`, `t=${t + 301},v1=${'a'.repeat(64)}`)
    .map((text) => () => text),
  fc.tuple(latin1, fc.nat()).map(([text, at]) => (body: Uint8Array) => {
    const header = sign(body)
    return header.slice(0, at % header.length) + text + header.slice(at % header.length)
  }),
)
const { integrationAddress } = snapshot
const integrations = fc.oneof(
  fc.constant<string | undefined>(integrationAddress),
  fc.constantFrom(undefined, '', `0x${'c3'.repeat(20)}`, `${integrationAddress}, ${integrationAddress}`),
  latin1,
)
const bags = fc.constantFrom<(pairs: [string, string][]) => HeadersLike>(
  (pairs) => pairs,
  (pairs) => pairs.flat(),
  (pairs) => new Map(pairs),
  (pairs) => Object.fromEntries(pairs),
  (pairs) => Object.fromEntries(pairs.map(([name, value]) => [name.toUpperCase(), [value]])),
)
const kinds = fc.constantFrom<(body: Uint8Array) => Delivery['body']>(
  (body) => body,
  (body) => body.slice().buffer,
  (body) => Buffer.from(body),
  (body) => new TextDecoder().decode(body),
  (body) => ({ parsed: body.length }) as unknown as string,
)
const noise = fc.array(fc.tuple(latin1, latin1), { maxLength: 3 })

/** Draws that are rare: what they lead to is in every run. */
const genuine = utf8(JSON.stringify(snapshot))
const certain = [integrationAddress, `0x${'c3'.repeat(20)}`, undefined].map((integration) => [
  genuine,
  (body: Uint8Array) => sign(body),
  integration,
  (pairs: [string, string][]) => pairs,
  (body: Uint8Array) => body,
  [],
]) as never[]
/** The rejections that bytes and headers alone can cause. */
const codes = [
  ...['SIGNATURE_MISSING', 'SIGNATURE_MALFORMED', 'SIGNATURE_SCHEME', 'SIGNATURE_MISMATCH', 'DELIVERY_STALE'],
  ...['DELIVERY_FUTURE', 'BODY_NOT_RAW', 'BODY_TOO_LARGE', 'INTEGRATION_UNKNOWN', 'INTEGRATION_MISMATCH'],
  'SNAPSHOT_INVALID',
].map((name) => `ERR_${name}`)

test('verify resolves to a snapshot or rejects with a rejection that quotes nothing, the same on both primitives', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      ...([bodies, signatures, integrations, bags, kinds, noise] as const),
      async (body, signature, integration, bag, kind, more) => {
        const header = signature(body)
        const pairs: [string, string][] = [...more, ['X-Service-Signature', header]]
        if (integration !== undefined) pairs.push(['x-service-integration', integration])
        const verdicts = await Promise.all(
          makers.map(async (make) => {
            try {
              return (await make(options).verify({ body: kind(body), headers: bag(pairs) })).snapshot
            } catch (error) {
              expect(isWebhookRejection(error), inspect(error)).toBe(true)
              for (const quoted of [secret, ...(header.match(/[0-9a-f]{64}/g) ?? [])])
                expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(quoted)
              return (error as { code: string }).code
            }
          }),
        )
        expect(verdicts[1]).toEqual(verdicts[0])
        seen.add(typeof verdicts[0] === 'string' ? verdicts[0] : 'ok')
        if (typeof verdicts[0] !== 'string') expect(verdicts[0]).toEqual(snapshot)
      },
    ),
    { numRuns: 2_000, examples: certain },
  )
  expect([...seen].sort()).toEqual([...codes, 'ok'].sort())
})
