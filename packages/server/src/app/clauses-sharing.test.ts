/** docs/interface.md 2.5, 3 (KYC attachment), 4.2 and 7, clause by clause, against an identity provider over HTTP. */
import {
  cacheControl,
  identityMisconfiguredBody,
  identityUnavailableBody,
  kycUnavailableBody,
  shareResponseWriteSchema,
  sharingDisabledBody,
} from '@payment-integration/contract/internal'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Shop, startClauses } from '../../test/support/clause-service.js'
import { startSharing } from '../../test/support/sharing-service.js'
import { createPinoLogger } from '../logging/log.js'

const lines: string[] = []
let sharing: Awaited<ReturnType<typeof startSharing>>
let shop: Shop
let other: Shop
let users = 0
function newEmail(): string {
  users += 1
  return `user${users}@example.com`
}
const getWallet = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
beforeAll(async () => {
  const logger = await createPinoLogger({ level: 'debug', destination: { write: (line: string) => lines.push(line) } })
  sharing = await startSharing({ logger, timeoutMs: 2_000 })
  shop = await sharing.createShop(getWallet(1))
  other = await sharing.createShop(getWallet(2))
})
afterAll(() => sharing?.stop())
beforeEach(() => sharing.provider.clearFaults())

const none = { reviewAnswer: null, rejectType: null, rejectLabels: [] }
const redeemed = () => sharing.provider.redemptions.length
const newest = () => sharing.provider.redemptions.at(-1)?.applicantId ?? ''
/** Sends a webhook of the provider, and waits until it is accepted. */
const verdicts = () => sharing.provider.deliverWebhooks()

describe('the order of checks', () => {
  it('401 comes first: also where sharing is off, and for a body that is malformed', async () => {
    const off = await startClauses()
    try {
      for (const each of [sharing, off]) {
        const { status, body } = await each.post('idv-share-token', 'Basic eDp5', '{')
        expect([status, body]).toEqual([401, { error: 'Unauthorized' }])
      }
      const own = await off.createShop(getWallet(3))
      const refused = await off.post('idv-share-token', own.authorization, '{')
      expect([refused.status, refused.body]).toEqual([404, sharingDisabledBody])
      expect(refused.headers.get('cache-control')).toBe(cacheControl)
    } finally {
      await off.stop()
    }
  })

  it.each(['text/plain', 'application.json'])(
    '%s is 400 in the shape of the interface, and redeems nothing',
    async (type) => {
      const before = sharing.provider.requests.length
      const body = JSON.stringify({ email: newEmail(), kycShareToken: sharing.mint() })
      const answer = await sharing.post('idv-share-token', shop.authorization, body, type)
      expect([answer.status, answer.body]).toEqual([400, { error: 'Content-Type must be application/json' }])
      expect(sharing.provider.requests.length).toBe(before)
    },
  )
})

