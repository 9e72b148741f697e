/** docs/decisions/identity.md: while the provider may have an applicant, nothing that is closed is redeemed again. */
import { expect, test } from 'vitest'
import * as fixtures from '../../test/support/identity-setup.js'

const { approved, begun, email, first, identitySetup, lostSetup, otherShop, rejected, second, shop } = fixtures
const subjectId = 's1'
const applicantId = `applicant of ${first}`
const [hold, missing] = [{ subjectId, kind: 'hold' } as const, { subjectId, kind: 'missing' } as const]
const absent = { since: 1, reported: false, confirmed: false }
const day = 24 * 60 * 60_000

/** Approved, and switched off at the provider: the webhook that it was switched on again was lost. */
async function onHold() {
  const setup = identitySetup()
  const { share, webhook, provider, clock, identity } = setup
  await share()
  provider.reviews.set(applicantId, approved)
  await webhook(approved)
  await clock.advance(1_000)
  await webhook(null, { change: 'deactivated' })
  expect(await share()).toMatchObject({ reviewStatus: 'onHold', reused: false })
  return { ...setup, close: identity.closeVerification }
}

/** Another user, approved; the provider knows that applicant. */
async function witness(setup: ReturnType<typeof identitySetup>, address = 'witness@example.com') {
  await setup.shareFor(address)
  const name = `pi:${(await setup.getSubject(address)).id}:1`
  setup.provider.reviews.set(`applicant of ${name}`, approved)
  await setup.webhook(approved, { name, key: name })
  return { name, witnessId: `applicant of ${name}` }
}

/** Approved and missing. `witnessed`: the provider knows another one that was approved before. */
async function missingOne({ witnessed = true } = {}) {
  const setup = identitySetup()
  const { share, webhook, clock, provider, identity, seedSubject } = setup
  await share()
  const witnessId = witnessed ? (await witness(setup)).witnessId : ''
  await clock.advance(1_000)
  await webhook(approved)
  seedSubject(subjectId, { missing: absent })
  provider.deleted.add(applicantId)
  return { ...setup, witnessId, close: identity.closeVerification }
}

test('a hold is closed when the provider answers the stored review, and the audit log has the actor', async () => {
  const { close, share, audit, history, provider } = await onHold()
  expect(await close(hold)).toBe('closed')
  expect(await share()).toEqual({ ...approved, reused: false })
  expect(audit()).toEqual([`cli:ada identity.hold_closed ${applicantId}`])
  expect(history().at(-1)).toBe('operator activated applied')
  expect(provider.redeemed).toHaveLength(1)
  expect(await close(hold)).toBe('nothing_to_close')
  expect(audit()).toHaveLength(1)
})

