import { expect, test } from 'vitest'
import {
  approved,
  begun,
  email,
  first,
  identitySetup,
  otherEmail,
  otherShop,
  rejected,
  second,
  shop,
} from '../../test/support/identity-setup.js'

const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE' })
const none = { externalUserId: first, applicantId: null }
const found = { externalUserId: first, applicantId: `applicant of ${first}` }

/** A redeemed token with an unknown outcome, whose name cannot be looked up. */
async function unresolved() {
  const setup = identitySetup()
  setup.provider.findsByName = false
  await setup.lose('lost after', otherShop)
  await setup.expire()
  await expect(setup.share(otherShop)).rejects.toThrow(unavailable)
  return { ...setup, resolve: setup.identity.resolveRedemption }
}

/** The same, asking for a level that the provider's applicants turn out not to have. */
async function misfit() {
  const setup = identitySetup()
  setup.provider.levelName = 'basic'
  await setup.lose('lost after', otherShop)
  setup.provider.levelName = 'strict'
  await setup.expire()
  await expect(setup.share(otherShop)).rejects.toMatchObject({ code: 'ERR_IDENTITY_MISCONFIGURED' })
  return { ...setup, resolve: setup.identity.resolveRedemption }
}

test('an operator names the applicant of an unresolved redemption, and the integration that redeemed is the donor', async () => {
  const { resolve, subject, outcomes, history } = await unresolved()
  expect(await resolve(found)).toBe('attached')
  expect(subject()).toMatchObject({ donor: otherShop, applicantId: found.applicantId })
  expect(outcomes().at(-1)).toBe('resolved')
  expect(history()).toEqual(['operator review applied'])
  expect(await resolve(none)).toBe('not_open')
})

test('an operator cannot name an applicant that the provider does not know, or that belongs to another subject', async () => {
  const { resolve, provider, redemptions, shareFor, fails } = await unresolved()
  provider.reviews.set('nobody', null)
  expect(await resolve({ ...none, applicantId: 'nobody' })).toBe('unknown_applicant')
  await shareFor(otherEmail, otherShop)
  const taken = provider.redeemed.at(-1)?.applicantId ?? ''
  expect(await resolve({ ...none, applicantId: taken })).toBe('of_another_subject')
  expect(await resolve({ externalUserId: 'pi:nobody:9', applicantId: null })).toBe('not_open')
  fails('lost before')
  await expect(resolve({ ...none, applicantId: 'any' })).rejects.toThrow(unavailable)
  expect(redemptions()[0]).toEqual([first, otherShop, 'unresolved'])
})

test('an applicant that is already attached resolves no other redemption of the subject', async () => {
  const { share, provider, webhook, lose, expire, identity, redemptions, outcomes } = identitySetup()
  await share()
  await webhook(rejected)
  provider.findsByName = false
  await lose()
  await expire()
  await expect(share()).rejects.toThrow(unavailable)
  const before = [redemptions(), outcomes()]
  expect(await identity.resolveRedemption({ ...found, externalUserId: second })).toBe('of_another_redemption')
  expect([redemptions(), outcomes()]).toEqual(before)
  expect(redemptions()[1]).toEqual([second, shop, 'unresolved'])
  const applicantId = `applicant of ${second}`
  expect(await identity.resolveRedemption({ externalUserId: second, applicantId })).toBe('attached')
})

test('a redemption whose applicant has another level is resolved when an operator names it', async () => {
  const { resolve, share, subject, redemptions, provider, history } = await misfit()
  provider.reviews.set(found.applicantId, approved)
  expect(await resolve(found)).toBe('attached')
  // Its level was not asked for: the approval does not count.
  expect(subject()).toMatchObject({ donor: otherShop, applicantId: found.applicantId, review: begun })
  expect(history()).toEqual(['operator review other_level'])
  expect(redemptions()).toEqual([[first, otherShop, 'attached']])
  await expect(share(shop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
})

test('a redemption whose applicant has another level is resolved when an operator declares it absent', async () => {
  const { resolve, share, states } = await misfit()
  expect(await resolve(none)).toBe('absent')
  expect(await share(shop)).toMatchObject({ reused: true })
  expect(states()).toEqual(['refused', 'attached'])
})

test('a resolved redemption has a record in the audit log, and a rejection has none', async () => {
  const { resolve, audit, memory, redemptions, getKey } = await misfit()
  expect(await resolve({ externalUserId: 'pi:nobody:1', applicantId: null })).toBe('not_open')
  memory.failures.push(new Error('disk'))
  await expect(resolve(none)).rejects.toThrow('disk')
  expect([audit(), redemptions()]).toEqual([[], [[first, otherShop, 'unknown']]])
  expect(await resolve(found)).toBe('attached')
  expect(await resolve(none)).toBe('not_open')
  expect(audit()).toEqual([`cli:ada identity.redemption_resolved ${first}`])
  expect(memory.committed.audit[0]?.details).toEqual({
    ...{ outcome: 'attached', applicantId: found.applicantId, integrationAddress: otherShop },
    emailKey: await getKey(email),
  })
})
