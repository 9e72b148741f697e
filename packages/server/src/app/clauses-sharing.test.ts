/** docs/interface.md 2.5, 3 (KYC attachment), 4.2 and 7, against an identity provider over HTTP. */
import {
  cacheControl,
  identityUnavailableBody,
  shareResponseWriteSchema,
  sharingDisabledBody,
  verificationUnavailableBody,
} from '@payment-integration/contract/internal'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Shop, startClauses } from '../../test/support/clause-service.js'
import { startSharing } from '../../test/support/sharing-service.js'

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
  sharing = await startSharing()
  shop = await sharing.createShop(getWallet(1))
  other = await sharing.createShop(getWallet(2))
})
afterAll(() => sharing?.stop())
beforeEach(() => sharing.provider.clearFaults())

const pending = { reviewStatus: 'pending', reviewAnswer: null, rejectType: null, rejectLabels: [] }
const redeemed = () => sharing.provider.redemptions.length
const newest = () => sharing.provider.redemptions.at(-1)?.applicantId ?? ''
/** A share, with its status and body, and whether the answer has `Cache-Control` as the contract says. */
async function share(email = newEmail(), token = sharing.mint(), by = shop) {
  const { status, body, headers } = await sharing.share(by, email, token)
  expect(headers.get('cache-control')).toBe(cacheControl)
  return { status, body, retryAfter: Number(headers.get('retry-after')) }
}

