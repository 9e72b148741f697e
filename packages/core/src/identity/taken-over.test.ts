import { describe, expect, test } from 'vitest'
import { turns } from '../../test/support/manual-clock.js'
import {
  approved,
  begun,
  email,
  otherShop,
  rejected,
  review,
  shareSetup,
  shop,
} from '../../test/support/share-setup.js'
import { steppedProcess } from '../../test/support/stepped-process.js'
import { claimLeaseMs } from './claim-times.js'

const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE', retryable: true })
const notDonated = expect.objectContaining({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
const first = 'pi:account-1:1'
const second = 'pi:account-1:2'

/** An attempt of the other shop that left nothing but its claim, which is over. */
async function lapsed(fault: 'lost before' | 'lost after' = 'lost before') {
  const setup = shareSetup()
  setup.provider.fault = () => fault
  await expect(setup.share(otherShop, 'theirs')).rejects.toThrow(unavailable)
  setup.provider.fault = () => null
  await setup.clock.advance(claimLeaseMs)
  return setup
}

/** The redemption of an attempt that was believed not to have happened. */
function land({ provider }: ReturnType<typeof shareSetup>, shareToken: string, externalUserId: string) {
  return provider.redeem({ shareToken, externalUserId, sendBy: Number.POSITIVE_INFINITY })
}

describe('an attempt of another integration that landed after all', () => {
  test('is credited to it by a webhook, although another request took over and was refused', async () => {
    const setup = await lapsed()
    const { share, provider, webhook, verification, redemptions } = setup
    provider.fault = (call) => (call === 'redeem' ? 'rejected' : null)
    await expect(share(shop, 'ours')).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    provider.fault = () => null
    await land(setup, 'theirs', first)
    expect(await webhook(review('pending'), { name: first })).toBe('applied')
    expect(await verification()).toMatchObject({ donor: otherShop, applicantId: `applicant of ${first}`, attempt: 1 })
    await expect(share(shop, 'fresh')).rejects.toThrow(notDonated)
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['theirs'])
    expect(await redemptions()).toEqual([
      [first, otherShop, 'attached'],
      [second, shop, 'refused'],
    ])
  })

  test('is found before the next token is sent, although another request took over and was refused', async () => {
    const setup = await lapsed()
    const { share, provider, verification, outcomes } = setup
    provider.fault = (call) => (call === 'redeem' ? 'rejected' : null)
    await expect(share(shop, 'ours')).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED' })
    provider.fault = () => null
    await land(setup, 'theirs', first)
    await expect(share(shop, 'fresh')).rejects.toThrow(notDonated)
    expect(await verification()).toMatchObject({ donor: otherShop, claim: null })
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['theirs'])
    expect((await outcomes()).slice(-2)).toEqual(['found', 'not_donated'])
  })

  test('is found by the poll, and credited to it', async () => {
    const { verdicts, verification, provider, outcomes } = await lapsed('lost after')
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ donor: otherShop, applicantId: `applicant of ${first}`, claim: null })
    expect(provider.redeemed).toHaveLength(1)
    expect(await outcomes()).toEqual(['claimed', 'unknown', 'found'])
  })

  test('is credited to it by the webhook of a moment at which another request looks', async () => {
    const setup = await lapsed()
    const { share, provider, webhook, verification } = setup
    provider.pause = async (call, half) => {
      if (call !== 'find' || half !== 'answer') return
      provider.pause = async () => undefined
      await land(setup, 'theirs', first)
      expect(await webhook(review('pending'), { name: first })).toBe('applied')
    }
    await expect(share(shop, 'ours')).rejects.toThrow(notDonated)
    expect(await verification()).toMatchObject({ donor: otherShop })
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['theirs'])
  })
})

describe("an attempt of the caller's own that landed after all", () => {
  test('is attached, and reused says that this request redeemed nothing', async () => {
    const setup = shareSetup()
    const { share, provider, clock, verification } = setup
    provider.fault = () => 'lost after'
    await expect(share(shop, 'first')).rejects.toThrow(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    expect(await share(shop, 'second')).toEqual({ ...begun, reused: false })
    expect(await verification()).toMatchObject({ donor: shop, applicantId: `applicant of ${first}` })
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['first'])
  })

  test('after a rejection replaces the applicant of before', async () => {
    const { share, provider, clock, verification, webhook } = shareSetup()
    await share(shop, 'first')
    await webhook(rejected)
    provider.fault = () => 'lost after'
    await expect(share(shop, 'second')).rejects.toThrow(unavailable)
    provider.fault = () => null
    await clock.advance(claimLeaseMs)
    expect(await share(shop, 'third')).toEqual({ ...begun, reused: false })
    expect(await verification()).toMatchObject({ applicantId: `applicant of ${second}`, attempt: 2 })
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['first', 'second'])
  })
})

