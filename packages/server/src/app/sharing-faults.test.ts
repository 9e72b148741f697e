/** Reports to operators and callers when the provider, or a forger, misbehaves. */
import { createHmac } from 'node:crypto'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Shop } from '../../test/support/clause-service.js'
import { donor, recipient, startSharing } from '../../test/support/sharing-service.js'
import { startTempServer } from '../../test/support/temp-server.js'
import { createPinoLogger } from '../logging/log.js'
import { verdictPath } from './webhook-routes.js'

const lines: string[] = []
let sharing: Awaited<ReturnType<typeof startSharing>>
let shop: Shop
beforeAll(async () => {
  const logger = await createPinoLogger({ level: 'debug', destination: { write: (line: string) => lines.push(line) } })
  sharing = await startSharing({ logger })
  shop = await sharing.createShop(`0x${'01'.repeat(20)}`)
})
afterAll(() => sharing?.stop())
beforeEach(() => {
  sharing.provider.clearFaults()
  lines.length = 0
})
const logged = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
const [warn, error] = [40, 50]

describe('a token that the provider’s gateway finds too long', () => {
  it.each([414, 431])(
    '(%i) is 400 like every malformed request: no alert, nothing redeemed, and the next request succeeds',
    async (answer) => {
      const email = `long${answer}@shop.example`
      sharing.provider.fail({ on: 'reuse', at: 'before', answer })
      const rejected = await sharing.share(shop, email, sharing.mint())
      expect([rejected.status, rejected.body]).toEqual([
        400,
        { error: 'kycShareToken is longer than the identity provider takes' },
      ])
      expect(logged().filter(({ level }) => Number(level) >= warn)).toEqual([])
      expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({ reused: true })
    },
  )
})

describe('a provider that rejects the service itself', () => {
  it.each([
    [401, { status: 401, code: 'ERR_PROVIDER_SETUP', reason: 'ERR_PROVIDER_SETUP' }],
    [403, { status: 403, code: 'ERR_PROVIDER_SETUP', reason: 'ERR_PROVIDER_SETUP' }],
    [{ errorCode: 10505 }, { status: 400, code: 'ERR_PROVIDER_SETUP', reason: 'ERR_PROVIDER_SETUP 10505' }],
  ] as const)(
    '(%j) is logged with status, code, reason and redemption, without address and token',
    async (answer, fields) => {
      const token = sharing.mint()
      sharing.provider.fail({ on: 'reuse', at: 'before', answer })
      expect((await sharing.share(shop, 'canary@shop.example', token)).status).toBe(502)
      const alerts = logged().filter(({ level }) => Number(level) >= warn)
      const alert = { level: error, eventType: 'identity.misconfigured' }
      expect(alerts).toEqual([
        expect.objectContaining({ ...alert, ...fields, externalUserId: expect.stringMatching(/^pi:.+:\d$/) }),
      ])
      for (const secret of ['canary', token, encodeURIComponent(token)]) expect(lines.join('')).not.toContain(secret)
    },
  )
})

describe('a webhook', () => {
  const signed = (body: string, secret: string): Record<string, string> => ({
    'X-Payload-Digest': createHmac('sha256', secret).update(body).digest('hex'),
    'X-Payload-Digest-Alg': 'HMAC_SHA256_HEX',
  })

  it.each([
    ['without a digest', 'ERR_PROVIDER_WEBHOOK_UNSIGNED', '{"canary":1}', {}],
    ['of another secret', 'ERR_PROVIDER_WEBHOOK_FORGED', '{"canary":1}', signed('{"canary":1}', 'another-secret')],
    ['that is no JSON', 'ERR_PROVIDER_WEBHOOK_MALFORMED', 'canary', signed('canary', 'secret-of-the-webhook')],
  ])('%s is rejected and logged by its code', async (_, code, body, headers) => {
    const answer = await fetch(`${sharing.url}${verdictPath}`, { method: 'POST', body, headers })
    expect(answer.status).toBe(400)
    expect(logged()).toEqual([
      expect.objectContaining({ level: warn, eventType: 'identity.webhook_rejected', code, status: 400 }),
    ])
    expect(lines.join('')).not.toContain('canary')
  })
})

it('a shutdown does not wait for a poll of a provider that hangs', async () => {
  const provider = await startIdentityProvider({ clients: [donor, recipient] })
  onTestFinished(() => provider.close())
  const server = await startTempServer({
    PI_IDENTITY_URL: provider.url,
    PI_IDENTITY_APP_TOKEN: recipient.appToken,
    PI_IDENTITY_SECRET_KEY: recipient.secretKey,
    PI_IDENTITY_LEVEL: 'basic-kyc-level',
    PI_IDENTITY_WEBHOOK_SECRETS: 'secret-of-the-webhook',
  })
  const { identity, store } = server.service
  if (identity === null) throw new Error('Sharing is off.')
  const integrationAddress = `0x${'01'.repeat(20)}`
  const { id: applicantId } = provider.addApplicant({ clientId: 'Shop' })
  const shareToken = provider.mintShareToken({ applicantId, forClientId: 'Service' })
  await identity.share({ integrationAddress, email: 'user@shop.example', shareToken })
  const [subject] = await identity.subjects({ limit: 1 })
  provider.fail({ on: 'status', at: 'before', answer: 'hang', times: 1_000 })
  await store.transaction(async (tx) => {
    await tx.identity.lockPersons({ subjectId: subject?.id })
    await tx.identity.changeVerification(subject?.id ?? '', { pollInMs: 0 })
  })
  const asked = provider.requests.length
  const loop = new AbortController()
  const running = identity.run(loop.signal)
  await vi.waitUntil(() => provider.requests.length > asked, { timeout: 300_000, interval: 5 })
  const before = performance.now()
  loop.abort()
  await running
  expect(performance.now() - before).toBeLessThan(60_000)
})
