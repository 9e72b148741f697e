import { expect, test } from 'vitest'
import * as fixtures from '../../test/support/identity-setup.js'
import { createPollDue, maxMissingAtOnce, missingUntilGoneMs } from './poll.js'
import { firstPollMs, inFlightPollMs, retryPollMs } from './reviews.js'

const { approved, begun, first, identitySetup, otherShop, rejected, review, second, shop } = fixtures
const [hour, day] = [3_600_000, 24 * 3_600_000]
const pending = review('pending')
const applicantId = `applicant of ${first}`

async function shared() {
  const setup = identitySetup()
  await setup.share()
  return { ...setup, known: () => setup.subject().review }
}

test('the provider is polled when no webhook came, first after ten minutes and then every hour', async () => {
  const { identity, clock, provider, known } = await shared()
  await clock.advance(firstPollMs - 1)
  expect(await identity.pollDue()).toBe(0)
  await clock.advance(1)
  expect(await identity.pollDue()).toBe(1)
  expect(await identity.pollDue()).toBe(0)
  provider.reviews.set(applicantId, approved)
  await clock.advance(hour)
  expect(await identity.pollDue()).toBe(1)
  expect(known()).toEqual(approved)
})

test('the provider is polled once a day about a verdict, until it is thirty days old', async () => {
  const { identity, webhook, provider, clock } = await shared()
  provider.reviews.set(applicantId, approved)
  await webhook(approved)
  let polled = 0
  for (let passed = 0; passed < 60; passed += 1) {
    await clock.advance(day)
    polled += await identity.pollDue()
  }
  expect(polled).toBe(30)
})

const faults = ['lost before', 'throttled', 'misconfigured'] as const
test.each(faults)('the provider is polled again a minute after it was %s, and nothing changes', async (fault) => {
  const { identity, clock, fails, known, errors } = await shared()
  await clock.advance(firstPollMs)
  fails(fault)
  expect(await identity.pollDue()).toBe(1)
  expect(known()).toEqual(begun)
  expect(errors()).toHaveLength(fault === 'misconfigured' ? 1 : 0)
  fails(null)
  await clock.advance(retryPollMs - 1)
  expect(await identity.pollDue()).toBe(0)
  await clock.advance(1)
  expect(await identity.pollDue()).toBe(1)
})

test('the provider is polled about direct verifications with an applicant, and never about others', async () => {
  const { register, direct, identity, clock, provider, subjectsOf } = identitySetup()
  const [followed, unfollowed] = [await register('one@example.com'), await register('two@example.com')]
  await direct(followed, pending, 'own')
  await direct(unfollowed, pending, null)
  await clock.advance(hour)
  provider.reviews.set('own', approved)
  expect(await identity.pollDue()).toBe(1)
  expect(subjectsOf(followed)).toMatchObject([{ review: approved }])
})

test('a polled review of another level than the one the applicant was attached with is recorded once and changes nothing', async () => {
  const { identity, provider, webhook, clock, subject, history, logger, share } = identitySetup()
  provider.levelName = 'strict'
  await share()
  provider.levelName = 'basic'
  provider.reviews.set(applicantId, approved)
  for (const after of [firstPollMs, hour, hour]) {
    await clock.advance(after)
    expect(await identity.pollDue()).toBe(1)
    expect(subject()).toMatchObject({ review: begun, reviewedAt: null, doubt: null })
  }
  expect(history().slice(1)).toEqual(['poll review other_level'])
  const fields = { subjectId: 's1', applicantId, levelName: 'basic', attachedLevel: 'strict' }
  expect(logger.lines).toMatchObject([{ level: 'warn', fields }])
  await webhook(pending, { levelName: 'strict' })
  provider.reviews.set(applicantId, rejected)
  await clock.advance(hour)
  expect(await identity.pollDue()).toBe(1)
  expect(history().slice(2)).toEqual(['webhook review applied', 'poll review other_level'])
  provider.levelName = 'strict'
  await clock.advance(hour)
  await identity.pollDue()
  expect(subject().review).toEqual(rejected)
})

/** A share whose answer has a verdict, with or without the provider's time. */
async function sharedAs(given: typeof approved, reviewedAt?: number) {
  const setup = identitySetup()
  setup.provider.reviews.set(applicantId, given)
  if (reviewedAt !== undefined) setup.provider.reviewedAt.set(applicantId, reviewedAt)
  await setup.share()
  const say = (then: typeof approved, at?: number) => {
    setup.provider.reviews.set(applicantId, then)
    if (at === undefined) setup.provider.reviewedAt.delete(applicantId)
    else setup.provider.reviewedAt.set(applicantId, at)
  }
  const known = () => [setup.subject().review, setup.subject().reviewedAt]
  return { ...setup, say, known, start: setup.clock.now() }
}

