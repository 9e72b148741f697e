import { expect, test } from 'vitest'
import * as fixtures from '../../test/support/identity-setup.js'
import { applyLookUp, clockSkewMs, firstLookUpMs, redemptionLeaseMs } from './redemption.js'

const { begun, first, identitySetup, lostSetup, otherShop, redemptionWith, review, second, shop } = fixtures
const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE', retryable: true })
const misconfigured = expect.objectContaining({ code: 'ERR_IDENTITY_MISCONFIGURED' })
const third = 'pi:s1:3'
const day = 24 * 60 * 60_000

/** An applicant that is at the provider under a name, although no redemption of ours made it. */
async function takeName({ provider }: ReturnType<typeof identitySetup>, externalUserId: string) {
  await provider.redeem({ shareToken: `of ${externalUserId}`, externalUserId, sendBy: Number.POSITIVE_INFINITY })
}

test('a name that is taken by an applicant older than the redemption is not used, and the next name is', async () => {
  const setup = identitySetup()
  const { share, provider, clock, subject, outcomes, logger, states } = setup
  for (const name of [first, second]) {
    await takeName(setup, name)
    provider.madeAt.set(`applicant of ${name}`, clock.now() - clockSkewMs - 1)
  }
  expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
  expect(subject()).toMatchObject({ donor: shop, applicantId: `applicant of ${third}` })
  expect(provider.redeemed.filter(({ shareToken }) => shareToken === 'ours')).toHaveLength(1)
  expect(outcomes()).toEqual(['started', 'foreign', 'started', 'foreign', 'started', 'redeemed'])
  expect(logger.lines.map(({ level }) => level)).toEqual(['error', 'error'])
  expect(states()).toEqual(['foreign', 'foreign', 'attached'])
})

test('a name that is taken by an applicant that is older only by the clock skew is its own: the answer was lost', async () => {
  const setup = identitySetup()
  const { share, provider, clock, outcomes } = setup
  await takeName(setup, first)
  provider.madeAt.set(`applicant of ${first}`, clock.now() - clockSkewMs)
  expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
  expect(provider.calls).toEqual([`redeem ${first}`, `redeem ${first}`, `find ${first}`])
  expect(outcomes()).toEqual(['started', 'found'])
})

test('a look-up right after a lost answer that finds an applicant of another level is a misconfiguration', async () => {
  const { share, provider, fails, during } = identitySetup()
  provider.levelName = 'basic'
  fails('lost after', 'redeem')
  during('redeem', async () => Object.assign(provider, { levelName: 'another' }))
  await expect(share(shop, 'ours')).rejects.toThrow(misconfigured)
})

const expired = () => lostSetup({ levelName: 'basic' })

test('an applicant of another level is not attached, and no token is sent until an operator acts', async () => {
  const { share, provider, subject, errors, identity } = await expired()
  provider.levelName = 'another'
  await expect(share(shop, 'ours')).rejects.toThrow(misconfigured)
  expect(errors().map(({ fields }) => fields['misfit'])).toEqual(['level'])
  await identity.pollDue()
  expect(subject()).toMatchObject({ donor: null })
  expect(provider.redeemed).toHaveLength(1)
  provider.levelName = 'basic'
  await expect(share(shop, 'ours')).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
  expect(subject()).toMatchObject({ donor: otherShop })
})

test('an applicant that is older than the redemption is not attached, not even by its webhook', async () => {
  const { share, provider, clock, subject, webhook } = await expired()
  const old = clock.now() - redemptionLeaseMs - clockSkewMs - 1
  provider.madeAt.set(`applicant of ${first}`, old)
  expect(await webhook(review('pending'), { at: old })).toBe('unknown')
  expect(await share(shop, 'ours')).toEqual({ ...begun, reused: true })
  expect(subject()).toMatchObject({ donor: shop, applicantId: `applicant of ${second}` })
  // By now it is known to be none of ours, whenever the webhook comes.
  expect(await webhook(review('pending'))).toBe('unknown')
})

test('where a name cannot be looked up (the older endpoint), a lost answer is looked up, and no second token is redeemed in any number of requests', async () => {
  const { share, provider, clock, redemptions, errors, identity, memory } = await lostSetup({ findsByName: false })
  for (let days = 0; days < 40; days += 1) {
    for (const by of [shop, otherShop]) await expect(share(by)).rejects.toThrow(unavailable)
    await identity.pollDue()
    await clock.advance(day)
  }
  expect(provider.redeemed).toHaveLength(1)
  expect(redemptions()).toEqual([[first, otherShop, 'unresolved']])
  expect(errors()).toHaveLength(1)
  const logged = memory.committed.shares.map((each) => [each.integrationAddress, each.outcome, each.externalUserId])
  // The outcome of the redemption is logged once, and every request once.
  const ofRedemption = ['started', 'unknown', 'unresolved'].map((outcome) => [otherShop, outcome, first])
  const ofRequests = Array.from({ length: 40 }, () => [shop, otherShop].map((by) => [by, 'unresolved', null])).flat()
  expect(logged).toEqual([...ofRedemption, ...ofRequests])
})

test('a look-up by the poll happens five seconds after the answer was lost, and once more when the lease expires', async () => {
  const { lose, clock, identity, provider, states } = identitySetup()
  await lose('lost before')
  const asked = () => provider.calls.filter((call) => call.startsWith('find')).length
  await clock.advance(firstLookUpMs - 1)
  expect([await identity.pollDue(), asked()]).toEqual([0, 1])
  await clock.advance(1)
  expect([await identity.pollDue(), asked(), states()]).toEqual([1, 2, ['unknown']])
  await clock.advance(redemptionLeaseMs - firstLookUpMs - 1)
  expect([await identity.pollDue(), asked()]).toEqual([0, 2])
  await clock.advance(1)
  expect([await identity.pollDue(), asked(), states()]).toEqual([1, 3, ['absent']])
})

test('a redemption that is resolved during its look-up keeps that result', async () => {
  for (const state of ['attached', 'surplus', 'unused', 'foreign'] as const) {
    const { store, clock, logger, redemptions, outcomes, lose } = identitySetup()
    await lose('lost before')
    const logged = outcomes().length
    await store.transaction(async (tx) => {
      await tx.identity.changeRedemption(first, { state })
      const redemption = redemptionWith({ state: 'unknown', isLeased: false })
      await applyLookUp(tx, { redemption, result: 'nobody' }, { clock, logger })
    })
    expect([redemptions(), outcomes().length]).toEqual([[[first, shop, state]], logged])
  }
})
