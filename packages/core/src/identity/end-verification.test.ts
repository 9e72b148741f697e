/** DESIGN 5.4: what an operator ends lets nobody redeem a second time while the provider may still hold the first. */
import { describe, expect, test } from 'vitest'
import { approved, begun, otherShop, rejected, shareSetup, shop } from '../../test/support/share-setup.js'
import { mostMissing } from './question-times.js'

const accountId = 'account-1'
const applicantId = 'applicant of pi:account-1:1'
const [hold, missing] = [{ accountId, what: 'hold' } as const, { accountId, what: 'missing' } as const]

/** Approved, and switched off at the provider: that it was switched on again was never heard. */
async function onHold() {
  const setup = shareSetup()
  const { share, webhook, provider, clock } = setup
  await share()
  provider.reviews.set(applicantId, approved)
  await webhook(approved)
  await clock.advance(1_000)
  await webhook(null, { news: 'deactivated' })
  expect(await share()).toMatchObject({ reviewStatus: 'onHold', reused: false })
  return setup
}

/**
 * More applicants are missing than any may count as gone, all approved. `witnessed`: another one, approved before, is known.
 */
async function vanished(witnessed = true) {
  const setup = shareSetup()
  const { provider, shareFor, verdicts, clock, share } = setup
  const approve = async (name: string) => {
    const at = clock.now()
    const of = { applicantId: `applicant of ${name}`, externalUserId: name, eventKey: name }
    provider.reviews.set(of.applicantId, approved)
    await verdicts.apply({ ...of, at, review: approved })
  }
  await share()
  const others = Array.from({ length: mostMissing }, (_, n) => n + 2)
  for (const n of others) await shareFor(`user${n}@example.com`)
  const witness = mostMissing + 2
  if (witnessed) {
    await shareFor('witness@example.com')
    await approve(`pi:account-${witness}:1`)
  }
  await clock.advance(1_000)
  const names = [1, ...others].map((n) => `pi:account-${n}:1`)
  for (const name of names) await approve(name)
  for (const name of names) provider.deleted.add(`applicant of ${name}`)
  await clock.advance(25 * 60 * 60_000)
  await verdicts.ask()
  await clock.advance(25 * 60 * 60_000)
  await verdicts.ask()
  expect(await setup.verification()).toMatchObject({ review: approved, missing: { confirmed: false } })
  return { ...setup, witnessId: `applicant of pi:account-${witness}:1` }
}

describe('the hold of an applicant', () => {
  test('ends by an operator when the provider gives the review that is known, and the audit log says who did', async () => {
    const { endVerification, share, audit, history, provider } = await onHold()
    expect(await endVerification(hold)).toBe('ended')
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(audit()).toEqual([`cli:ada identity.hold_ended ${applicantId}`])
    expect((await history()).at(-1)).toBe('operator activated applied')
    expect(provider.redeemed).toHaveLength(1)
    expect(await endVerification(hold)).toBe('nothing_to_end')
    expect(audit()).toHaveLength(1)
  })

  test('in a dry run tells what it would come to, and stays', async () => {
    const { endVerification, verification, audit } = await onHold()
    const before = await verification()
    expect(await endVerification({ ...hold, dryRun: true })).toBe('ended')
    expect([await verification(), audit()]).toEqual([before, []])
  })

  test('stays while the provider gives another review, which is asked about at once', async () => {
    const { endVerification, verdicts, share, provider, audit } = await onHold()
    await verdicts.ask()
    provider.reviews.set(applicantId, rejected)
    expect(await endVerification({ ...hold, dryRun: true })).toBe('other_review')
    expect(await verdicts.ask()).toBe(0)
    expect(await endVerification(hold)).toBe('other_review')
    expect(await share(otherShop).catch(({ code }) => code)).toBe('ERR_VERIFICATION_UNAVAILABLE')
    expect(await verdicts.ask()).toBe(1)
    expect(await endVerification(hold)).toBe('ended')
    expect(audit()).toHaveLength(1)
    expect(await share()).toEqual({ ...begun, reused: true })
  })

  test('stays when the provider does not know the applicant', async () => {
    const { endVerification, provider, verification } = await onHold()
    provider.reviews.set(applicantId, null)
    expect(await endVerification(hold)).toBe('unknown')
    expect((await verification()).presence).toMatchObject({ isActive: false })
  })

  test('begins again by what the provider says of a time after it began, however late that is heard', async () => {
    const { endVerification, share, webhook, clock } = await onHold()
    const since = clock.now()
    await clock.advance(60_000)
    expect(await endVerification(hold)).toBe('ended')
    expect(await webhook(null, { news: 'deactivated', at: since, key: 'copy' })).toBe('older')
    expect(await share()).toMatchObject(approved)
    expect(await webhook(null, { news: 'deactivated', at: since + 1, key: 'late' })).toBe('applied')
    expect(await share()).toMatchObject({ reviewStatus: 'onHold' })
  })

  test('of which something is heard while the provider is asked stays', async () => {
    const { endVerification, webhook, provider, clock, verification } = await onHold()
    provider.pause = async (call, half) => {
      if (call !== 'review' || half !== 'answer') return
      provider.pause = async () => undefined
      await clock.advance(1)
      await webhook(null, { news: 'deactivated', key: 'again' })
    }
    expect(await endVerification(hold)).toBe('changed')
    expect((await verification()).presence).toMatchObject({ isActive: false })
  })
})

