/** docs/interface.md 3: a verification that exists but was not donated by the caller. */
import { describe, expect, test } from 'vitest'
import { approved, begun, identitySetup, rejected, shop } from '../../test/support/identity-setup.js'
import { subjectWith } from '../../test/support/subject-with.js'
import { decideDirect } from './webhooks.js'

const shared = subjectWith({ donor: shop, review: begun })
const direct = subjectWith({ id: 'direct', emailKey: null, accountId: 'a', review: approved, reviewedAt: 10 })

test.each([
  ['without any other verification', [], 10, 'recorded'],
  ['beside a subject without a verification', [subjectWith()], 10, 'recorded'],
  ['after a shared one in flight', [shared], 10, 'recorded'],
  ['after a shared one that was rejected', [{ ...shared, review: rejected }], 10, 'recorded'],
  ['after a shared one that is approved', [{ ...shared, review: approved }], 10, 'kept'],
  ['after a closed one that is approved', [subjectWith(), { ...shared, closed: true, review: approved }], 10, 'kept'],
  ['after an older direct one', [direct], 11, 'recorded'],
  ['after a direct one of the same time', [direct], 10, 'recorded'],
  ['dated before the stored direct one', [direct], 9, 'kept'],
  [
    'after an older direct one, beside an approved shared one',
    [direct, { ...shared, review: approved }],
    11,
    'recorded',
  ],
] as const)('a direct verification %s', (_, subjects, at, decision) => {
  expect(decideDirect(subjects, { at, isBusy: false })).toBe(decision)
  expect(decideDirect(subjects, { at, isBusy: true })).toBe('busy')
})

describe('a recorded direct verification', () => {
  test('does not replace an approved shared one, and is logged when it is recorded', async () => {
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
})
