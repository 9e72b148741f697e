/** Reports to operators and callers when the provider, or a forger, misbehaves. */
import { createHmac } from 'node:crypto'
import { cacheControl, identityMisconfiguredBody } from '@payment-integration/contract/internal'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { captureLog } from '../../test/support/captured-log.js'
import type { Shop } from '../../test/support/clause-service.js'
import { startSharing, webhookSecret } from '../../test/support/sharing-service.js'
import { verdictPath } from './webhook-routes.js'

const { logger, lines, parsed: logged } = await captureLog()
let sharing: Awaited<ReturnType<typeof startSharing>>
let shop: Shop
beforeAll(async () => {
  sharing = await startSharing({ logger })
  shop = await sharing.createShop(`0x${'01'.repeat(20)}`)
})
afterAll(() => sharing?.stop())
beforeEach(() => {
  sharing.provider.clearFaults()
  lines.length = 0
})
const [warn, error] = [40, 50]

it.each([414, 431])(
  'a token that the provider’s gateway finds too long (%i) is 400 like every malformed request: no alert, nothing redeemed, and the next request succeeds',
  async (answer) => {
    const email = `long${answer}@shop.example`
    sharing.provider.fail({ on: 'reuse', at: 'before', answer })
    const { status, body } = await sharing.share(shop, email, sharing.mint())
    expect([status, body]).toEqual([400, { error: 'kycShareToken is longer than the identity provider takes' }])
    expect(logged().filter(({ level }) => Number(level) >= warn)).toEqual([])
    expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({ reused: true })
  },
)

it.each([
  [401, { status: 401, code: 'ERR_PROVIDER_SETUP', reason: 'ERR_PROVIDER_SETUP' }],
  [403, { status: 403, code: 'ERR_PROVIDER_SETUP', reason: 'ERR_PROVIDER_SETUP' }],
  [{ errorCode: 10505 }, { status: 400, code: 'ERR_PROVIDER_SETUP', reason: 'ERR_PROVIDER_SETUP 10505' }],
] as const)(
  'a provider that rejects the service itself (%j) is logged with status, code, reason and redemption, without address and token',
  async (answer, fields) => {
    const token = sharing.mint()
    sharing.provider.fail({ on: 'reuse', at: 'before', answer })
    const { status, headers, body } = await sharing.share(shop, 'canary@shop.example', token)
    expect([status, headers.get('cache-control'), body]).toEqual([502, cacheControl, identityMisconfiguredBody])
    const alerts = logged().filter(({ level }) => Number(level) >= warn)
    const alert = { level: error, eventType: 'identity.misconfigured', ...fields }
    const externalUserId = expect.stringMatching(/^pi:.+:\d$/)
    const msg = expect.stringMatching(/rejects the service itself/)
    expect(alerts).toEqual([expect.objectContaining({ ...alert, externalUserId, msg })])
    for (const secret of ['canary', token, encodeURIComponent(token)]) expect(lines.join('')).not.toContain(secret)
  },
)

const signed = (body: string, secret: string): Record<string, string> => ({
  'X-Payload-Digest': createHmac('sha256', secret).update(body).digest('hex'),
  'X-Payload-Digest-Alg': 'HMAC_SHA256_HEX',
})

it.each([
  ['without a digest', 'ERR_PROVIDER_WEBHOOK_UNSIGNED', '{"canary":1}', {}],
  ['of another secret', 'ERR_PROVIDER_WEBHOOK_FORGED', '{"canary":1}', signed('{"canary":1}', 'another-secret')],
  ['that is no JSON', 'ERR_PROVIDER_WEBHOOK_MALFORMED', 'canary', signed('canary', webhookSecret)],
])('a webhook %s is rejected and logged by its code', async (_, code, body, headers) => {
  const answer = await fetch(`${sharing.url}${verdictPath}`, { method: 'POST', body, headers })
  expect(answer.status).toBe(400)
  const rejected = { level: warn, eventType: 'identity.webhook_rejected', code, status: 400 }
  expect(logged()).toEqual([expect.objectContaining(rejected)])
  expect(lines.join('')).not.toContain('canary')
})