describe('the wait for an applicant that is missing with many others', () => {
  test('ends by an operator when the provider knows another of that time: its donor, and nobody else, may share again', async () => {
    const { endVerification, share, verification, audit, provider, history } = await vanished()
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(await endVerification({ ...missing, dryRun: true })).toBe('ended')
    expect(await share()).toEqual({ ...approved, reused: false })
    expect(audit()).toEqual([])
    expect(await endVerification(missing)).toBe('ended')
    expect(audit()).toEqual([`cli:ada identity.missing_ended ${applicantId}`])
    expect((await history()).at(-1)).toBe('operator missing applied')
    expect(await verification()).toMatchObject({ donor: shop, applicantId, review: null, missing: { confirmed: true } })
    await expect(share(otherShop)).rejects.toMatchObject({ code: 'ERR_VERIFICATION_UNAVAILABLE' })
    const before = provider.redeemed.length
    expect(await share()).toEqual({ ...begun, reused: true })
    expect(provider.redeemed).toHaveLength(before + 1)
    expect(await endVerification(missing)).toBe('nothing_to_end')
  })

  test('goes on when the provider knows none that was there with it: the tenant may be another one', async () => {
    const { endVerification, shareFor, verification, provider, verdicts, clock } = await vanished(false)
    expect(await endVerification(missing)).toBe('unproven')
    // One that came since proves nothing of the tenant of before.
    await shareFor('newcomer@example.com')
    const newcomer = provider.redeemed.at(-1)
    const news = { eventKey: 'new', applicantId: newcomer?.applicantId ?? '', externalUserId: null }
    await verdicts.apply({ ...news, at: clock.now(), review: approved })
    expect(await endVerification(missing)).toBe('unproven')
    expect(await verification()).toMatchObject({ review: approved, missing: { confirmed: false } })
  })

  test('goes on when the provider knows no witness any more', async () => {
    const { endVerification, provider, witnessId, audit } = await vanished()
    provider.deleted.add(witnessId)
    expect(await endVerification(missing)).toBe('unproven')
    expect(audit()).toEqual([])
  })

  test('goes on when the provider knows the applicant, which stands where it stood then', async () => {
    const { endVerification, verdicts, provider, verification } = await vanished()
    provider.deleted.delete(applicantId)
    expect(await endVerification(missing)).toBe('known')
    await verdicts.ask()
    expect(await verification()).toMatchObject({ review: approved, missing: null })
  })

  test('goes on when the provider knows an applicant of its name', async () => {
    const { endVerification, provider, audit } = await vanished()
    provider.deleted.delete(applicantId)
    provider.reviews.set(applicantId, null)
    expect(await endVerification(missing)).toBe('known')
    expect(audit()).toEqual([])
  })
})

test.each([
  ['throttled', 'ERR_IDENTITY_UNAVAILABLE', 0],
  ['lost before', 'ERR_IDENTITY_UNAVAILABLE', 0],
  ['misconfigured', 'ERR_IDENTITY_MISCONFIGURED', 1],
] as const)('a provider that answers %s ends nothing, and is in the log %s', async (fault, code, errors) => {
  const { endVerification, provider, verification, logger, audit } = await onHold()
  const before = await verification()
  provider.fault = () => fault
  await expect(endVerification(hold)).rejects.toMatchObject({ code })
  expect([await verification(), audit()]).toEqual([before, []])
  expect(logger.lines.filter(({ level }) => level === 'error')).toHaveLength(errors)
})

test('nothing ends of an account that nobody shared for, or whose verification is in order, and none is made', async () => {
  const { endVerification, share, store } = shareSetup()
  expect(await endVerification({ accountId: 'nobody', what: 'hold' })).toBe('nothing_to_end')
  expect(await store.verifications.list({ limit: 1 })).toEqual([])
  await share()
  for (const ending of [hold, missing]) expect(await endVerification(ending)).toBe('nothing_to_end')
})

test('an end that the audit log cannot take is none', async () => {
  const { endVerification, store, verification } = await onHold()
  const before = await verification()
  store.failures.push(new Error('disk'))
  await expect(endVerification(hold)).rejects.toThrow('disk')
  expect(await verification()).toEqual(before)
})