describe('the attachment table', () => {
  it('none: the token is redeemed, normally init or pending, reused: true, with every field of 2.5', async () => {
    const before = redeemed()
    const answer = await sharing.share(shop, newEmail(), sharing.mint())
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ reviewStatus: 'pending', ...none, reused: true })
    expect(shareResponseWriteSchema.safeParse(answer.body).success).toBe(true)
    expect(answer.headers.get('cache-control')).toBe(cacheControl)
    expect(redeemed()).toBe(before + 1)
  })

  it('in flight, shared by the caller: reused: false, and the pending applicant stays', async () => {
    const email = newEmail()
    await sharing.share(shop, email, sharing.mint())
    const [applicant, before] = [newest(), redeemed()]
    const token = sharing.mint()
    expect((await sharing.share(shop, email, token)).body).toEqual({ reviewStatus: 'pending', ...none, reused: false })
    expect([newest(), redeemed()]).toEqual([applicant, before])
    // Not redeemed: the token can still be used for another user.
    expect((await sharing.share(shop, newEmail(), token)).body).toMatchObject({ reused: true })
  })

  it.each([
    ['awaitingUser', 'init'],
    ['pending', 'pending'],
    ['prechecked', 'prechecked'],
    ['onHold', 'onHold'],
  ] as const)(
    'in flight (%s at the provider), shared by the caller: %s is answered, and nothing is redeemed',
    async (state, reviewStatus) => {
      const email = newEmail()
      await sharing.share(shop, email, sharing.mint())
      const before = redeemed()
      sharing.provider.moveTo(newest(), state)
      await verdicts()
      expect((await sharing.share(shop, email, sharing.mint())).body).toEqual({ reviewStatus, ...none, reused: false })
      expect(redeemed()).toBe(before)
    },
  )

  it('approved, shared by the caller: its status is answered and the token is not redeemed', async () => {
    const email = newEmail()
    await sharing.share(shop, email, sharing.mint())
    sharing.provider.approve(newest())
    await verdicts()
    const before = redeemed()
    const answer = await sharing.share(shop, email, sharing.mint())
    expect(answer.body).toEqual({ reviewStatus: 'completed', ...none, reviewAnswer: 'GREEN', reused: false })
    expect(redeemed()).toBe(before)
  })

  it('completed RED, shared by the caller: a fresh token is redeemed, and the new verdict counts', async () => {
    const email = newEmail()
    await sharing.share(shop, email, sharing.mint())
    const first = newest()
    sharing.provider.reject(first, { labels: ['UNSATISFACTORY_PHOTOS'], rejectType: 'RETRY' })
    await verdicts()
    expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({ reused: true })
    expect(newest()).not.toBe(first)
    // Webhooks about the former applicant no longer change anything.
    sharing.provider.reject(first, { labels: ['FORGERY'], rejectType: 'FINAL' })
    sharing.provider.approve(newest())
    await verdicts()
    expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({
      reviewAnswer: 'GREEN',
      reused: false,
    })
  })

  it('shared by another integration: 409 with one body for every status, and nothing is redeemed', async () => {
    const email = newEmail()
    await sharing.share(shop, email, sharing.mint())
    const texts = new Set<string>()
    const ask = async () => {
      const before = redeemed()
      const { status, text, headers } = await sharing.share(other, email, sharing.mint())
      expect([status, redeemed()]).toEqual([409, before])
      expect(headers.get('cache-control')).toBe(cacheControl)
      texts.add(text)
    }
    await ask()
    sharing.provider.approve(newest())
    await verdicts()
    await ask()
    sharing.provider.reject(newest(), {})
    await verdicts()
    await ask()
    expect([...texts]).toEqual([JSON.stringify(kycUnavailableBody)])
  })

  it('while another request redeems: not_started, or the verdict so far, and the token is not redeemed', async () => {
    const email = newEmail()
    for (const review of [
      { reviewStatus: 'not_started', ...none },
      { reviewStatus: 'completed', reviewAnswer: 'RED', rejectType: 'RETRY', rejectLabels: ['BAD_SELFIE', 'Ünknown'] },
    ]) {
      const [asked, token] = [sharing.provider.requests.length, sharing.mint()]
      // The provider does not answer, so the redemption stays in flight.
      sharing.provider.fail({ on: 'reuse', at: 'after', answer: 'hang' })
      const redeeming = sharing.share(shop, email, sharing.mint())
      await vi.waitUntil(() => sharing.provider.requests.length > asked, { timeout: 300_000, interval: 2 })
      const other = await sharing.share(shop, email, token)
      expect([other.status, other.body]).toEqual([200, { ...review, reused: false }])
      expect((await redeeming).body).toMatchObject({ reused: true })
      expect((await sharing.share(shop, newEmail(), token)).body).toMatchObject({ reused: true })
      const [applicantId = ''] = sharing.provider.redemptions.slice(-2).map((each) => each.applicantId)
      sharing.provider.reject(applicantId, { rejectType: 'RETRY', labels: ['BAD_SELFIE', 'Ünknown'] })
      await verdicts()
    }
  })

  it('two at once: one redeems, the other answers reused: false', async () => {
    for (let round = 0; round < 10; round += 1) {
      const email = newEmail()
      const before = redeemed()
      const answers = await Promise.all([1, 2, 3, 4].map(() => sharing.share(shop, email, sharing.mint())))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      const reused = answers.map(({ body }) => (body as { reused: boolean }).reused)
      expect(reused.filter(Boolean)).toHaveLength(1)
      expect(redeemed()).toBe(before + 1)
    }
  })
})

