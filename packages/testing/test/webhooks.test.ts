import { createHmac } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createIdentityProvider } from '../src/exports/identity-provider.js'
import type { WebhookTarget } from '../src/identity-provider/authenticate.js'
import { type Arrived, deadUrl, newToken, receiver, reuseUri, service, started } from './support.js'

const secretKey = 'secret-of-the-webhook'
const minute = 60_000
const hour = 60 * minute

/** A provider with one pending applicant, and a receiver of its events that answers these statuses. */
async function withReceiver(statuses: readonly number[] = [200], target: Partial<WebhookTarget> = {}) {
  const { provider, clock } = await started()
  const { url, arrived } = await receiver(...statuses)
  provider.setWebhooks('ServiceCo', [{ url, secretKey, ...target }])
  const { id } = provider.addApplicant({ clientId: 'ServiceCo', externalUserId: 'pi:1', as: 'pending' })
  return { provider, clock, arrived, id, types: () => arrived.map(({ event }) => event['type']) }
}

test.each([
  ['HMAC_SHA256_HEX', 'sha256', undefined],
  ['HMAC_SHA256_HEX', 'sha256', 'HMAC_SHA256_HEX'],
  ['HMAC_SHA512_HEX', 'sha512', 'HMAC_SHA512_HEX'],
  ['HMAC_SHA1_HEX', 'sha1', 'HMAC_SHA1_HEX'],
] as const)('the digest %s is over the bytes that arrive (%s, chosen: %s)', async (shown, hash, algorithm) => {
  const { provider, arrived, id } = await withReceiver([200], algorithm && { algorithm })
  provider.approve(id)
  await provider.deliverWebhooks()
  const [{ body = '', ...webhook } = {}] = arrived as Partial<Arrived>[]
  const digest = createHmac(hash, secretKey).update(body).digest('hex')
  expect(webhook).toMatchObject({ algorithm: shown, digest })
})

describe('an event', () => {
  test('has the documented fields and nothing personal', async () => {
    const { provider, arrived, id } = await withReceiver()
    provider.reject(id, { labels: ['FORGERY'], rejectType: 'FINAL' })
    await provider.deliverWebhooks()
    const red = { reviewAnswer: 'RED', rejectLabels: ['FORGERY'], reviewRejectType: 'FINAL' }
    expect(arrived[0]?.event).toEqual({
      applicantId: id,
      inspectionId: expect.any(String),
      applicantType: 'individual',
      correlationId: expect.stringMatching(/^req-/),
      levelName: 'basic',
      sandboxMode: true,
      externalUserId: 'pi:1',
      type: 'applicantReviewed',
      reviewResult: { ...red, moderationComment: expect.any(String) },
      reviewStatus: 'completed',
      createdAt: '2026-01-01 00:00:00+0000',
      createdAtMs: '2026-01-01 00:00:00.000',
      clientId: 'ServiceCo',
    })
  })

  test('announces a redemption as created, and as pending when the checks begin', async () => {
    const { provider, ask } = await started()
    const { url, arrived } = await receiver(200)
    provider.setWebhooks('ServiceCo', [{ url, secretKey }])
    await ask({ uri: reuseUri(newToken(provider)) })
    await ask({ uri: reuseUri(newToken(provider), { level: 'strict', userId: 'pi:2' }) })
    await provider.deliverWebhooks()
    expect(arrived.map(({ event }) => [event['externalUserId'], event['type'], event['reviewStatus']])).toEqual([
      ['pi:1', 'applicantCreated', 'init'],
      ['pi:1', 'applicantPending', 'pending'],
      ['pi:2', 'applicantCreated', 'init'],
    ])
  })

  test('is a millisecond later than the one before of the same instant', async () => {
    const { provider, arrived, id } = await withReceiver()
    for (const status of ['pending', 'prechecked', 'queued', 'onHold'] as const) provider.moveTo(id, status)
    provider.approve(id)
    await provider.deliverWebhooks()
    const ends = arrived.map(({ event }) => String(event['createdAtMs']).slice(-3))
    expect(ends.join(' ')).toBe('000 001 002 003 004')
  })

  test('of a reset carries the former verdict, and one of an external check carries GREEN', async () => {
    const { provider, arrived, id } = await withReceiver()
    provider.moveTo(id, 'awaitingService')
    provider.approve(id)
    provider.resetApplicant(id)
    await provider.deliverWebhooks()
    const green = { reviewAnswer: 'GREEN' }
    expect(arrived.map(({ event }) => [event['type'], event['reviewStatus'], event['reviewResult']])).toEqual([
      ['applicantAwaitingService', 'awaitingService', green],
      ['applicantReviewed', 'completed', green],
      ['applicantReset', 'init', green],
    ])
    expect(provider.applicant(id)).toMatchObject({ reviewStatus: 'init', reviewResult: null, steps: [] })
  })

  test('announces deactivation, activation and deletion, and a test can emit any other', async () => {
    const { provider, arrived, id, types } = await withReceiver()
    provider.setActive(id, false)
    provider.setActive(id, true)
    provider.announce(id, 'applicantActionReviewed', { reviewStatus: 'completed', sandboxMode: 'false' })
    provider.deleteApplicant(id)
    await provider.deliverWebhooks()
    const announced = ['Deactivated', 'Activated', 'ActionReviewed', 'Deleted']
    expect(types()).toEqual(announced.map((type) => `applicant${type}`))
    expect(arrived[2]?.event).toMatchObject({ reviewStatus: 'completed', sandboxMode: 'false' })
  })

  test('goes to the targets that select its type', async () => {
    const { provider, id, types } = await withReceiver([200], { types: ['applicantReviewed'] })
    provider.moveTo(id, 'onHold')
    provider.approve(id)
    await provider.deliverWebhooks()
    expect(types()).toEqual(['applicantReviewed'])
  })
})

