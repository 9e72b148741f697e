import { describe, expect, test } from 'vitest'
import { begun, email, otherShop, review, shareSetup, shop } from '../../test/support/share-setup.js'
import { claimLeaseMs, clockSkewMs } from './claim-times.js'
import { createShare } from './share.js'

const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE', retryable: true })
const misconfigured = expect.objectContaining({ code: 'ERR_IDENTITY_MISCONFIGURED' })
const first = 'pi:account-1:1'
const second = 'pi:account-1:2'
const third = 'pi:account-1:3'

/** An applicant that is at the provider under a name, although nothing is known of it here. */
async function strange({ provider }: ReturnType<typeof shareSetup>, externalUserId: string) {
  await provider.redeem({ shareToken: `of ${externalUserId}`, externalUserId, sendBy: Number.POSITIVE_INFINITY })
}

describe('a name that is taken', () => {
  test('by an applicant that is older than the attempt is left alone, and the next name is redeemed', async () => {
    const setup = shareSetup()
    const { share, provider, clock, verification, outcomes, logger, redemptions } = setup
    for (const name of [first, second]) {
      await strange(setup, name)
      provider.madeAt.set(`applicant of ${name}`, clock.now() - clockSkewMs - 1)
    }
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    expect(await verification()).toMatchObject({ donor: shop, applicantId: `applicant of ${third}`, claim: null })
    expect(provider.redeemed.filter(({ shareToken }) => shareToken === 'ours')).toHaveLength(1)
    expect(await outcomes()).toEqual(['claimed', 'foreign', 'claimed', 'foreign', 'claimed', 'redeemed'])
    expect(logger.lines.map(({ level }) => level)).toEqual(['error', 'error'])
    expect((await redemptions()).map(([, , state]) => state)).toEqual(['foreign', 'foreign', 'attached'])
  })

  test('by an applicant as old as the clocks may differ is its own: the answer was lost', async () => {
    const setup = shareSetup()
    const { share, provider, clock } = setup
    await strange(setup, first)
    provider.madeAt.set(`applicant of ${first}`, clock.now() - clockSkewMs)
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    expect(provider.calls).toEqual([`redeem ${first}`, `redeem ${first}`, `find ${first}`])
  })

  test('by nobody who can be found ends with its lease, and the next name is redeemed', async () => {
    const setup = shareSetup()
    const { share, provider, clock, outcomes } = setup
    await strange(setup, first)
    provider.findsByName = false
    await expect(share(shop, 'ours')).rejects.toThrow(unavailable)
    provider.findsByName = true
    const known = provider.find
    provider.find = async (name) => (name === first ? { kind: 'answer', value: null } : known(name))
    // The attempt was made while nothing could be looked up: an operator says what became of it, once nothing is on its way.
    expect(await setup.settle({ externalUserId: first, applicantId: null })).toBe('not_open')
    await clock.advance(claimLeaseMs)
    await expect(share(shop, 'ours')).rejects.toThrow(unavailable)
    expect(await setup.settle({ externalUserId: first, applicantId: null })).toBe('absent')
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    // The attempt is unresolved, and so is the request that found that.
    const unresolved = ['unresolved', 'unresolved']
    expect(await outcomes()).toEqual(['claimed', 'unknown', ...unresolved, 'settled', 'claimed', 'redeemed'])
  })

  test('for ever, by applicants that nobody can be shown to be, does not keep one request for ever', async () => {
    const setup = shareSetup()
    const { share, provider, clock, outcomes } = setup
    for (let n = 1; n <= 6; n += 1) {
      await strange(setup, `pi:account-1:${n}`)
      provider.madeAt.set(`applicant of pi:account-1:${n}`, clock.now() - clockSkewMs - 1)
    }
    await expect(share(shop, 'ours')).rejects.toThrow(unavailable)
    expect((await outcomes()).at(-1)).toBe('exhausted')
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
  })

  test('by a conflict that no look-up explains is given up with its lease', async () => {
    const setup = shareSetup()
    const { share, provider, clock, redemptions } = setup
    await strange(setup, first)
    const known = provider.find
    provider.find = async (name) => (name === first ? { kind: 'answer', value: null } : known(name))
    await expect(share(shop, 'ours')).rejects.toThrow(unavailable)
    await clock.advance(claimLeaseMs)
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    expect(await redemptions()).toEqual([
      [first, shop, 'absent'],
      [second, shop, 'attached'],
    ])
  })
})