describe('the order of checks', () => {
  it('401 comes first: also where sharing is off, and for a body that is malformed', async () => {
    const off = await startClauses()
    onTestFinished(() => off.stop())
    for (const each of [sharing, off]) {
      const { status, body } = await each.post('idv-share-token', 'Basic eDp5', '{')
      expect([status, body]).toEqual([401, { error: 'Unauthorized' }])
    }
    const own = await off.createShop(getWallet(3))
    const rejected = await off.post('idv-share-token', own.authorization, '{')
    expect([rejected.status, rejected.body]).toEqual([404, sharingDisabledBody])
    expect(rejected.headers.get('cache-control')).toBe(cacheControl)
  })

  it.each(['text/plain', 'application.json', 'application/json; charset=utf-16', 'application/json, text/plain'])(
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

describe('the attachment', () => {
  it('is a redemption, reused: true, with every field of 2.5, and then reused: false for any token', async () => {
    const before = redeemed()
    const email = newEmail()
    const first = await share(email)
    expect([first.status, first.body]).toEqual([200, { ...pending, reused: true }])
    expect(shareResponseWriteSchema.safeParse(first.body).success).toBe(true)
    const token = sharing.mint()
    expect((await share(email, token)).body).toEqual({ ...pending, reused: false })
    expect(redeemed()).toBe(before + 1)
    // Not redeemed: the token can still be used for another user.
    expect((await share(newEmail(), token)).body).toMatchObject({ reused: true })
  })

  it.each([
    ['awaitingUser', 'init'],
    ['pending', 'pending'],
    ['prechecked', 'prechecked'],
    ['onHold', 'onHold'],
  ] as const)('that is %s at the provider is answered as %s', async (state, reviewStatus) => {
    const email = newEmail()
    await share(email)
    sharing.provider.moveTo(newest(), state)
    await sharing.provider.deliverWebhooks()
    expect((await share(email)).body).toEqual({ ...pending, reviewStatus, reused: false })
  })

  it('shared by another integration: 409 with one body for every status, and nothing is redeemed', async () => {
    const email = newEmail()
    await share(email)
    const before = redeemed()
    for (const move of [() => {}, () => sharing.provider.approve(newest()), () => sharing.provider.reject(newest())]) {
      move()
      await sharing.provider.deliverWebhooks()
      const { status, text } = await sharing.share(other, email, sharing.mint())
      expect([status, text, redeemed()]).toEqual([409, JSON.stringify(verificationUnavailableBody), before])
    }
  })

  it('of four requests at once is one redemption, and the others are answered reused: false', async () => {
    const [email, before] = [newEmail(), redeemed()]
    const answers = await Promise.all([1, 2, 3, 4].map(() => share(email)))
    expect(answers.map(({ body }) => (body as { reused: boolean }).reused).sort()).toEqual([false, false, false, true])
    expect(redeemed()).toBe(before + 1)
  })

  it('the answer is the same whether or not an account existed', async () => {
    const [registered, carried, placeholder, unknown] = [newEmail(), newEmail(), newEmail(), newEmail()]
    const accounts = await sharing.identity.accounts()
    await accounts.proveByCode(registered, (await accounts.requestCode(registered)).code)
    await accounts.register(carried)
    const used = sharing.mint()
    await share(newEmail(), used)
    expect((await share(placeholder, used)).status).toBe(422)
    const answered = new Map<number, Set<string>>()
    onTestFinished(sharing.holdTime())
    for (const getToken of [() => used, sharing.mint, sharing.mint])
      for (const email of [registered, carried, placeholder, unknown]) {
        const { status, headers, text } = await sharing.share(shop, email, getToken())
        const bytes = JSON.stringify([[...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)), text])
        answered.set(status, (answered.get(status) ?? new Set()).add(bytes))
      }
    // A used token, then `reused: true`, then `reused: false`.
    expect([...answered].map(([status, answers]) => [status, answers.size])).toEqual([
      [422, 1],
      [200, 2],
    ])
  })
})

describe('the provider rejects', () => {
  it('a used token: 422 with its message, and a fresh token is attached to the same account', async () => {
    const token = sharing.mint()
    await share(newEmail(), token)
    const email = newEmail()
    const { status, body } = await share(email, token)
    const message = expect.stringContaining('Token is invalid')
    expect([status, body]).toEqual([422, { error: expect.any(String), message }])
    expect((await share(email)).body).toMatchObject({ reused: true })
  })

  it('a used token whose verification was rejected: its message ends with that verdict, for its donor and user alone', async () => {
    const [email, token] = [newEmail(), sharing.mint()]
    await share(email, token)
    sharing.provider.reject(newest(), { rejectType: 'FINAL', labels: ['FORGERY', 'Ünknown'] })
    await sharing.provider.deliverWebhooks()
    const verdict = ' The verification shared before was rejected: RED, FINAL. Labels: FORGERY, Ünknown.'
    const message = expect.stringMatching(new RegExp(`^Token is invalid: .*[.]${verdict}$`))
    expect(await share(email, token)).toMatchObject({ status: 422, body: { message } })
    expect(await share(email, token, other)).toMatchObject({ status: 409, body: verificationUnavailableBody })
    for (const by of [shop, other]) expect(JSON.stringify(await share(newEmail(), token, by))).not.toContain('RED')
    expect(JSON.stringify(await sharing.identity.shares({ limit: 100 }))).not.toContain('FORGERY')
  })

  it('too many requests: 503 with Retry-After, and the same request goes through afterwards', async () => {
    const [email, token] = [newEmail(), sharing.mint()]
    sharing.provider.fail({ on: 'reuse', at: 'before', answer: 429 })
    const { status, body, retryAfter } = await share(email, token)
    expect([status, body]).toEqual([503, identityUnavailableBody])
    expect(retryAfter).toBeGreaterThanOrEqual(1)
    // Until then no request is sent to the provider.
    const asked = sharing.provider.requests.length
    expect((await share()).status).toBe(503)
    expect(sharing.provider.requests.length).toBe(asked)
    sharing.pass(retryAfter * 1_000)
    expect((await share(email, token)).body).toMatchObject({ reused: true })
  })

  it.each(['lost', 'hang', 'html', 'cut-json', 'empty', 500] as const)(
    'to report the outcome (%s after redeeming): it is looked up, and redeemed once',
    async (answer) => {
      // Only a hanging answer needs a time-out, which doubles until a slow machine does the rest within it.
      for (let timeoutMs = answer === 'hang' ? 1_000 : 600_000; ; timeoutMs *= 2) {
        const own = await startSharing({ timeoutMs })
        onTestFinished(() => own.stop())
        own.provider.fail({ on: 'reuse', at: 'after', answer })
        const { status, body, headers } = await own.share(await own.createShop(getWallet(1)), newEmail(), own.mint())
        if (answer === 'hang' && status === 503) continue
        expect([status, body, headers.get('cache-control')]).toEqual([200, { ...pending, reused: true }, cacheControl])
        return expect(own.provider.redemptions).toHaveLength(1)
      }
    },
  )

  it('to answer at all: 503, and the verdict proves the redemption without its answer', async () => {
    const [email, before] = [newEmail(), redeemed()]
    sharing.provider.fail({ on: 'reuse', at: 'after', answer: 'lost', times: 10 })
    sharing.provider.fail({ on: 'find', at: 'before', answer: 500, times: 10 })
    expect(await share(email)).toMatchObject({ status: 503, body: identityUnavailableBody })
    sharing.provider.clearFaults()
    sharing.provider.approve(newest())
    await sharing.provider.deliverWebhooks()
    expect((await share(email)).body).toMatchObject({ reviewAnswer: 'GREEN', reused: false })
    expect(redeemed()).toBe(before + 1)
  })
})
