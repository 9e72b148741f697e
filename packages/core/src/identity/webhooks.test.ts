/** docs/interface.md 3: a verification that exists but was not donated by the caller. */
import { expect, test } from 'vitest'
import * as fixtures from '../../test/support/identity-setup.js'
import type { Review } from '../ports/identity.js'
import { maxAheadMs } from './reviews.js'
import { decideDirect } from './webhooks.js'

const { approved, begun, email, first, identitySetup, notStarted, otherShop, rejected, review } = fixtures
const { second, shop, subjectWith } = fixtures
const pending = review('pending')
const final = review('completed', 'RED', 'FINAL')
const applicantId = `applicant of ${first}`
const aheads = [maxAheadMs + 1, 365 * 24 * 60 * 60_000]

/** A verification that was shared, with a webhook at `after` milliseconds since. */
async function shared() {
  const setup = identitySetup()
  await setup.share()
  const start = setup.clock.now()
  const reported = (given: Review | null, after: number, key?: string) =>
    setup.webhook(given, { at: start + after, ...(key === undefined ? {} : { key }) })
  return { ...setup, reported, start, known: () => setup.subject().review }
}

test('a webhook is not older than a review that was stored while the clock was hours ahead', async () => {
  const { clock, reported, known, identity, provider, store, subject } = await shared()
  provider.reviews.set(applicantId, pending)
  await store.transaction((tx) => tx.identity.changeVerification(subject().id, { pollInMs: 0 }))
  const { now } = clock
  clock.now = () => now() + 3 * 60 * 60_000
  await identity.pollDue()
  clock.now = now
  expect(known()).toEqual(pending)
  expect(await reported(approved, 2)).toBe('applied')
  expect(known()).toEqual(approved)
})

test('a webhook of the deletion of an applicant that was never attached leaves the attached one', async () => {
  const { reported, lose, webhook, subject, clock } = await shared()
  await reported(rejected, 1)
  await lose()
  expect(await webhook(null, { name: second, at: clock.now() + 5 })).toBe('unknown')
  expect(subject()).toMatchObject({ donor: shop, applicantId, review: rejected })
})

test('a webhook that replaces a verdict by a review without one causes a poll at once', async () => {
  const { reported, identity, provider, known } = await shared()
  await reported(approved, 1)
  expect(await reported(pending, 2)).toBe('applied')
  provider.reviews.set(applicantId, approved)
  expect(await identity.pollDue()).toBe(1)
  expect(known()).toEqual(approved)
})

async function sharedAt(levelName: string | null) {
  const setup = identitySetup()
  setup.provider.levelName = levelName
  await setup.share()
  await setup.clock.advance(1_000)
  return setup
}

test.each([
  ['an approval', pending, approved],
  ['a rejection', approved, rejected],
  ['a review that begins anew', approved, begun],
])('a webhook of another level than the attached one records %s and changes nothing', async (_, stored, reported) => {
  const { webhook, subject, history, clock, logger } = await sharedAt('strict')
  await webhook(stored, { levelName: 'strict' })
  await clock.advance(1)
  const before = subject()
  expect(await webhook(reported, { levelName: 'basic' })).toBe('other_level')
  expect(subject()).toEqual(before)
  expect(history().slice(1)).toEqual(['webhook review applied', 'webhook review other_level'])
  const fields = { subjectId: 's1', applicantId, levelName: 'basic', attachedLevel: 'strict' }
  expect(logger.lines.at(-1)).toMatchObject({ level: 'warn', fields })
  expect(await webhook(reported, { levelName: 'basic' })).toBe('duplicate')
  await clock.advance(1)
  expect(await webhook(final, { levelName: 'strict' })).toBe('applied')
  expect(subject().review).toEqual(final)
})

test('a webhook of another level than the one its applicant was attached with activates and deactivates its applicant, but its review does not count', async () => {
  const { webhook, subject, clock, history } = await sharedAt('strict')
  await webhook(null, { levelName: 'basic', change: 'deactivated' })
  await clock.advance(1)
  const at = clock.now()
  expect(await webhook(approved, { levelName: 'basic', change: 'activated' })).toBe('other_level')
  expect(subject()).toMatchObject({ review: begun, presence: { isActive: true, at } })
  expect(history().slice(1)).toEqual(['webhook deactivated applied', 'webhook activated other_level'])
})

test('a webhook of another level than the one its applicant was attached with reports the deletion of its applicant', async () => {
  const { webhook, subject } = await sharedAt('strict')
  expect(await webhook(null, { levelName: 'basic' })).toBe('applied')
  expect(subject().missing).toMatchObject({ reported: true })
})

