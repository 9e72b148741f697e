import { expect, test } from 'vitest'
import * as fixtures from '../../test/support/identity-setup.js'
import { decideShare, findSubjectThatCounts, type ShareDecision } from './decide-share.js'
import type { IdentitySubject, RedemptionRecord } from './identity-store.js'

const { approved, begun, notStarted, otherShop, redemptionWith, rejected, review, shop, subjectWith } = fixtures
const inFlight = ['init', 'pending', 'prechecked', 'onHold'] as const
const open = subjectWith()
const shared = (given: Partial<IdentitySubject>) =>
  subjectWith({ donor: shop, applicantId: 'x', attachedNumber: 1, ...given })
const direct = subjectWith({ id: 'direct', emailKey: null, accountId: 'a', review: approved })
const notDonated = { kind: 'not_donated', outcome: 'not_donated' }
const answer = (given: typeof begun, outcome: string) => ({ kind: 'answer', review: given, outcome })

function decide(
  own: IdentitySubject,
  redemptions: readonly RedemptionRecord[] = [],
  others: readonly IdentitySubject[] = [],
  lookedUp: readonly string[] = [],
): ShareDecision {
  const subjects = [own, ...others]
  return decideShare({ openSubject: own, subjects, redemptions, caller: shop, lookedUp: new Set(lookedUp) })
}

test('KYC attachment none: the token is redeemed', () => {
  expect(decide(open)).toEqual({ kind: 'redeem' })
})

test('KYC attachment approved, shared by the caller: its status is answered and the token is not used', () => {
  expect(decide(shared({ review: approved }))).toEqual(answer(approved, 'already_approved'))
})

test.each(inFlight)('KYC attachment in flight (%s), shared by the caller: the pending applicant stays', (status) => {
  expect(decide(shared({ review: review(status) }))).toEqual(answer(review(status), 'in_flight'))
})

test('KYC attachment completed RED, shared by the caller: a fresh token is redeemed', () => {
  expect(decide(shared({ review: rejected }))).toEqual({ kind: 'redeem' })
})

test('KYC attachment two concurrent submissions: the second answers not_started, or the stored review', () => {
  const redemption = redemptionWith({ integrationAddress: shop })
  expect(decide(open, [redemption])).toEqual(answer(notStarted, 'concurrent'))
  expect(decide(shared({ review: rejected }), [redemption])).toEqual(answer(rejected, 'concurrent'))
})

test('KYC attachment shared by another integration: 409 for any status, with any redemption', () => {
  for (const given of [...inFlight.map((status) => review(status)), approved, rejected, null])
    for (const redemptions of [[], [redemptionWith({ integrationAddress: otherShop })], [unknown(otherShop)]])
      expect(decide(shared({ donor: otherShop, review: given }), redemptions)).toEqual(notDonated)
})

test('KYC attachment completed directly by the user: 409 for any status, beside any other verification', () => {
  for (const own of [open, shared({ review: approved })])
    for (const given of [null, approved, rejected, begun])
      expect(decide(own, [unknown(shop)], [{ ...direct, review: given }])).toEqual(notDonated)
})

const unknown = (by: string, given: Partial<RedemptionRecord> = {}) =>
  redemptionWith({ integrationAddress: by, state: 'unknown', isLeased: false, ...given })

test('a redemption of the person with an unknown outcome and a lease is 503 for its own integration, and not_started for any other', () => {
  expect(decide(open, [unknown(shop, { isLeased: true })])).toEqual({ kind: 'unavailable', outcome: 'unknown' })
  expect(decide(open, [unknown(otherShop, { isLeased: true })])).toEqual(answer(notStarted, 'concurrent'))
})

const openStates = ['in_flight', 'unknown', 'unresolved'] as const
test.each(openStates)('a redemption of the person that is %s with an expired lease is looked up first', (state) => {
  for (const by of [shop, otherShop])
    for (const own of [open, shared({ review: approved }), shared({ review: rejected })]) {
      const redemption = unknown(by, { state })
      expect(decide(own, [redemption])).toEqual({ kind: 'look_up', redemptions: [redemption] })
    }
})

test('a redemption of the person that is absent is looked up once more before a token is redeemed, but not for an answer without one', () => {
  const absent = unknown(shop, { state: 'absent' })
  expect(decide(open, [absent])).toEqual({ kind: 'look_up', redemptions: [absent] })
  expect(decide(open, [absent], [], [absent.externalUserId])).toEqual({ kind: 'redeem' })
  expect(decide(shared({ review: approved }), [absent])).toEqual(answer(approved, 'already_approved'))
})

test('a redemption of the person of another address of the person counts too: one is in flight at a time', () => {
  const elsewhere = redemptionWith({ externalUserId: 'pi:s2:1', subjectId: 's2', integrationAddress: shop })
  expect(decide(open, [elsewhere])).toEqual(answer(notStarted, 'concurrent'))
  expect(decide(open, [{ ...elsewhere, isLeased: false }])).toMatchObject({ kind: 'look_up' })
})

const of = (id: string, attachedAt: number, donor: string | null = shop) => subjectWith({ id, attachedAt, donor })

test.each([
  ['none', open, [], null],
  ['the open subject’s own, however old', of('open', 1), [of('later', 9)], 'open'],
  ['else the one that was attached last', open, [of('first', 5), of('last', 7), of('middle', 6)], 'last'],
  ['of two attached at the same time the one that was made last', open, [of('one', 5), of('two', 5)], 'two'],
  ['and never one without a donor', open, [of('none', 9, null), of('one', 1)], 'one'],
] as const)('the verification that counts for a person: %s', (_, own, others, id) => {
  expect(findSubjectThatCounts(own, [own, ...others])?.id ?? null).toBe(id)
})
