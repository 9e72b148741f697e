import { describe, expect, test } from 'vitest'
import { approved, begun, notStarted, otherShop, review, shareSetup, shop } from '../../test/support/share-setup.js'
import { claimLeaseMs } from './claim-times.js'
import { firstQuestionMs, inFlightMs, missingForMs, mostMissing } from './question-times.js'

const notDonated = expect.objectContaining({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
const applicantId = 'applicant of pi:account-1:1'

/** A verification that was shared and approved; the provider then does not know its applicant. */
async function vanished() {
  const setup = shareSetup()
  await setup.share()
  await setup.webhook(approved)
  setup.provider.reviews.set(applicantId, null)
  const errors = () => setup.logger.lines.filter(({ level }) => level === 'error').length
  return { ...setup, errors, day: () => setup.clock.advance(missingForMs) }
}

describe('an applicant that the provider does not know', () => {
  test('once is an error in the log, and nothing else: the donor and the verdict stay, and it is asked again', async () => {
    const { verdicts, verification, share, errors, day, clock, provider, history } = await vanished()
    await day()
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({
      donor: shop,
      applicantId,
      review: approved,
      missing: { since: clock.now(), told: false, confirmed: false },
    })
    expect(errors()).toBe(1)
    expect(await share()).toEqual({ ...approved, reused: false })
    await expect(share(otherShop)).rejects.toThrow(notDonated)
    await clock.advance(firstQuestionMs - 1)
    expect(await verdicts.ask()).toBe(0)
    await clock.advance(1)
    provider.reviews.set(applicantId, approved)
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ review: approved, missing: null })
    expect((await history()).slice(2)).toEqual(['question missing doubtful', 'question back applied'])
  })

  test('for a day is gone: its donor may share again, nobody else', async () => {
    const { verdicts, verification, share, clock, day, provider } = await vanished()
    await day()
    await verdicts.ask()
    const since = clock.now()
    await clock.advance(firstQuestionMs)
    await verdicts.ask()
    for (let passed = firstQuestionMs; passed < missingForMs; passed += inFlightMs) {
      expect((await verification()).review).toEqual(approved)
      await clock.advance(inFlightMs)
      expect(await verdicts.ask()).toBe(1)
    }
    expect(await verification()).toMatchObject({
      donor: shop,
      applicantId,
      review: null,
      missing: { since, told: false, confirmed: true },
    })
    await expect(share(otherShop)).rejects.toThrow(notDonated)
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(await verification()).toMatchObject({ applicantId: 'applicant of pi:account-1:2', missing: null })
    expect(provider.redeemed).toHaveLength(2)
  })

  test('that was gone and is back stands where it stood', async () => {
    const { verdicts, verification, clock, day, provider, webhook } = await vanished()
    await webhook(null, { news: 'deleted' })
    await verdicts.ask()
    expect(await verification()).toMatchObject({ review: null, missing: { confirmed: true } })
    provider.reviews.set(applicantId, approved)
    await clock.advance(inFlightMs)
    await verdicts.ask()
    expect(await verification()).toMatchObject({ donor: shop, review: approved, missing: null })
    await day()
    expect(await verdicts.ask()).toBe(1)
  })

  test('among many is our own fault: nothing is changed, however long it lasts', async () => {
    const { verdicts, verification, shareFor, clock, day, provider, store, logger } = await vanished()
    for (let n = 2; n <= mostMissing + 1; n += 1) {
      await shareFor(`user${n}@example.com`)
      provider.reviews.set(`applicant of pi:account-${n}:1`, null)
    }
    for (let days = 0; days < 5; days += 1) {
      await day()
      await verdicts.ask()
      expect((await verification()).review).toEqual(approved)
    }
    const views = await store.verifications.list({ limit: 100 })
    expect(views.map(({ donor, review: stood }) => [donor, stood === null])).toEqual(
      Array(mostMissing + 1).fill([shop, false]),
    )
    expect(logger.lines.filter(({ fields }) => 'atOnce' in fields).length).toBeGreaterThan(1)
    await clock.advance(0)
  })

  test('among many that come one after the other is our own fault, too', async () => {
    const { verdicts, verification, shareFor, day, provider, clock, webhook } = await vanished()
    await day()
    await verdicts.ask()
    for (let n = 2; n <= mostMissing + 2; n += 1) {
      await shareFor(`user${n}@example.com`)
      provider.reviews.set(`applicant of pi:account-${n}:1`, null)
      await clock.advance(firstQuestionMs)
      await verdicts.ask(1)
      await verdicts.ask(1)
    }
    await day()
    await verdicts.ask()
    await day()
    await verdicts.ask()
    expect(await verification()).toMatchObject({ review: approved, missing: { confirmed: false } })
    // A webhook of this one's deletion is the provider's own word.
    await webhook(null, { news: 'deleted' })
    await verdicts.ask()
    expect(await verification()).toMatchObject({ donor: shop, review: null, missing: { confirmed: true } })
  })
})