test('a verdict without a time is polled at once, and gets the time of that answer', async () => {
  const { identity, known, start, say } = await sharedAs(approved)
  expect(known()).toEqual([approved, null])
  say(approved, start - 5_000)
  expect(await identity.pollDue()).toBe(1)
  expect(known()).toEqual([approved, start - 5_000])
  expect(await identity.pollDue()).toBe(0)
})

test.each([
  ['without a time', undefined],
  ['of the same time', 1_000],
  ['of an older time', 999],
])('a verdict GREEN %s replaces RED when a second poll repeats it a minute later', async (_, at) => {
  const { identity, known, say, clock, history, subject } = await sharedAs(rejected, 1_000)
  await clock.advance(firstPollMs)
  say(approved, at)
  expect(await identity.pollDue()).toBe(1)
  expect(known()).toEqual([rejected, 1_000])
  expect(subject().doubt).toEqual(approved)
  expect(await identity.pollDue()).toBe(0)
  await clock.advance(retryPollMs)
  expect(await identity.pollDue()).toBe(1)
  expect(known()[0]).toEqual(approved)
  expect(subject().doubt).toBeNull()
  expect(history().slice(1)).toEqual(['poll review doubtful', 'poll review applied'])
})

test("a verdict keeps the provider's time, so a webhook dated a moment later counts whatever our clock shows", async () => {
  const { identity, known, say, clock, start, webhook } = await sharedAs(pending)
  await clock.advance(firstPollMs)
  say(approved, start + 1_000)
  await identity.pollDue()
  expect(await webhook(rejected, { at: start + 1_500 })).toBe('applied')
  expect(known()).toEqual([rejected, start + 1_500])
})

test('while a poll is in flight, the reported deletion of the applicant stays, and is polled at once', async () => {
  const { during, provider, identity, subject, webhook, share, clock } = identitySetup()
  await share()
  await webhook(approved)
  provider.reviews.set(applicantId, approved)
  await clock.advance(day)
  during('review', () => webhook(null, { change: 'deleted' }))
  expect(await identity.pollDue()).toBe(1)
  expect(subject()).toMatchObject({ missing: { reported: true, confirmed: false } })
  provider.reviews.set(applicantId, null)
  expect(await identity.pollDue()).toBe(1)
  expect(subject()).toMatchObject({ review: null, missing: { confirmed: true } })
})

async function many(count: number) {
  const setup = identitySetup()
  for (let n = 1; n <= count; n += 1) await setup.shareFor(`user${n}@example.com`)
  await setup.clock.advance(firstPollMs)
  const { store, provider, clock, logger } = setup
  const polled = () => provider.calls.filter((call) => call.startsWith('review')).length
  return { ...setup, polled, pollDue: createPollDue({ store, provider, clock, logger }) }
}

test('a round stops at the first 429, and the others stay due', async () => {
  const { pollDue, provider, polled } = await many(5)
  let calls = 0
  provider.fault = () => (++calls === 2 ? 'throttled' : null)
  expect(await pollDue()).toBe(2)
  expect(polled()).toBe(2)
  expect(await pollDue()).toBe(3)
})

test('a round stops with the service, after the poll in flight', async () => {
  const { pollDue, provider, polled } = await many(5)
  const stopping = new AbortController()
  provider.pause = async () => {
    if (polled() === 2) stopping.abort()
  }
  expect(await pollDue(stopping.signal)).toBe(2)
  expect(await pollDue(stopping.signal)).toBe(0)
  expect(polled()).toBe(2)
})

test('a round deletes events that are forty days old, and no newer one', async () => {
  const { pollDue, webhook, memory, clock, getSubject } = await many(1)
  const name = `pi:${(await getSubject('user1@example.com')).id}:1`
  await webhook(approved, { name })
  await clock.advance(40 * day)
  await pollDue()
  expect(memory.sql('select * from provider_events')).toHaveLength(1)
  await clock.advance(1)
  await pollDue()
  expect(memory.sql('select * from provider_events')).toEqual([])
  // A copy then is as old as the stored verdict: it does not apply a second time.
  expect(await webhook(rejected, { name, at: clock.now() - 41 * day, key: 'replayed' })).toBe('older')
})

test('the loop continues after an error of store or provider, and stops at once when the signal aborts', async () => {
  const { clock, identity, memory, share, subject, provider, logger } = identitySetup()
  await share()
  await clock.advance(firstPollMs)
  memory.failures.push(new Error('disk'))
  const stopping = new AbortController()
  const running = identity.run(stopping.signal)
  await clock.advance(0)
  expect(logger.lines.at(-1)).toMatchObject({ level: 'error', fields: { error: 'Error' } })
  provider.reviews.set(applicantId, approved)
  await clock.advance(30_000)
  expect(subject().review).toEqual(approved)
  await clock.advance(day)
  provider.pause = () => new Promise(() => undefined)
  await clock.advance(30_000)
  stopping.abort()
  await running
})

