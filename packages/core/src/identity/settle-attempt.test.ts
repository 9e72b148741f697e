import { expect, test } from 'vitest'
import { email, otherShop, rejected, shareSetup, shop } from '../../test/support/share-setup.js'
import { claimLeaseMs } from './claim-times.js'
import { endAbsent } from './look-up.js'

const [first, second] = ['pi:account-1:1', 'pi:account-1:2']
const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE' })
const misconfigured = expect.objectContaining({ code: 'ERR_IDENTITY_MISCONFIGURED' })

/** A token that was redeemed and whose answer was lost, asking for a level that the provider's applicants turn out not to have. */
async function misfit() {
  const setup = shareSetup()
  const { provider, share, clock } = setup
  provider.levelName = 'basic'
  provider.fault = () => 'lost after'
  await expect(share(otherShop)).rejects.toThrow(unavailable)
  provider.fault = () => null
  provider.levelName = 'strict'
  await clock.advance(claimLeaseMs)
  await expect(share(otherShop)).rejects.toThrow(misconfigured)
  return setup
}

test('an applicant that is attached already settles no other attempt, which stays unresolved', async () => {
  const { share, provider, webhook, clock, settle, redemptions, outcomes } = shareSetup()
  await share()
  await webhook(rejected)
  provider.findsByName = false
  provider.fault = () => 'lost after'
  await expect(share()).rejects.toThrow(unavailable)
  provider.fault = () => null
  await clock.advance(claimLeaseMs)
  await expect(share()).rejects.toThrow(unavailable)
  const before = [await redemptions(), await outcomes()]
  expect(await settle({ externalUserId: second, applicantId: `applicant of ${first}` })).toBe('of_another_attempt')
  expect([await redemptions(), await outcomes()]).toEqual(before)
  expect((await redemptions())[1]).toEqual([second, shop, 'unresolved'])
  expect(await settle({ externalUserId: second, applicantId: `applicant of ${second}` })).toBe('attached')
})

test('an attempt whose applicant is of another level ends when an operator names the applicant', async () => {
  const { settle, share, verification, redemptions } = await misfit()
  expect(await settle({ externalUserId: first, applicantId: `applicant of ${first}` })).toBe('attached')
  expect(await verification()).toMatchObject({ donor: otherShop, applicantId: `applicant of ${first}`, claim: null })
  expect(await redemptions()).toEqual([[first, otherShop, 'attached']])
  await expect(share(shop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
})

test('an attempt whose applicant is of another level ends when an operator says that nothing came of it', async () => {
  const { settle, share, redemptions } = await misfit()
  expect(await settle({ externalUserId: first, applicantId: null })).toBe('absent')
  expect(await share(shop)).toMatchObject({ reused: true })
  expect((await redemptions()).map(([name, by, state]) => [name, by, state])).toEqual([
    [first, otherShop, 'refused'],
    [expect.any(String), shop, 'attached'],
  ])
})

test('an attempt of a process that died is settled once its claim lapsed, and never before', async () => {
  const { settle, share, provider, clock, redemptions } = shareSetup()
  provider.pause = (_, half) => (half === 'request' ? new Promise(() => undefined) : Promise.resolve())
  void share()
  for (let n = 0; n < 20; n += 1) await Promise.resolve()
  expect(await redemptions()).toEqual([[first, shop, 'claimed']])
  expect(await settle({ externalUserId: first, applicantId: null })).toBe('not_open')
  await clock.advance(claimLeaseMs)
  expect(await settle({ externalUserId: first, applicantId: null })).toBe('absent')
  expect(await settle({ externalUserId: first, applicantId: null })).toBe('not_open')
})

test('what is settled leaves its record in the audit log with it, what is refused leaves none', async () => {
  const { settle, audit, store, redemptions, emails } = await misfit()
  expect(await settle({ externalUserId: 'pi:nobody:1', applicantId: null })).toBe('not_open')
  store.failures.push(new Error('disk'))
  await expect(settle({ externalUserId: first, applicantId: null })).rejects.toThrow('disk')
  expect([audit(), await redemptions()]).toEqual([[], [[first, otherShop, 'unknown']]])
  expect(await settle({ externalUserId: first, applicantId: `applicant of ${first}` })).toBe('attached')
  expect(await settle({ externalUserId: first, applicantId: null })).toBe('not_open')
  expect(audit()).toEqual([`cli:ada identity.attempt_settled ${first}`])
  expect(store.committed().audit[0]?.details).toEqual({
    ...{ outcome: 'attached', applicantId: `applicant of ${first}`, integrationAddress: otherShop },
    emailKey: emails(email).key,
  })
})

test('what an operator says while the attempt is looked up stays, and the request that looked redeems', async () => {
  const { share, provider, clock, settle, redemptions, outcomes } = shareSetup()
  provider.findsByName = false
  provider.fault = () => 'lost before'
  await expect(share()).rejects.toThrow(unavailable)
  provider.fault = () => null
  await clock.advance(claimLeaseMs)
  await expect(share()).rejects.toThrow(unavailable)
  expect(await redemptions()).toEqual([[first, shop, 'unresolved']])
  await clock.advance(claimLeaseMs)
  provider.pause = async (call, half) => {
    if (call !== 'find' || half !== 'answer') return
    provider.pause = async () => undefined
    expect(await settle({ externalUserId: first, applicantId: null })).toBe('absent')
  }
  expect(await share()).toMatchObject({ reused: true })
  expect(await redemptions()).toEqual([
    [first, shop, 'absent'],
    // A claim that looked things up used a number up, too.
    ['pi:account-1:3', shop, 'attached'],
  ])
  expect((await outcomes()).slice(-3)).toEqual(['settled', 'claimed', 'redeemed'])
})

test.each([
  ['unresolved', 'absent'],
  ['unknown', 'absent'],
  ['unknown', 'attached'],
  ['unknown', 'refused'],
] as const)('an attempt that was %s when it was looked up, and %s since, stays so', async (before, since) => {
  const { store, clock, logger, redemptions, outcomes, emails } = shareSetup()
  const attempt = {
    ...{ externalUserId: first, accountId: 'account-1', number: 1, integrationAddress: shop },
    ...{ emailKey: emails(email).key, levelName: null, isFindable: false, claimedAt: clock.now() },
    ...{ replaces: null, takenBy: null, state: before, applicantId: null },
  }
  const isSettled = await store.transaction(async (tx) => {
    await tx.verifications.addRedemption(attempt)
    await tx.verifications.endRedemption(first, since)
    return endAbsent(tx, [attempt], new Set(), { clock, logger })
  })
  expect(isSettled).toBe(true)
  expect([await redemptions(), await outcomes()]).toEqual([[[first, shop, since]], []])
  expect(logger.lines).toEqual([])
})