test('a hold stays while the provider gives another review than the stored one, and is polled at once', async () => {
  const { close, identity, share, provider, audit } = await onHold()
  await identity.pollDue()
  provider.reviews.set(applicantId, rejected)
  expect(await close({ ...hold, dryRun: true })).toBe('other_review')
  expect(await identity.pollDue()).toBe(0)
  expect(await close(hold)).toBe('other_review')
  await expect(share(otherShop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
  expect(await identity.pollDue()).toBe(1)
  expect(await close(hold)).toBe('closed')
  expect(audit()).toHaveLength(1)
  expect(await share()).toEqual({ ...begun, reused: true })
})

test('a hold stays when a webhook arrives while the provider is polled', async () => {
  const { close, webhook, during, clock, subject } = await onHold()
  during('review', async () => {
    await clock.advance(1)
    await webhook(null, { change: 'deactivated', key: 'again' })
  })
  expect(await close(hold)).toBe('changed')
  expect(subject().presence).toMatchObject({ isActive: false })
})

test.each([
  ['throttled', 'ERR_IDENTITY_UNAVAILABLE', 0],
  ['lost before', 'ERR_IDENTITY_UNAVAILABLE', 0],
  ['misconfigured', 'ERR_IDENTITY_MISCONFIGURED', 1],
] as const)('a hold stays when the provider answers %s', async (fault, code, logged) => {
  const { close, fails, subject, errors, audit } = await onHold()
  const before = subject()
  fails(fault)
  await expect(close(hold)).rejects.toMatchObject({ code })
  expect([subject(), audit()]).toEqual([before, []])
  expect(errors()).toHaveLength(logged)
})

test('nothing is closed for an unknown subject, or for a verification that is not stuck', async () => {
  const { identity, share } = identitySetup()
  expect(await identity.closeVerification({ subjectId: 'nobody', kind: 'hold' })).toBe('nothing_to_close')
  await share()
  for (const request of [hold, missing]) expect(await identity.closeVerification(request)).toBe('nothing_to_close')
})

test('the wait for a missing applicant is closed when the provider knows another applicant of that time, and then only the donor may share again', async () => {
  const { close, share, subject, audit, provider, history, memory, getKey } = await missingOne()
  expect(await share()).toEqual({ ...approved, reused: false })
  expect(await close({ ...missing, dryRun: true })).toBe('closed')
  expect(await share()).toEqual({ ...approved, reused: false })
  expect(audit()).toEqual([])
  expect(await close(missing)).toBe('closed')
  expect(audit()).toEqual([`cli:ada identity.missing_closed ${applicantId}`])
  expect(memory.committed.audit[0]?.details).toEqual({ integrationAddress: shop, emailKey: await getKey(email) })
  expect(provider.calls).toContain(`find ${first}`)
  expect(history().at(-1)).toBe('operator missing applied')
  expect(subject()).toMatchObject({ donor: shop, applicantId, review: null, missing: { confirmed: true } })
  await expect(share(otherShop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
  const before = provider.redeemed.length
  expect(await share()).toEqual({ ...begun, reused: true })
  expect(provider.redeemed).toHaveLength(before + 1)
  expect(await close(missing)).toBe('nothing_to_close')
})

test('the wait for a missing applicant continues when the provider knows no applicant of that time: the tenant may be wrong', async () => {
  const setup = await missingOne({ witnessed: false })
  expect(await setup.close(missing)).toBe('unproven')
  await setup.clock.advance(1_000)
  // One that came since proves nothing of the tenant of before.
  await witness(setup, 'newcomer@example.com')
  expect(await setup.close(missing)).toBe('unproven')
  expect(setup.subject()).toMatchObject({ review: approved, missing: { confirmed: false } })
})

test('the wait for a missing applicant continues when the provider knows the applicant, which is polled at once', async () => {
  const { close, identity, provider, subject } = await missingOne()
  provider.reviews.set(applicantId, approved)
  provider.deleted.delete(applicantId)
  expect(await close(missing)).toBe('known')
  await identity.pollDue()
  expect(subject()).toMatchObject({ review: approved, missing: null })
})

/** The provider answers by the name of the missing one, although not by its id. */
function foundByName({ provider }: Awaited<ReturnType<typeof missingOne>>, foundId: string): void {
  const { find } = provider
  provider.find = async (asked) =>
    asked === first ? { kind: 'answer', value: { applicantId: foundId, review: approved } } : find(asked)
}

test('the name of a missing applicant closes nothing when the same applicant has it, and that applicant is polled at once', async () => {
  const setup = await missingOne()
  foundByName(setup, applicantId)
  const { close, store } = setup
  expect(await close({ ...missing, dryRun: true })).toBe('known')
  expect(await close(missing)).toBe('known')
  expect(await store.identity.duePolls(9)).toContainEqual({ subjectId, applicantId })
})

test('the name of a missing applicant closes nothing when another applicant has it: the log names that applicant, and nothing is polled', async () => {
  const setup = await missingOne()
  const { close, subject, errors, audit, store } = setup
  foundByName(setup, 'made anew')
  const before = subject()
  expect(await close(missing)).toBe('name_taken')
  expect([subject(), audit()]).toEqual([before, []])
  expect(await store.identity.duePolls(9)).toEqual([])
  expect(errors().map(({ fields }) => fields)).toEqual([
    { externalUserId: first, applicantId: 'made anew', missing: applicantId },
  ])
})

test('a witness of the same time is never an applicant with a newer redemption and an older review, because a copy keeps the time of its original', async () => {
  const { close, provider, shareFor, clock, ids } = await missingOne({ witnessed: false })
  const reviewedAt = clock.now() - 60_000
  await clock.advance(10 * day)
  const copyId = `applicant of pi:s${Number(ids.next().slice(1)) + 1}:1`
  provider.reviews.set(copyId, approved)
  provider.reviewedAt.set(copyId, reviewedAt)
  await shareFor('copy@example.com')
  expect(await close(missing)).toBe('unproven')
  expect(provider.calls).not.toContain(`review ${copyId}`)
})

test('a witness of the same time is searched among at most five applicants of that time', async () => {
  const setup = await missingOne({ witnessed: false })
  const { close, provider, clock, seedSubject } = setup
  await clock.advance(1_000)
  for (let n = 2; n <= 9; n += 1) {
    const { witnessId } = await witness(setup, `user${n}@example.com`)
    provider.deleted.add(witnessId)
  }
  await clock.advance(1_000)
  const polls = () => provider.calls.filter((call) => call.startsWith('review applicant')).length
  expect(await close(missing)).toBe('unproven')
  expect(polls()).toBe(1)
  seedSubject(subjectId, { reviewedAt: clock.now() })
  expect(await close(missing)).toBe('unproven')
  expect(polls()).toBe(1 + 1 + 5)
})

const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE' })
const none = { externalUserId: first, applicantId: null }
const found = { externalUserId: first, applicantId: `applicant of ${first}` }

/** A redeemed token with an unknown outcome, whose name cannot be looked up. */
async function unresolved() {
  const setup = await lostSetup({ findsByName: false })
  await expect(setup.share(otherShop)).rejects.toThrow(unavailable)
  return { ...setup, resolve: setup.identity.resolveRedemption }
}

/** Leaves a redemption unresolved whose applicant turns out to have another level than the service asks for. */
async function misfit() {
  const setup = await lostSetup({ levelName: 'basic' })
  setup.provider.levelName = 'strict'
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
  await shareFor(fixtures.otherEmail, otherShop)
  const taken = provider.redeemed.at(-1)?.applicantId ?? ''
  expect(await resolve({ ...none, applicantId: taken })).toBe('of_another_subject')
  expect(await resolve({ externalUserId: 'pi:nobody:9', applicantId: null })).toBe('not_open')
  fails('lost before')
  await expect(resolve({ ...none, applicantId: 'any' })).rejects.toThrow(unavailable)
  expect(redemptions()[0]).toEqual([first, otherShop, 'unresolved'])
})

test('the applicant that the operator names is attached, whatever other id the answer of the provider has', async () => {
  const { resolve, subject, provider } = await unresolved()
  const { review } = provider
  provider.review = async (applicantId) => {
    const answer = await review(applicantId)
    return answer.kind === 'answer'
      ? { ...answer, value: { ...answer.value, applicantId: 'another' } as never }
      : answer
  }
  expect(await resolve(found)).toBe('attached')
  expect(subject()).toMatchObject({ applicantId: found.applicantId })
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
