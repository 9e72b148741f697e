/** What webhooks say while a question, or a lost answer, is under way is not undone by it. */
import { describe, expect, test } from 'vitest'
import { approved, rejected, shareSetup } from '../../test/support/share-setup.js'
import { createRecordDirectVerification } from './direct-verification.js'

const [minute, hour, day] = [60_000, 3_600_000, 24 * 3_600_000]
const app = 'applicant of pi:account-1:1'

/** An approved verification that is asked about, and what happens while the provider answers. */
async function approvedOnce() {
  const setup = shareSetup()
  await setup.share()
  await setup.webhook(approved)
  setup.provider.reviews.set(app, approved)
  await setup.clock.advance(day)
  return setup
}

function meanwhile({ provider }: ReturnType<typeof shareSetup>, work: () => Promise<unknown>): void {
  provider.pause = async (_, half) => {
    if (half !== 'answer') return
    provider.pause = async () => undefined
    await work()
  }
}

describe('while a question is under way', () => {
  test('the deletion of the applicant is kept, and asked about at once', async () => {
    const setup = await approvedOnce()
    const { provider, verdicts, verification, webhook } = setup
    meanwhile(setup, () => webhook(null, { news: 'deleted' }))
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ missing: { told: true, confirmed: false } })
    provider.reviews.set(app, null)
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ review: null, missing: { confirmed: true } })
  })

  test.each(['deactivated', 'activated'] as const)('an applicant that is %s has it asked again', async (news) => {
    const setup = await approvedOnce()
    const { clock, verdicts, verification, webhook, provider } = setup
    meanwhile(setup, () => {
      provider.reviews.set(app, rejected)
      return webhook(null, { news })
    })
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ review: approved, presence: { isActive: news === 'activated' } })
    await clock.advance(minute)
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ review: rejected })
  })

  test('an approval of the time of the rejection is asked about at once', async () => {
    const setup = shareSetup()
    const { clock, provider, share, verdicts, verification, webhook } = setup
    await share()
    const at = clock.now()
    await webhook(rejected, { at })
    provider.reviews.set(app, rejected)
    provider.reviewedAt.set(app, at)
    await clock.advance(day)
    meanwhile(setup, async () => {
      provider.reviews.set(app, approved)
      expect(await webhook(approved, { at, key: 'approval' })).toBe('older')
    })
    expect(await verdicts.ask()).toBe(1)
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ doubt: approved })
  })

  test('news that are older than what is known are asked about at once', async () => {
    const setup = await approvedOnce()
    const { clock, verdicts, webhook } = setup
    meanwhile(setup, () => webhook(rejected, { at: clock.now() - 2 * day, key: 'old' }))
    expect(await verdicts.ask()).toBe(1)
    expect(await verdicts.ask()).toBe(1)
    expect(await verdicts.ask()).toBe(0)
  })
})

describe('a lost answer is asked about in time', () => {
  /** A rejected verification whose next token was redeemed, and the answer lost. */
  async function lostAgain() {
    const setup = shareSetup()
    const { provider, share, webhook } = setup
    await share()
    await webhook(rejected)
    provider.reviews.set(app, rejected)
    const { find } = provider
    provider.fault = () => 'lost after'
    provider.find = async () => ({ kind: 'unavailable', reason: 'no answer' })
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    provider.find = find
    return setup
  }

  test('whatever is heard of the applicant that is attached', async () => {
    const { clock, webhook, verdicts, redemptions } = await lostAgain()
    await clock.advance(1)
    expect(await webhook(rejected, { key: 'copy' })).toBe('applied')
    await clock.advance(5_000)
    expect(await verdicts.ask()).toBe(1)
    expect((await redemptions()).map(([, , state]) => state)).toEqual(['attached', 'attached'])
  })

  test('also when the user was verified directly meanwhile', async () => {
    const { clock, store, verdicts, redemptions } = await lostAgain()
    const record = createRecordDirectVerification({ store, clock })
    await clock.advance(200_000)
    const direct = { accountId: 'account-1', applicantId: 'own', review: approved, at: clock.now() }
    expect(await record(direct)).toBe('recorded')
    expect(await verdicts.ask()).toBe(1)
    expect((await redemptions()).map(([, , state]) => state)).toEqual(['attached', 'surplus'])
  })

  test('also when an older attempt turns out to be redeemed', async () => {
    const { clock, provider, share, verdicts, webhook, redemptions } = shareSetup()
    const { find } = provider
    provider.fault = () => 'lost after'
    provider.find = async () => ({ kind: 'unavailable', reason: 'no answer' })
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    await clock.advance(200_000)
    // Nobody is found yet, so another token is sent, and its answer is lost as well.
    provider.find = async (name) =>
      name.endsWith(':1') ? { kind: 'answer', value: null } : { kind: 'unavailable', reason: 'no answer' }
    await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
    provider.fault = () => null
    provider.find = find
    expect(await webhook(rejected)).toBe('applied')
    await clock.advance(5_000)
    expect(await verdicts.ask()).toBe(1)
    expect((await redemptions()).map(([, , state]) => state)).toEqual(['attached', 'attached'])
  })

  test('and what has no lost answer is asked about no sooner than it was', async () => {
    const { clock, share, verdicts, webhook } = shareSetup()
    await share()
    await webhook(approved)
    await clock.advance(hour)
    expect(await verdicts.ask()).toBe(0)
  })
})