describe('a webhook of a deletion', () => {
  test('has the provider asked at once, and counts when it confirms it', async () => {
    const { webhook, verification, verdicts, share } = await vanished()
    expect(await webhook(null, { news: 'deleted' })).toBe('applied')
    expect(await verification()).toMatchObject({
      donor: shop,
      review: approved,
      missing: { told: true, confirmed: false },
    })
    expect(await verdicts.ask()).toBe(1)
    expect(await verification()).toMatchObject({ donor: shop, review: null, missing: { told: true, confirmed: true } })
    await expect(share(otherShop)).rejects.toThrow(notDonated)
    expect(await share()).toEqual({ ...begun, reused: true })
  })

  test('changes nothing where the provider still knows the applicant', async () => {
    const { webhook, verification, verdicts, provider } = await vanished()
    provider.reviews.set(applicantId, approved)
    await webhook(null, { news: 'deleted' })
    await verdicts.ask()
    expect(await verification()).toMatchObject({ review: approved, missing: null })
  })

  test('of an applicant that was never attached, or is not any more, changes nothing', async () => {
    const { webhook, verification, provider, share } = await vanished()
    const before = await verification()
    expect(await webhook(null, { name: 'pi:account-9:1', news: 'deleted' })).toBe('unknown')
    expect(await verification()).toEqual(before)
    provider.reviews.set(applicantId, review('completed', 'RED', 'RETRY'))
    await webhook(review('completed', 'RED', 'RETRY'), { key: 'red' })
    await share()
    expect(await webhook(null, { news: 'deleted', key: 'late' })).toBe('unknown')
    expect(await verification()).toMatchObject({ applicantId: 'applicant of pi:account-1:2', missing: null })
  })
})

describe('an applicant that is switched off', () => {
  test('is on hold for its donor, keeps its place, and stands where it stood when it is on again', async () => {
    const { webhook, share, verification, provider, verdicts, clock, day } = await vanished()
    provider.reviews.set(applicantId, approved)
    const at = clock.now()
    expect(await webhook(null, { news: 'deactivated', at: at + 1 })).toBe('applied')
    expect(await share()).toEqual({ ...review('onHold'), reused: false })
    await expect(share(otherShop)).rejects.toThrow(notDonated)
    await day()
    await verdicts.ask()
    // The provider goes on to show the verdict of before; nobody is approved by it.
    expect(await share()).toEqual({ ...review('onHold'), reused: false })
    expect(await webhook(null, { news: 'deactivated', at, key: 'older' })).toBe('older')
    expect(await webhook(approved, { news: 'activated', at: at + 2 })).toBe('applied')
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(await webhook(null, { news: 'deactivated', at: at + 1, key: 'late' })).toBe('older')
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(await verification()).toMatchObject({ donor: shop, presence: { isActive: true, at: at + 2 } })
    expect(provider.redeemed).toHaveLength(1)
  })

  test('before it is attached says nothing of the account', async () => {
    const { share, webhook, provider } = shareSetup()
    provider.fault = () => 'lost before'
    await expect(share()).rejects.toThrow()
    expect(await webhook(null, { news: 'deactivated' })).toBe('unknown')
    expect(await share(otherShop)).toEqual({ ...notStarted, reused: false })
  })
})

test('that an applicant is missing puts off no look-up of a token whose answer was lost', async () => {
  const { share, webhook, provider, verdicts, clock, store, of } = shareSetup()
  const name = 'pi:account-1:1'
  await share()
  provider.reviews.set(`applicant of ${name}`, approved)
  await webhook(approved)
  provider.deleted.add(`applicant of ${name}`)
  await webhook(null, { news: 'deleted', at: clock.now() + 1 })
  await verdicts.ask()
  expect(await of('account-1')).toMatchObject({ missing: { confirmed: true } })
  for (let day = 0; day < 32; day += 1) {
    await clock.advance(25 * 60 * 60_000)
    await verdicts.ask()
  }
  provider.fault = (call) => (call === 'redeem' ? 'lost after' : call === 'find' ? 'lost before' : null)
  await expect(share()).rejects.toMatchObject({ code: 'ERR_IDENTITY_UNAVAILABLE' })
  provider.fault = () => null
  const { find } = provider
  provider.find = async () => ({ kind: 'answer', value: null })
  await clock.advance(5_000)
  await verdicts.ask()
  expect(store.committed().verifications.get('account-1')?.askAt).toBeLessThanOrEqual(clock.now() + claimLeaseMs)
  provider.find = find
  await clock.advance(claimLeaseMs)
  await verdicts.ask()
  expect(await of('account-1')).toMatchObject({ applicantId: 'applicant of pi:account-1:2', claim: null })
})
