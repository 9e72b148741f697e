import { expect, test } from 'vitest'
import {
  approved,
  begun,
  first,
  identitySetup,
  otherShop,
  review,
  second,
  shop,
} from '../../test/support/identity-setup.js'
import { maxMissingAtOnce, missingUntilGoneMs } from './poll.js'
import { firstPollMs, inFlightPollMs } from './reviews.js'

const notDonated = expect.objectContaining({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
const applicantId = `applicant of ${first}`

/** A verification that was shared and approved; the provider then does not know its applicant. */
async function vanished() {
  const setup = identitySetup()
  await setup.share()
  await setup.webhook(approved)
  setup.provider.reviews.set(applicantId, null)
  return {
    ...setup,
    day: () => setup.clock.advance(missingUntilGoneMs),
    /** Another user shares, and the provider does not know that applicant either. */
    async alsoMissing(n: number) {
      const address = `user${n}@example.com`
      await setup.shareFor(address)
      setup.provider.reviews.set(`applicant of pi:${(await setup.getSubject(address)).id}:1`, null)
    },
  }
}

test('an applicant that the provider does not know at one poll is only logged as an error: donor and verdict stay, and it is polled again', async () => {
  const { identity, subject, share, errors, day, clock, provider, history } = await vanished()
  await day()
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
  const { identity, subject, share, clock, day, provider } = await vanished()
  await day()
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
  const { identity, subject, alsoMissing, day, memory, logger } = await vanished()
  for (let n = 2; n <= maxMissingAtOnce + 1; n += 1) await alsoMissing(n)
  for (let days = 0; days < 5; days += 1) {
    await day()
    await identity.pollDue()
    expect(subject().review).toEqual(approved)
  }
  const subjects = memory.committed.subjects
  const kept = subjects.filter(({ donor, review: known }) => donor === shop && known !== null)
  expect([kept.length, subjects.length]).toEqual(Array(2).fill(maxMissingAtOnce + 1))
  expect(logger.lines.filter(({ fields }) => 'atOnce' in fields).length).toBeGreaterThan(1)
})

test('a deactivated applicant is on hold for its donor, and has its review again once it is active', async () => {
  const { webhook, share, subject, provider, identity, clock, day } = await vanished()
  provider.reviews.set(applicantId, approved)
  const at = clock.now()
  expect(await webhook(null, { change: 'deactivated', at: at + 1 })).toBe('applied')
  expect(await share()).toEqual({ ...review('onHold'), reused: false })
  await expect(share(otherShop)).rejects.toThrow(notDonated)
  await day()
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