describe('the provider refuses', () => {
  it('a used token: 422 with its message, and a fresh token is attached to the same account', async () => {
    const token = sharing.mint()
    await sharing.share(shop, newEmail(), token)
    const email = newEmail()
    const refused = await sharing.share(shop, email, token)
    expect(refused.status).toBe(422)
    expect(refused.body).toEqual({ error: expect.any(String), message: expect.stringContaining('Token is invalid') })
    expect(refused.headers.get('cache-control')).toBe(cacheControl)
    expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({ reused: true })
  })

  it.each([401, 403])('this service itself (%s): 502, an alert, and never "mint a fresh token"', async (status) => {
    lines.length = 0
    sharing.provider.fail({ on: 'reuse', at: 'before', answer: status })
    const answer = await sharing.share(shop, newEmail(), sharing.mint())
    expect([answer.status, answer.body]).toEqual([502, identityMisconfiguredBody])
    expect(answer.headers.get('cache-control')).toBe(cacheControl)
    expect(lines.join('\n')).toMatch(/refuses the service itself/)
  })

  it('too many requests: 503 with Retry-After, and the same request goes through afterwards', async () => {
    const [email, token] = [newEmail(), sharing.mint()]
    sharing.provider.fail({ on: 'reuse', at: 'before', answer: 429 })
    const answer = await sharing.share(shop, email, token)
    expect([answer.status, answer.body]).toEqual([503, identityUnavailableBody])
    expect(answer.headers.get('cache-control')).toBe(cacheControl)
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThanOrEqual(1)
    // Until then no request is sent to the provider.
    const asked = sharing.provider.requests.length
    expect((await sharing.share(shop, newEmail(), sharing.mint())).status).toBe(503)
    expect(sharing.provider.requests.length).toBe(asked)
    sharing.pass(seconds * 1_000)
    expect((await sharing.share(shop, email, token)).body).toMatchObject({ reused: true })
  })

  it.each(['lost', 'hang', 'html', 'cut-json', 'empty', 500] as const)(
    'to report the outcome (%s after redeeming): it is looked up, and redeemed once',
    async (answer) => {
      const before = redeemed()
      sharing.provider.fail({ on: 'reuse', at: 'after', answer })
      const shared = await sharing.share(shop, newEmail(), sharing.mint())
      expect([shared.status, shared.body]).toEqual([200, { reviewStatus: 'pending', ...none, reused: true }])
      expect(redeemed()).toBe(before + 1)
    },
  )

  it('to answer at all: 503, and no number of retries redeems twice', async () => {
    const [email, token, before] = [newEmail(), sharing.mint(), redeemed()]
    sharing.provider.fail({ on: 'reuse', at: 'after', answer: 'lost', times: 10 })
    sharing.provider.fail({ on: 'find', at: 'before', answer: 500, times: 10 })
    for (let tries = 0; tries < 3; tries += 1) {
      const { status, body } = await sharing.share(shop, email, token)
      // During the lease of the redemption another request may answer with the current status.
      expect([
        [503, identityUnavailableBody],
        [200, { reviewStatus: 'not_started', ...none, reused: false }],
      ]).toContainEqual([status, body])
    }
    expect(redeemed()).toBe(before + 1)
    // The verdict proves the redemption, even without its answer.
    sharing.provider.clearFaults()
    sharing.provider.approve(newest())
    await verdicts()
    expect((await sharing.share(shop, email, sharing.mint())).body).toMatchObject({
      reviewAnswer: 'GREEN',
      reused: false,
    })
    expect(redeemed()).toBe(before + 1)
  })
})
