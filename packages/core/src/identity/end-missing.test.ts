/** DESIGN 5.4: what proves to an operator's command that an applicant is gone, and what does not. */
import { describe, expect, test } from 'vitest'
import { approved, email, shareSetup, shop } from '../../test/support/share-setup.js'

const accountId = 'account-1'
const [name, witnessName] = ['pi:account-1:1', 'pi:account-2:1']
const applicantId = `applicant of ${name}`
const missing = { accountId, what: 'missing' } as const
const absent = { since: 1, told: false, confirmed: false }

/** Approved and missing. `witnessed`: another one that the provider knows was approved before. */
async function missingOne({ witnessed = true, isReviewed = true } = {}) {
  const setup = shareSetup()
  const { share, shareFor, webhook, clock, store, provider } = setup
  await share()
  if (witnessed) {
    await shareFor('witness@example.com')
    await webhook(approved, { name: witnessName })
  }
  await clock.advance(1_000)
  if (isReviewed) await webhook(approved)
  await store.transaction((tx) => tx.verifications.change(accountId, { missing: absent }))
  provider.deleted.add(applicantId)
  return setup
}

/** The provider answers by the name of the missing one, although not by its id. */
function foundByName({ provider }: Awaited<ReturnType<typeof missingOne>>, foundId: string): void {
  const { find } = provider
  provider.find = async (asked) => {
    const answer = await find(asked)
    return asked === name ? { kind: 'answer', value: { applicantId: foundId, review: approved } } : answer
  }
}

/** Its account shares for another address, and is answered with what is known. */
async function shareForAnother({ store, emails, clock }: Awaited<ReturnType<typeof missingOne>>): Promise<void> {
  const { key: emailKey } = emails('another@example.com')
  await store.transaction((tx) =>
    tx.verifications.logAttempt({
      ...{ at: clock.now(), integrationAddress: shop, emailKey, accountId, outcome: 'already_approved' },
      ...{ externalUserId: null, providerCode: null },
    }),
  )
  expect(await store.verifications.list({ accountId, limit: 1 })).toMatchObject([{ emailKey }])
}

describe('the name of an applicant that is missing', () => {
  test('is asked for although its account shared for another address since, and the audit log has the address of the applicant', async () => {
    const setup = await missingOne()
    await shareForAnother(setup)
    const { provider, endVerification, store, emails } = setup
    expect(await endVerification(missing)).toBe('ended')
    expect(provider.calls).toContain(`find ${name}`)
    const { key: emailKey } = emails(email)
    expect(store.committed().audit.map(({ details }) => details)).toEqual([{ integrationAddress: shop, emailKey }])
  })

  test('that the provider has with the same applicant ends nothing, and it is asked about again at once', async () => {
    const setup = await missingOne()
    foundByName(setup, applicantId)
    const { endVerification, store, clock } = setup
    await clock.advance(1)
    expect(await endVerification({ ...missing, dryRun: true })).toBe('known')
    expect(await endVerification(missing)).toBe('known')
    expect(await store.verifications.dueForQuestion(9)).toContainEqual({ accountId, applicantId })
  })

  test('that another applicant has ends nothing: asking again ends it no more, and the log says who has it', async () => {
    const setup = await missingOne()
    const { endVerification, verification, logger, audit, store } = setup
    await store.transaction((tx) => tx.verifications.change(accountId, { askInMs: null }))
    foundByName(setup, 'made anew')
    const before = await verification()
    expect(await endVerification(missing)).toBe('name_taken')
    expect([await verification(), audit()]).toEqual([before, []])
    expect(await store.verifications.dueForQuestion(9)).not.toContainEqual({ accountId, applicantId })
    expect(logger.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields)).toEqual([
      { externalUserId: name, applicantId: 'made anew', missing: applicantId },
    ])
  })

  test('that nobody knows proves nothing: it is not ended', async () => {
    const { endVerification, store, provider } = await missingOne()
    await store.transaction((tx) => tx.verifications.change(accountId, { applicantId: 'of no attempt' }))
    provider.reviews.set('of no attempt', null)
    expect(await endVerification(missing)).toBe('unproven')
  })

  test('is none of ours when its user was verified directly, which ends with a witness', async () => {
    const { endVerification, store, provider } = await missingOne()
    await store.transaction((tx) => tx.verifications.change(accountId, { donor: 'self', applicantId: 'direct' }))
    provider.reviews.set('direct', null)
    expect(await endVerification(missing)).toBe('ended')
  })
})