test('a round that is called after the loop was aborted polls the provider', async () => {
  const { clock, identity, share, provider } = identitySetup()
  await share()
  await identity.run(AbortSignal.abort())
  await clock.advance(firstPollMs)
  expect([await identity.pollDue(), provider.calls.at(-1)]).toEqual([1, `review ${applicantId}`])
})

const notDonated = expect.objectContaining({ code: 'ERR_VERIFICATION_UNAVAILABLE' })

/** A verification that was shared and approved; the provider then does not know its applicant. */
async function vanished() {
  const setup = identitySetup()
  await setup.share()
  await setup.webhook(approved)
  setup.provider.reviews.set(applicantId, null)
  return {
    ...setup,
    passDay: () => setup.clock.advance(missingUntilGoneMs),
    /** Another user shares, and the provider does not know that applicant either. */
    async alsoMissing(n: number) {
      const address = `user${n}@example.com`
      await setup.shareFor(address)
      setup.provider.reviews.set(`applicant of pi:${(await setup.getSubject(address)).id}:1`, null)
    },
  }
}

test('an applicant that the provider does not know at one poll is only logged as an error: donor and verdict stay, and it is polled again', async () => {
  const { identity, subject, share, errors, passDay, clock, provider, history } = await vanished()
  await passDay()
  expect(await identity.pollDue()).toBe(1)
  expect(subject()).toMatchObject({
    ...{ donor: shop, applicantId, review: approved },
    missing: { since: clock.now(), reported: false, confirmed: false },
  })
  expect(errors()).toHaveLength(1)
  expect(await share()).toEqual({ ...approved, reused: false })
  await expect(share(otherShop)).rejects.toThrow(notDonated)
  await clock.advance(firstPollMs - 1)
  expect(await identity.pollDue()).toBe(0)
  await clock.advance(1)
  provider.reviews.set(applicantId, approved)
  expect(await identity.pollDue()).toBe(1)
  expect(subject()).toMatchObject({ review: approved, missing: null })
  expect(history().slice(2)).toEqual(['poll missing doubtful', 'poll back applied'])
})

test('an applicant that the provider does not know for a day counts as gone: only its donor may share again', async () => {
  const { identity, subject, share, clock, passDay, provider } = await vanished()
  await passDay()
  await identity.pollDue()
  const since = clock.now()
  await clock.advance(firstPollMs)
  await identity.pollDue()
  for (let passed = firstPollMs; passed < missingUntilGoneMs; passed += inFlightPollMs) {
    expect(subject().review).toEqual(approved)
    await clock.advance(inFlightPollMs)
    expect(await identity.pollDue()).toBe(1)
  }
  const missing = { since, reported: false, confirmed: true }
  expect(subject()).toMatchObject({ donor: shop, applicantId, review: null, missing })
  await expect(share(otherShop)).rejects.toThrow(notDonated)
  expect(await share()).toEqual({ ...begun, reused: true })
  expect(subject()).toMatchObject({ applicantId: `applicant of ${second}`, missing: null })
  expect(provider.redeemed).toHaveLength(2)
})

test('an applicant that the provider does not know together with many others is our own fault: nothing changes, however long', async () => {
  const { identity, subject, alsoMissing, passDay, memory, logger } = await vanished()
  for (let n = 2; n <= maxMissingAtOnce + 1; n += 1) await alsoMissing(n)
  for (let days = 0; days < 5; days += 1) {
    await passDay()
    await identity.pollDue()
    expect(subject().review).toEqual(approved)
  }
  const subjects = memory.committed.subjects
  const kept = subjects.filter(({ donor, review: known }) => donor === shop && known !== null)
  expect([kept.length, subjects.length]).toEqual(Array(2).fill(maxMissingAtOnce + 1))
  expect(logger.lines.filter(({ fields }) => 'atOnce' in fields).length).toBeGreaterThan(1)
})

test('a deactivated applicant is on hold for its donor, and has its review again once it is active', async () => {
  const { webhook, share, subject, provider, identity, clock, passDay } = await vanished()
  provider.reviews.set(applicantId, approved)
  const at = clock.now()
  expect(await webhook(null, { change: 'deactivated', at: at + 1 })).toBe('applied')
  expect(await share()).toEqual({ ...review('onHold'), reused: false })
  await expect(share(otherShop)).rejects.toThrow(notDonated)
  await passDay()
  await identity.pollDue()
  // The provider still answers the earlier verdict; it approves no account.
  expect(await share()).toEqual({ ...review('onHold'), reused: false })
  expect(await webhook(null, { change: 'deactivated', at, key: 'older' })).toBe('older')
  expect(await webhook(approved, { change: 'activated', at: at + 2 })).toBe('applied')
  expect(await share()).toEqual({ ...approved, reused: false })
  expect(await webhook(null, { change: 'deactivated', at: at + 1, key: 'late' })).toBe('older')
  expect(await share()).toEqual({ ...approved, reused: false })
  expect(subject()).toMatchObject({ donor: shop, presence: { isActive: true, at: at + 2 } })
  expect(provider.redeemed).toHaveLength(1)
})
