import { describe, expect, test } from 'vitest'
import {
  approved,
  begun,
  email,
  first,
  identitySetup,
  notStarted,
  otherShop,
  rejected,
  review,
  second,
  shop,
} from '../../test/support/identity-setup.js'
import type { Review } from '../ports/identity-provider.js'
import { firstPollMs, mostAheadMs } from './reviews.js'

const pending = review('pending')
const final = review('completed', 'RED', 'FINAL')
const applicantId = `applicant of ${first}`
const yearMs = 365 * 24 * 60 * 60_000

/** A verification that was shared, with a webhook at `after` milliseconds since. */
async function shared() {
  const setup = identitySetup()
  await setup.share()
  const start = setup.clock.now()
  const reported = (given: Review | null, after: number, key?: string) =>
    setup.webhook(given, { at: start + after, ...(key === undefined ? {} : { key }) })
  return { ...setup, reported, start, known: () => setup.subject().review }
}

describe('a webhook', () => {
  test('is applied once', async () => {
    const { reported, known } = await shared()
    expect(await reported(pending, 1)).toBe('applied')
    expect(await reported(approved, 2)).toBe('applied')
    expect(await reported(pending, 1)).toBe('duplicate')
    expect(await reported(approved, 2)).toBe('duplicate')
    expect(known()).toEqual(approved)
  })

  test('may change a verdict: RED after GREEN counts', async () => {
    const { reported, share, known } = await shared()
    await reported(approved, 1)
    expect(await reported(rejected, 2)).toBe('applied')
    expect(known()).toEqual(rejected)
    expect(await share()).toEqual({ ...begun, reused: true })
  })

  test('is not older than a review that was stored while the clock was hours ahead', async () => {
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

  test('that is older than the stored review changes nothing, and the provider is polled', async () => {
    const { reported, known, identity, provider } = await shared()
    await reported(approved, 10)
    expect(await reported(pending, 9)).toBe('older')
    expect(known()).toEqual(approved)
    provider.reviews.set(applicantId, rejected)
    expect(await identity.pollDue()).toBe(1)
    expect(known()).toEqual(rejected)
  })

  test('of an applicant that no subject has is unknown', async () => {
    const { webhook, subject, clock } = await shared()
    const before = subject()
    expect(await webhook(approved, { name: 'pi:nobody:1', at: clock.now() + 1 })).toBe('unknown')
    expect(subject()).toEqual(before)
  })

  test('of a replaced applicant changes nothing', async () => {
    const { reported, share, webhook, known, clock } = await shared()
    await reported(rejected, 1)
    await share()
    expect(await webhook(approved, { name: first, at: clock.now() + 5 })).toBe('unknown')
    expect(known()).toEqual(begun)
  })

  test('of the deletion of an applicant that was never attached leaves the attached one', async () => {
    const { reported, lose, webhook, subject, clock } = await shared()
    await reported(rejected, 1)
    await lose()
    expect(await webhook(null, { name: second, at: clock.now() + 5 })).toBe('unknown')
    expect(subject()).toMatchObject({ donor: shop, applicantId, review: rejected })
  })

  test('that replaces a verdict by a review without one causes a poll at once', async () => {
    const { reported, identity, provider, known } = await shared()
    await reported(approved, 1)
    expect(await reported(pending, 2)).toBe('applied')
    provider.reviews.set(applicantId, approved)
    expect(await identity.pollDue()).toBe(1)
    expect(known()).toEqual(approved)
  })

  test('of a direct verification counts for its account', async () => {
    const { register, direct, subjectsOf, identity, clock } = identitySetup()
    const accountId = await register()
    await direct(accountId, approved, 'own')
    await clock.advance(1_000)
    const event = { eventKey: 'e', applicantId: 'own', externalUserId: null, at: clock.now(), review: rejected }
    expect(await identity.applyVerdict(event)).toBe('applied')
    expect(subjectsOf(accountId)).toMatchObject([{ emailKey: null, donor: null, review: rejected }])
  })
})

describe('a webhook of another level than the one its applicant was attached with', () => {
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
  ])('records %s and changes nothing', async (_, stored, reported) => {
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

  test('activates and deactivates its applicant, but its review does not count', async () => {
    const { webhook, subject, clock, history } = await sharedAt('strict')
    await webhook(null, { levelName: 'basic', change: 'deactivated' })
    await clock.advance(1)
    const at = clock.now()
    expect(await webhook(approved, { levelName: 'basic', change: 'activated' })).toBe('other_level')
    expect(subject()).toMatchObject({ review: begun, presence: { isActive: true, at } })
    expect(history().slice(1)).toEqual(['webhook deactivated applied', 'webhook activated other_level'])
  })

  test('reports the deletion of its applicant', async () => {
    const { webhook, subject } = await sharedAt('strict')
    expect(await webhook(null, { levelName: 'basic' })).toBe('applied')
    expect(subject().missing).toMatchObject({ reported: true })
  })

  test('counts where neither the redemption nor the attached applicant named a level', async () => {
    const { webhook, subject, clock } = await sharedAt(null)
    expect(await webhook(pending, { levelName: 'basic' })).toBe('applied')
    await clock.advance(1)
    expect(await webhook(approved, { levelName: 'strict' })).toBe('applied')
    expect(subject().review).toEqual(approved)
  })

  test('changes nothing where the provider named the level, which the redemption did not', async () => {
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

  test('counts for a direct verification, which has no level', async () => {
    const { register, direct, subjectsOf, identity, clock } = identitySetup()
    const accountId = await register()
    await direct(accountId, approved, 'own')
    await clock.advance(1_000)
    const event = { eventKey: 'e', applicantId: 'own', externalUserId: null, at: clock.now(), review: rejected }
    expect(await identity.applyVerdict({ ...event, levelName: 'basic' })).toBe('applied')
    expect(subjectsOf(accountId)).toMatchObject([{ review: rejected }])
  })
})

describe('a webhook of a redemption with an unknown outcome', () => {
  test('attaches its applicant, for the integration whose token it was', async () => {
    const { lose, webhook, subject, states, outcomes } = identitySetup()
    await lose('lost after', otherShop)
    expect(await webhook(pending)).toBe('applied')
    expect(subject()).toMatchObject({ donor: otherShop, applicantId, review: pending })
    expect(states()).toEqual(['attached'])
    expect(outcomes().at(-1)).toBe('reported')
    expect(await webhook(pending)).toBe('duplicate')
  })

  test('of another level attaches nothing, as a look-up does', async () => {
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

  test.each(['deactivated', 'deleted'] as const)('that reports %s attaches nothing', async (change) => {
    const { lose, webhook, share } = identitySetup()
    await lose('lost before')
    expect(await webhook(null, { change })).toBe('unknown')
    expect(await share(otherShop)).toEqual({ ...notStarted, reused: false })
  })

  test('that an operator declared absent attaches nothing', async () => {
    const { lose, expire, webhook, identity, subject, states } = identitySetup()
    await lose()
    await expire()
    expect(await identity.resolveRedemption({ externalUserId: first, applicantId: null })).toBe('absent')
    expect(await webhook(pending)).toBe('unknown')
    expect([states(), subject().donor]).toEqual([['refused'], null])
  })
})

test('webhooks, two of them of the same time and one sent twice, have the same result in each order', async () => {
  const four = [
    [rejected, 3],
    [final, 5],
    [approved, 5],
    [rejected, 3],
  ] as const
  const ends = new Set<string>()
  for (const order of permutations(four)) {
    const { reported, subject } = await shared()
    for (const [given, after] of order) await reported(given, after, JSON.stringify([given, after]))
    const { review: known, reviewedAt } = subject()
    ends.add(JSON.stringify([known, reviewedAt]))
  }
  expect([...ends]).toEqual([JSON.stringify([final, Date.UTC(2026, 0, 1) + 5])])
})

describe('a webhook that is dated ahead of this clock', () => {
  test('counts within five minutes', async () => {
    const { webhook, subject, start } = await shared()
    expect(await webhook(approved, { at: start + mostAheadMs })).toBe('applied')
    expect(subject()).toMatchObject({ review: approved, reviewedAt: start + mostAheadMs })
  })

  test.each([mostAheadMs + 1, yearMs])('by %i ms is not applied, and the provider is polled', async (ahead) => {
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

  test.each(['deactivated', 'activated', 'deleted'] as const)('and reports %s changes nothing', async (change) => {
    const { webhook, subject, start } = await shared()
    expect(await webhook(null, { at: start + yearMs, change })).toBe('doubtful')
    expect(subject()).toMatchObject({ presence: null, missing: null })
  })

  test('attaches nothing; a look-up at once attaches its applicant', async () => {
    const { lose, webhook, subject, identity, clock } = identitySetup()
    await lose()
    expect(await webhook(approved, { at: clock.now() + yearMs })).toBe('doubtful')
    expect(subject()).toMatchObject({ applicantId: null, review: null })
    expect(await identity.pollDue()).toBe(1)
    expect(subject()).toMatchObject({ applicantId, review: begun })
  })
})

describe('a verdict dated ahead of this clock in an answer', () => {
  test('to a redemption is stored without a time, so it is polled at once', async () => {
    const { provider, share, subject, identity, clock } = identitySetup()
    provider.reviews.set(applicantId, approved)
    provider.reviewedAt.set(applicantId, clock.now() + yearMs)
    await share()
    expect(subject()).toMatchObject({ review: approved, reviewedAt: null })
    expect(await identity.pollDue()).toBe(1)
    expect(subject()).toMatchObject({ review: approved, reviewedAt: clock.now() })
    expect(await identity.pollDue()).toBe(0)
  })

  test('to a poll counts, with the time of the poll', async () => {
    const { provider, identity, webhook, subject, clock } = await shared()
    await clock.advance(firstPollMs)
    provider.reviews.set(applicantId, approved)
    provider.reviewedAt.set(applicantId, clock.now() + yearMs)
    expect(await identity.pollDue()).toBe(1)
    expect(subject()).toMatchObject({ review: approved, reviewedAt: clock.now() })
    expect(await webhook(rejected, { at: clock.now() + 1 })).toBe('applied')
  })
})

test('RED RETRY, a fresh token, GREEN: the last share answers that it is approved', async () => {
  const { reported, share, webhook, clock } = await shared()
  await reported(rejected, 1)
  await share()
  await webhook(approved, { name: second, at: clock.now() + 2 })
  expect(await share()).toEqual({ ...approved, reused: false })
})

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((item, n) => permutations(items.toSpliced(n, 1)).map((rest) => [item, ...rest]))
}
