import { describe, expect, test } from 'vitest'
import type { Review } from '../ports/identity-provider.js'
import type { RedemptionClaim, Verification } from '../ports/store-verifications.js'
import { decideShare, notStarted } from './decide-share.js'

const caller = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`
const none: Verification = {
  accountId: 'account',
  donor: null,
  applicantId: null,
  attempt: null,
  review: null,
  reviewedAt: null,
  doubt: null,
  presence: null,
  missing: null,
  attempts: 0,
  claim: null,
}
const review = (reviewStatus: Review['reviewStatus'], reviewAnswer: Review['reviewAnswer'] = null): Review => ({
  reviewStatus,
  reviewAnswer,
  rejectType: reviewAnswer === 'RED' ? 'RETRY' : null,
  rejectLabels: reviewAnswer === 'RED' ? ['BLURRY'] : [],
})
const shared = (by: string, given: Review): Verification => ({
  ...none,
  donor: by,
  applicantId: 'applicant',
  review: given,
  attempts: 1,
})
const claim = (by: string, lapsed: boolean): RedemptionClaim => ({
  token: 'token',
  by,
  externalUserId: 'account-2',
  lapsed,
})
const inFlight = ['init', 'pending', 'prechecked', 'onHold'] as const
const approved = review('completed', 'GREEN')
const rejected = review('completed', 'RED')

describe('INTERFACE 3, KYC attachment', () => {
  test('none: the token is redeemed', () => {
    expect(decideShare(none, caller)).toEqual({ kind: 'redeem' })
  })

  test('approved, shared by the caller: its status is answered and the token is left alone', () => {
    const decision = decideShare(shared(caller, approved), caller)
    expect(decision).toEqual({ kind: 'answer', review: approved, outcome: 'already_approved' })
  })

  test.each(inFlight)('in flight (%s), shared by the caller: the pending applicant is not displaced', (status) => {
    const decision = decideShare(shared(caller, review(status)), caller)
    expect(decision).toEqual({ kind: 'answer', review: review(status), outcome: 'in_flight' })
  })

  test('completed RED, shared by the caller: a fresh token is redeemed', () => {
    expect(decideShare(shared(caller, rejected), caller)).toEqual({ kind: 'redeem' })
  })

  test('two at once: while one redeems the other is answered not_started, or what is known', () => {
    const first = decideShare({ ...none, claim: claim(caller, false) }, caller)
    expect(first).toEqual({ kind: 'answer', review: notStarted, outcome: 'concurrent' })
    const again = decideShare({ ...shared(caller, rejected), claim: claim(caller, false) }, caller)
    expect(again).toEqual({ kind: 'answer', review: rejected, outcome: 'concurrent' })
  })

  test.each([
    ['by another integration', other],
    ['by the user directly', 'self'],
  ])('completed %s: refused, the same whatever its status', (_, donor) => {
    for (const each of [...inFlight.map((status) => review(status)), approved, rejected])
      for (const held of [null, claim(other, false), claim(other, true), claim(caller, true)])
        expect(decideShare({ ...shared(donor, each), claim: held }, caller)).toEqual({ kind: 'not_donated' })
  })
})

test('a claim whose end nobody knows is resolved first, whoever made it and whatever is attached', () => {
  for (const by of [caller, other])
    for (const verification of [none, shared(caller, approved), shared(caller, rejected)])
      expect(decideShare({ ...verification, claim: claim(by, true) }, caller)).toEqual({ kind: 'resolve' })
})

describe('an applicant that is switched off', () => {
  const off = { isActive: false, at: 1 }
  const onHold = review('onHold')

  test('approves nothing: it is on hold, and is not displaced', () => {
    for (const given of [approved, ...inFlight.map((status) => review(status))]) {
      const decision = decideShare({ ...shared(caller, given), presence: off }, caller)
      expect(decision).toEqual({ kind: 'answer', review: onHold, outcome: 'in_flight' })
    }
  })

  test('that was rejected makes room for a fresh token', () => {
    expect(decideShare({ ...shared(caller, rejected), presence: off }, caller)).toEqual({ kind: 'redeem' })
  })

  test('and on again stands where it stood', () => {
    const decision = decideShare({ ...shared(caller, approved), presence: { ...off, isActive: true } }, caller)
    expect(decision).toEqual({ kind: 'answer', review: approved, outcome: 'already_approved' })
  })
})

test('an applicant that is gone makes room for its donor, and for nobody else', () => {
  const gone = { ...shared(caller, approved), review: null, missing: { since: 1, told: true, confirmed: true } }
  expect(decideShare(gone, caller)).toEqual({ kind: 'redeem' })
  expect(decideShare(gone, other)).toEqual({ kind: 'not_donated' })
})

test('a claim of another integration tells a stranger nothing but that it may come again', () => {
  expect(decideShare({ ...none, claim: claim(other, false) }, caller)).toMatchObject({ review: notStarted })
})