describe('retries', () => {
  test('a failed webhook is retried with the same bytes after 5 minutes, 1, 5 and 18 hours, and then dropped', async () => {
    const { provider, clock, arrived, id } = await withReceiver([500])
    provider.approve(id)
    await provider.deliverWebhooks()
    for (const [pause, expected] of [
      [5 * minute, 2],
      [hour, 3],
      [5 * hour, 4],
      [18 * hour, 5],
    ] as const) {
      clock.advance(pause - 1)
      expect(await provider.deliverWebhooks()).toEqual([])
      clock.advance(1)
      await provider.deliverWebhooks()
      expect(arrived).toHaveLength(expected)
    }
    clock.advance(1_000 * hour)
    expect(await provider.deliverWebhooks()).toEqual([])
    expect(new Set(arrived.map(({ body }) => body.toString())).size).toBe(1)
    const sent = provider.webhooks.map(({ attempts, status }) => `${attempts}: ${status}`)
    expect(sent).toEqual([0, 1, 2, 3, 4].map((attempts) => `${attempts}: 500`))
  })

  test('an accepted webhook is not sent again', async () => {
    const { provider, clock, arrived, id } = await withReceiver([500, 204])
    provider.approve(id)
    for (let n = 0; n < 4; n++) {
      await provider.deliverWebhooks()
      clock.advance(24 * hour)
    }
    expect(arrived).toHaveLength(2)
  })

  test.each([
    ['that nothing answers', deadUrl],
    ['that is malformed', async () => '/webhook'],
  ])('a webhook to a URL %s has no status, and is not sent again at once', async (_, getUrl) => {
    const { provider } = await started()
    const url = await getUrl()
    provider.setWebhooks('ServiceCo', [{ url, secretKey }])
    provider.approve(provider.addApplicant({ clientId: 'ServiceCo', as: 'pending' }).id)
    expect(await provider.deliverWebhooks()).toMatchObject([{ url, status: null }])
    expect(await provider.deliverWebhooks()).toEqual([])
  })
})