describe('what a look-up answers is checked', () => {
  async function lapsed() {
    const setup = shareSetup()
    setup.provider.levelName = 'basic'
    setup.provider.fault = () => 'lost after'
    await expect(setup.share(otherShop, 'theirs')).rejects.toThrow(unavailable)
    setup.provider.fault = () => null
    await setup.clock.advance(claimLeaseMs)
    return setup
  }

  test('an applicant of another level is attached to nobody, and no token is sent until an operator looked', async () => {
    const { share, provider, verification, logger, verdicts } = await lapsed()
    provider.levelName = 'another'
    await expect(share(shop, 'ours')).rejects.toThrow(misconfigured)
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    await verdicts.ask()
    expect(await verification()).toMatchObject({ donor: null, claim: { lapsed: true } })
    expect(provider.redeemed).toHaveLength(1)
    expect(logger.lines.some(({ level, fields }) => level === 'error' && fields['misfit'] === 'level')).toBe(true)
    provider.levelName = 'basic'
    await expect(share(shop, 'ours')).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
    expect(await verification()).toMatchObject({ donor: otherShop })
  })

  test('an applicant that is older than the attempt is attached to nobody, also by its webhook', async () => {
    const { share, provider, clock, verification, webhook } = await lapsed()
    const old = clock.now() - claimLeaseMs - clockSkewMs - 1
    provider.madeAt.set(`applicant of ${first}`, old)
    expect(await webhook(review('pending'), { name: first, at: old })).toBe('unknown')
    expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
    expect(await verification()).toMatchObject({ donor: shop, applicantId: `applicant of ${second}` })
    // By now it is known to be no attempt of ours, whenever the webhook is.
    expect(await webhook(review('pending'), { name: first })).toBe('unknown')
  })
})

describe('where a name cannot be looked up (the older endpoint)', () => {
  async function lost() {
    const setup = shareSetup()
    setup.provider.findsByName = false
    setup.provider.fault = () => 'lost after'
    await expect(setup.share(otherShop, 'theirs')).rejects.toThrow(unavailable)
    setup.provider.fault = () => null
    await setup.clock.advance(claimLeaseMs)
    return setup
  }
  const stuck = [first, otherShop, 'unresolved']

  test('a lost answer is looked up and never redeemed again blindly, however often somebody asks', async () => {
    const { share, provider, clock, redemptions, logger, verdicts, store } = await lost()
    for (let day = 0; day < 40; day += 1) {
      for (const by of [shop, otherShop]) await expect(share(by)).rejects.toThrow(unavailable)
      await verdicts.ask()
      await clock.advance(24 * 60 * 60_000)
    }
    expect(provider.redeemed.map(({ shareToken }) => shareToken)).toEqual(['theirs'])
    expect(await redemptions()).toEqual([stuck])
    expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
    const logged = (await store.verifications.attempts({ limit: 100 })).map((attempt) =>
      [attempt.integrationAddress, attempt.outcome, attempt.externalUserId].join(' '),
    )
    // What became of the attempt is logged once, and every request once.
    const ofAttempt = ['claimed', 'unknown', 'unresolved'].map((outcome) => `${otherShop} ${outcome} ${first}`)
    const ofRequests = Array.from({ length: 40 }, () => [`${shop} unresolved `, `${otherShop} unresolved `])
    expect(logged.reverse()).toEqual([...ofAttempt, ...ofRequests.flat()])
  })

  test('it is found once the provider does tell its name: by a look-up, or by a webhook', async () => {
    for (const how of ['look-up', 'webhook']) {
      const { share, provider, verification, webhook } = await lost()
      await expect(share(shop)).rejects.toThrow(unavailable)
      if (how === 'look-up') provider.findsByName = true
      else expect(await webhook(review('pending'), { name: first })).toBe('applied')
      await expect(share(shop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
      expect(await verification()).toMatchObject({ donor: otherShop, claim: null })
      expect(provider.redeemed).toHaveLength(1)
    }
  })

  test('an operator names the applicant that came of it, and its donor is who redeemed', async () => {
    const { share, verification, settle, outcomes, history } = await lost()
    await expect(share(shop)).rejects.toThrow(unavailable)
    expect(await settle({ externalUserId: first, applicantId: `applicant of ${first}` })).toBe('attached')
    expect(await verification()).toMatchObject({ donor: otherShop, applicantId: `applicant of ${first}` })
    expect((await outcomes()).at(-1)).toBe('settled')
    expect(await history()).toEqual(['operator review applied'])
    expect(await settle({ externalUserId: first, applicantId: null })).toBe('not_open')
  })

  test('an operator names nobody that the provider does not know, or whose applicant is of another account', async () => {
    const { share, provider, settle, redemptions, shareFor } = await lost()
    await expect(share(shop)).rejects.toThrow(unavailable)
    provider.reviews.set('nobody', null)
    expect(await settle({ externalUserId: first, applicantId: 'nobody' })).toBe('unknown_applicant')
    await shareFor('second.user@example.com', otherShop)
    const [, taken] = provider.redeemed
    const applicantId = taken?.applicantId ?? ''
    expect(await settle({ externalUserId: first, applicantId })).toBe('of_another_account')
    expect(await settle({ externalUserId: 'pi:account-9:9', applicantId: null })).toBe('not_open')
    provider.fault = () => 'lost before'
    await expect(settle({ externalUserId: first, applicantId: 'any' })).rejects.toThrow(unavailable)
    expect((await redemptions())[0]).toEqual(stuck)
  })
})

test('names begin with the name space, and one that is malformed is refused', async () => {
  const { provider, accounts, emails, clock, ids, logger, store } = shareSetup()
  const deps = { provider, accounts, emails, clock, ids, logger, store }
  const share = createShare({ ...deps, namespace: 'pi-staging' })
  await share({ integrationAddress: shop, email, shareToken: 'token' })
  expect(provider.redeemed).toMatchObject([{ externalUserId: 'pi-staging:account-1:1' }])
  for (const namespace of ['', 'a:b', 'a/b', ' a', 'x'.repeat(33)])
    expect(() => createShare({ ...deps, namespace }), namespace).toThrow(TypeError)
})
