import { expect, test, vi } from 'vitest'
import { newToken, receiver, reuseUri, service, started } from './support.js'

test('a pending check becomes GREEN automatically, and its webhook is sent', async () => {
  const { url, arrived } = await receiver(200)
  const { provider, ask } = await started({ approvesAfterMs: 20, sendsWebhooks: true })
  provider.setWebhooks(service.clientId, [{ url, secretKey: 'secret-of-the-webhook' }])
  const { json } = await ask({ uri: reuseUri(newToken(provider)) })
  const reviewed = () => arrived.find(({ event }) => event['type'] === 'applicantReviewed')
  await vi.waitUntil(() => reviewed() !== undefined, { timeout: 300_000, interval: 5 })
  expect(reviewed()?.event).toMatchObject({
    ...{ applicantId: json['id'], reviewStatus: 'completed', reviewResult: { reviewAnswer: 'GREEN' } },
  })
  expect(provider.applicant(String(json['id']))?.reviewStatus).toBe('completed')
})

test('an earlier verdict stays', async () => {
  const { provider, ask } = await started({ approvesAfterMs: 30 })
  const { json } = await ask({ uri: reuseUri(newToken(provider)) })
  const { json: other } = await ask({ uri: reuseUri(newToken(provider), { userId: 'pi:2' }) })
  provider.reject(String(json['id']))
  await vi.waitUntil(() => provider.applicant(String(other['id']))?.reviewStatus === 'completed', { interval: 5 })
  expect(provider.applicant(String(json['id']))?.reviewResult?.reviewAnswer).toBe('RED')
})

test('without the option a check stays pending', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  try {
    const { provider, ask } = await started()
    const { json } = await ask({ uri: reuseUri(newToken(provider)) })
    vi.advanceTimersByTime(24 * 60 * 60_000)
    expect(provider.applicant(String(json['id']))?.reviewStatus).toBe('pending')
  } finally {
    vi.useRealTimers()
  }
})
