import type { IdentitySubject, RedemptionRecord } from '../../src/identity/identity-store.js'

/** A placeholder without a share, with the fields of a test. */
export function subjectWith(given: Partial<IdentitySubject> = {}): IdentitySubject {
  return {
    ...{ id: 's1', emailKey: 'e', accountId: null, proved: false, closed: false, redemptions: 0, revision: 0 },
    ...{ donor: null, applicantId: null, attachedNumber: null, attachedAt: null, review: null, reviewedAt: null },
    ...{ doubt: null, presence: null, missing: null },
    ...given,
  }
}

/** A redemption in flight, with the fields of a test. */
export function redemptionWith(given: Partial<RedemptionRecord> = {}): RedemptionRecord {
  return {
    ...{ externalUserId: 'pi:s1:1', subjectId: 's1', number: 1, integrationAddress: 'shop', levelName: null },
    ...{ isFindable: true, startedAt: 0, isLeased: true, state: 'in_flight', applicantId: null },
    ...given,
  } as RedemptionRecord
}