test('a webhook of another level than the one its applicant was attached with changes nothing where the provider named the level, which the redemption did not', async () => {
  const { start, deps, webhook, subject, clock } = identitySetup()
  // As with an import, which copies an applicant together with its level.
  const redeem: typeof deps.provider.redeem = async (request) => {
    const answer = await deps.provider.redeem(request)
    if (answer.kind !== 'redeemed') return answer
    return { ...answer, applicant: { ...answer.applicant, levelName: 'strict' } }
  }
  const importing = start({ provider: { ...deps.provider, levelName: null, redeem } })
  await importing.share({ integrationAddress: shop, email, shareToken: 'canary-token' })
  await clock.advance(1)
  expect(await webhook(approved, { levelName: 'basic' })).toBe('other_level')
  expect(subject().review).toEqual(begun)
  expect(await webhook(approved, { levelName: 'strict', key: 'own' })).toBe('applied')
})

test('a webhook of a redemption with an unknown outcome of another level attaches nothing, as a look-up does', async () => {
  const { provider, lose, webhook, subject, redemptions, errors, history } = identitySetup()
  provider.levelName = 'basic'
  await lose()
  expect(await webhook(approved, { levelName: 'strict' })).toBe('unknown')
  expect(subject()).toMatchObject({ applicantId: null, donor: null })
  expect([redemptions(), history()]).toEqual([[[first, shop, 'unknown']], []])
  expect(errors().map(({ fields }) => fields)).toEqual([{ externalUserId: first, applicantId, misfit: 'level' }])
  expect(await webhook(approved, { levelName: 'basic' })).toBe('applied')
  expect(subject()).toMatchObject({ applicantId, donor: shop, review: approved })
})

const withoutReview = ['deactivated', 'deleted'] as const
test.each(withoutReview)('a webhook that reports %s attaches nothing while the outcome is unknown', async (change) => {
  const { lose, webhook, share } = identitySetup()
  await lose('lost before')
  expect(await webhook(null, { change })).toBe('unknown')
  expect(await share(otherShop)).toEqual({ ...notStarted, reused: false })
})

test.each(aheads)('a webhook dated %i ms ahead of this clock is not applied; the provider is polled', async (ahead) => {
  const { webhook, subject, start, provider, identity, logger, history } = await shared()
  const { review: before, reviewedAt } = subject()
  expect(await webhook(approved, { at: start + ahead })).toBe('doubtful')
  expect(subject()).toMatchObject({ review: before, reviewedAt })
  expect(logger.lines.at(-1)).toMatchObject({ level: 'warn', fields: { applicantId, aheadMs: ahead } })
  expect(history().at(-1)).toBe('webhook review doubtful')
  provider.reviews.set(applicantId, rejected)
  expect(await identity.pollDue()).toBe(1)
  expect(subject().review).toEqual(rejected)
  // Its time did not stay behind either: the next true one is newer.
  expect(await webhook(approved, { at: start + 1 })).toBe('applied')
})

const donated = subjectWith({ donor: shop, review: begun })
const direct = subjectWith({ id: 'direct', emailKey: null, accountId: 'a', review: approved, reviewedAt: 10 })

test.each([
  ['without any other verification', [], 10, 'recorded'],
  ['after a shared one that was rejected', [{ ...donated, review: rejected }], 10, 'recorded'],
  ['after a shared one that is approved', [{ ...donated, review: approved }], 10, 'kept'],
  ['after a closed one that is approved', [subjectWith(), { ...donated, closed: true, review: approved }], 10, 'kept'],
  ['after a direct one of the same time', [direct], 10, 'recorded'],
  ['dated before the stored direct one', [direct], 9, 'kept'],
  ['after an older direct one, beside an approved one', [direct, { ...donated, review: approved }], 11, 'recorded'],
] as const)('a direct verification %s', (_, subjects, at, decision) => {
  expect(decideDirect(subjects, { at, isBusy: false })).toBe(decision)
  expect(decideDirect(subjects, { at, isBusy: true })).toBe('busy')
})

test('a recorded direct verification does not replace an approved shared one, and is logged when it is recorded', async () => {
  const { register, direct: record, share, webhook, accountEvents, subjectsOf, clock, getSubject } = identitySetup()
  const accountId = await register()
  await share()
  const name = `pi:${(await getSubject()).id}:1`
  await webhook(approved, { name })
  expect(await record(accountId)).toBe('kept')
  await webhook(rejected, { name, at: clock.now() + 1 })
  expect(await record(accountId, approved, null)).toBe('recorded')
  expect(subjectsOf(accountId).map(({ emailKey }) => emailKey === null)).toEqual([false, true])
  expect(accountEvents().at(-1)).toMatchObject({ action: 'verified', accountId, emailKey: null })
})