describe('the poll', () => {
  test('ends a claim whose token never arrived, so that the next request waits for nothing', async () => {
    const { verdicts, verification, share, provider, clock, redemptions } = await lapsed()
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ donor: null, claim: null })
    expect(await redemptions()).toEqual([[first, otherShop, 'absent']])
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toMatchObject([{ shareToken: 'ours', externalUserId: second }])
    await clock.advance(0)
  })

  test('asks for a lost answer after five seconds already, and ends nothing before the lease does', async () => {
    const { verdicts, verification, share, provider, clock } = shareSetup()
    provider.fault = (call) => (call === 'redeem' ? 'lost before' : null)
    await expect(share()).rejects.toThrow(unavailable)
    await clock.advance(4_999)
    expect(await verdicts.ask()).toBe(0)
    await clock.advance(1)
    expect(await verdicts.ask()).toBe(1)
    expect((await verification()).claim).toMatchObject({ lapsed: false })
    expect(provider.calls.filter((call) => call.startsWith('find'))).toHaveLength(2)
  })

  test('looks again for a day for a name that nobody had, and then no more', async () => {
    const { verdicts, provider, clock } = await lapsed()
    let asked = 0
    for (let hour = 0; hour < 30; hour += 1) {
      asked += await verdicts.ask()
      await clock.advance(60 * 60_000)
    }
    expect(asked).toBe(25)
    expect(provider.calls.filter((call) => call === `find ${first}`)).toHaveLength(25)
  })
})

/** What a request came to: an answer, or the code of an error. */
async function outcomeOf(request: Promise<{ readonly reused: boolean }>): Promise<string> {
  return request.then(
    ({ reused }) => (reused ? 'reused' : 'left alone'),
    ({ code }: { code: string }) => code,
  )
}

/** What happens while a process stands still, beside a request of somebody else. */
const meanwhile = {
  'a request': async () => undefined,
  'the poll, and a request': async ({ verdicts }: ReturnType<typeof shareSetup>) => {
    await verdicts.ask()
  },
  'a webhook, and a request': async ({ provider, webhook }: ReturnType<typeof shareSetup>) => {
    const newest = provider.redeemed.at(-1)
    const isRejected = newest !== undefined && provider.reviews.get(newest.applicantId) === rejected
    if (newest !== undefined && !isRejected) await webhook(review('pending'), { name: newest.externalUserId })
  },
} as const

describe.each(Object.entries(meanwhile))('frozen at each await point, taken over by %s, and thawed', (_, happens) => {
  test.each([
    ['a first share', null, null],
    ['a share whose answer is lost', null, 'lost after'],
    ['a share that never arrives', null, 'lost before'],
    ['a share that takes over itself', 'lapsed', null],
    ['a retry after RED', 'red', null],
  ] as const)('%s: one redemption at most, and its donor is who redeemed', async (_name, before, fault) => {
    for (let point = 1; ; point += 1) {
      const setup = before === 'lapsed' ? await lapsed() : shareSetup()
      const { clock, provider, verification, share, webhook, verdicts } = setup
      if (before === 'red') {
        await share(otherShop, 'rejected')
        provider.reviews.set(`applicant of ${first}`, rejected)
        await webhook(rejected)
      }
      const had = provider.redeemed.length
      const frozen = steppedProcess(setup, point)
      provider.fault = (call) => (call === 'redeem' ? fault : null)
      const shared = outcomeOf(frozen.share({ integrationAddress: otherShop, email, shareToken: 'frozen' }))
      await turns()
      provider.fault = () => null
      const where = `point ${point}, ${frozen.stoppedAt()}`
      if (frozen.stoppedAt() === null) {
        expect(point, 'await points').toBeGreaterThan(8)
        return
      }
      await clock.advance(claimLeaseMs)
      await happens(setup)
      const overtaker = before === 'red' ? otherShop : shop
      const overtaken = await outcomeOf(share(overtaker, 'overtaking'))
      frozen.thaw()
      const outcome = await shared
      await clock.advance(claimLeaseMs)
      await verdicts.ask()
      const redeemed = provider.redeemed.slice(had)
      expect(redeemed.length, where).toBeLessThanOrEqual(1)
      const [{ shareToken = '' } = {}] = redeemed
      if (shareToken !== '') {
        const donor = shareToken === 'frozen' ? otherShop : overtaker
        const { externalUserId } = redeemed[0] ?? { externalUserId: '' }
        expect(await verification(), where).toMatchObject({
          donor,
          applicantId: `applicant of ${externalUserId}`,
          claim: null,
        })
      }
      expect(outcome === 'reused', where).toBe(shareToken === 'frozen' && outcome === 'reused')
      expect(overtaken === 'reused', where).toBe(shareToken === 'overtaking')
      if (shareToken === '') {
        // Never none for ever: whoever asks next is served.
        expect(await outcomeOf(share(overtaker, 'fresh')), where).toBe('reused')
      }
    }
  })
})

test('a request that is thawed after its claim was taken over sends nothing, and its name stays known', async () => {
  const setup = shareSetup()
  const { clock, provider, share, redemptions, webhook } = setup
  const frozen = steppedProcess(setup, 2)
  const late = outcomeOf(frozen.share({ integrationAddress: otherShop, email, shareToken: 'frozen' }))
  await turns()
  await clock.advance(claimLeaseMs)
  expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
  frozen.thaw()
  expect(await late).toBe('ERR_IDENTITY_UNAVAILABLE')
  expect(provider.calls.filter((call) => call.startsWith('redeem'))).toEqual([`redeem ${second}`])
  expect(await redemptions()).toEqual([
    [first, otherShop, 'refused'],
    [second, shop, 'attached'],
  ])
  // An applicant of that name would be a second one: it is told to an operator, and displaces nothing.
  expect(await webhook(approved, { name: first })).toBe('unknown')
  expect(setup.logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
})