describe('on demand', () => {
  test('waiting webhooks are dropped', async () => {
    const { provider, id } = await withReceiver()
    provider.approve(id)
    expect(provider.loseWebhooks()).toBe(1)
    expect(await provider.deliverWebhooks()).toEqual([])
  })

  test('webhooks of a run are dropped, too: one in flight is not retried, one after it not sent', async () => {
    const answers: ((response: Response) => void)[] = []
    const sendWebhook = () => new Promise<Response>((resolve) => answers.push(resolve))
    const { provider, clock } = await started({ sendWebhook })
    provider.setWebhooks('ServiceCo', [{ url: 'http://127.0.0.1:9', secretKey }])
    const { id } = provider.addApplicant({ clientId: 'ServiceCo', as: 'pending' })
    provider.moveTo(id, 'onHold')
    provider.approve(id)
    const run = provider.deliverWebhooks()
    expect(provider.loseWebhooks()).toBe(2)
    answers[0]?.(new Response(null, { status: 500 }))
    expect(await run).toMatchObject([{ type: 'applicantOnHold', status: 500 }])
    clock.advance(24 * hour)
    expect(await provider.deliverWebhooks()).toEqual([])
  })

  test('a run sends nothing that another run is sending', async () => {
    const { provider, id, types } = await withReceiver()
    provider.moveTo(id, 'onHold')
    const first = provider.deliverWebhooks()
    provider.approve(id)
    await Promise.all([first, provider.deliverWebhooks()])
    expect(types().toSorted()).toEqual(['applicantOnHold', 'applicantReviewed'])
  })

  test('a webhook that is being sent is not due, and nothing is sent after the close', async () => {
    const answers: ((response: Response) => void)[] = []
    const sendWebhook = () => new Promise<Response>((resolve) => answers.push(resolve))
    const provider = createIdentityProvider({ clients: [service], sendsWebhooks: true, sendWebhook })
    provider.setWebhooks('ServiceCo', [{ url: 'http://127.0.0.1:9', secretKey }])
    const { id } = provider.addApplicant({ clientId: 'ServiceCo', as: 'pending' })
    provider.approve(id)
    await vi.waitUntil(() => answers.length === 1, 300_000)
    expect(provider.nextWebhookAt()).toBeNull()
    provider.close()
    provider.resetApplicant(id)
    answers[0]?.(new Response(null, { status: 204 }))
    await vi.waitUntil(() => provider.webhooks.length === 1, 300_000)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(answers).toHaveLength(1)
  })
})

describe('approvesAfterMs', () => {
  test('a pending check becomes GREEN automatically, and its webhook is sent', async () => {
    const { url, arrived } = await receiver(200)
    const { provider, ask } = await started({ approvesAfterMs: 20, sendsWebhooks: true })
    provider.setWebhooks(service.clientId, [{ url, secretKey: 'secret-of-the-webhook' }])
    const { json } = await ask({ uri: reuseUri(newToken(provider)) })
    const reviewed = () => arrived.find(({ event }) => event['type'] === 'applicantReviewed')
    await vi.waitUntil(() => reviewed() !== undefined, { timeout: 300_000, interval: 5 })
    const green = { reviewStatus: 'completed', reviewResult: { reviewAnswer: 'GREEN' } }
    expect(reviewed()?.event).toMatchObject({ applicantId: json['id'], ...green })
    expect(provider.applicant(String(json['id']))?.reviewStatus).toBe('completed')
  })

  test('an earlier verdict stays', async () => {
    const { provider, ask } = await started({ approvesAfterMs: 30 })
    const { json } = await ask({ uri: reuseUri(newToken(provider)) })
    const { json: other } = await ask({ uri: reuseUri(newToken(provider), { userId: 'pi:2' }) })
    provider.reject(String(json['id']))
    await vi.waitUntil(() => provider.applicant(String(other['id']))?.reviewStatus === 'completed', 300_000)
    expect(provider.applicant(String(json['id']))?.reviewResult?.reviewAnswer).toBe('RED')
  })

  test('without the option a check stays pending', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { provider, ask } = await started()
    const { json } = await ask({ uri: reuseUri(newToken(provider)) })
    vi.advanceTimersByTime(24 * hour)
    expect(provider.applicant(String(json['id']))?.reviewStatus).toBe('pending')
  })
})