describe('a witness', () => {
  test('is one of the time of the redemption where no time of a review is known', async () => {
    const setup = await missingOne({ isReviewed: false })
    await shareForAnother(setup)
    const { endVerification, provider, store } = setup
    expect(await store.verifications.list({ accountId, limit: 1 })).toMatchObject([{ reviewedAt: null }])
    expect(await endVerification(missing)).toBe('ended')
    expect(provider.calls).toContain(`review applicant of ${witnessName}`)
  })

  test('is none whose review is older than it is here, as a copy keeps the time of the one that it was made of', async () => {
    const { endVerification, provider, shareFor, store, clock } = await missingOne({ witnessed: false })
    const reviewedAt = clock.now() - 60_000
    await clock.advance(10 * 24 * 60 * 60_000)
    const copyId = `applicant of ${witnessName}`
    provider.reviews.set(copyId, approved)
    provider.reviewedAt.set(copyId, reviewedAt)
    await shareFor('copy@example.com')
    const [copy] = await store.verifications.list({ accountId: 'account-2', limit: 1 })
    expect(copy).toMatchObject({ applicantId: copyId, reviewedAt })
    expect(await endVerification(missing)).toBe('unproven')
    expect(provider.calls).not.toContain(`review ${copyId}`)
  })

  test('is none that no attempt of ours redeemed', async () => {
    const { endVerification, provider, store } = await missingOne({ witnessed: false })
    const direct = { donor: 'self', applicantId: 'direct', review: approved, reviewedAt: 1 }
    await store.transaction(async (tx) => {
      await tx.verifications.lock('account-2')
      await tx.verifications.change('account-2', direct)
    })
    expect(await endVerification(missing)).toBe('unproven')
    expect(provider.calls).not.toContain('review direct')
  })

  test('is looked for among those of that time alone, five at most', async () => {
    const { endVerification, provider, shareFor, verdicts, clock, store } = await missingOne({ witnessed: false })
    const at = clock.now() - 1
    await clock.advance(1_000)
    for (let n = 2; n <= 9; n += 1) {
      await shareFor(`user${n}@example.com`)
      const id = `applicant of pi:account-${n}:1`
      await verdicts.apply({ eventKey: id, applicantId: id, externalUserId: null, at, review: approved })
      provider.deleted.add(id)
    }
    await clock.advance(1_000)
    expect(await endVerification(missing)).toBe('unproven')
    expect(provider.calls.filter((call) => call.startsWith('review applicant'))).toHaveLength(1)
    await store.transaction((tx) => tx.verifications.change(accountId, { reviewedAt: clock.now() }))
    const before = provider.calls.length
    expect(await endVerification(missing)).toBe('unproven')
    const asked = provider.calls.slice(before).filter((call) => call.startsWith('review applicant'))
    expect(asked).toHaveLength(1 + 5)
  })
})

test('a hold of an applicant that is missing, too, is said to be so, and ends no sooner than the wait for it', async () => {
  const { endVerification, store, provider } = await missingOne()
  const hold = { accountId, what: 'hold' } as const
  await store.transaction((tx) => tx.verifications.change(accountId, { presence: { isActive: false, at: 1 } }))
  const before = provider.calls.length
  expect(await endVerification(hold)).toBe('missing')
  expect(provider.calls).toHaveLength(before)
  expect(await endVerification(missing)).toBe('ended')
  expect(await endVerification(hold)).toBe('nothing_to_end')
})
