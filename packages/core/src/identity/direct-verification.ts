/** Records a verification that a user did without an integration. Source: docs/interface.md 3. @module */
import type { DirectDecision, RecordDirectVerification } from '../identity-types.js'
import type { Store } from '../ports/store.js'
import type { Subject } from '../ports/store-identity.js'
import type { Clock, Ids } from '../ports/world.js'
import { isInFlight } from './decide-subject.js'
import { mostLookedUp } from './redemption.js'
import { isApproved, nextPollMs } from './reviews.js'

/** Decides. A newer direct verification stays. Without a direct one, an approved shared verification stays. */
export function decideDirect(
  subjects: readonly Pick<Subject, 'emailKey' | 'review' | 'reviewedAt'>[],
  { at, isBusy }: { readonly at: number; readonly isBusy: boolean },
): DirectDecision {
  if (isBusy) return 'busy'
  const direct = subjects.find(({ emailKey }) => emailKey === null)
  if (direct !== undefined) return direct.reviewedAt !== null && direct.reviewedAt > at ? 'kept' : 'recorded'
  return subjects.some(({ review }) => isApproved(review)) ? 'kept' : 'recorded'
}

/** Builds the operation. After it, every share that resolves to the account is answered 409. */
export function createRecordDirectVerification({
  store,
  clock,
  ids,
}: {
  readonly store: Pick<Store, 'transaction'>
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Ids
}): RecordDirectVerification {
  return ({ accountId, applicantId, review, at }) =>
    store.transaction(async ({ identity, identityAccounts }) => {
      const subjects = await identity.lockPersons({ accountIds: [accountId] })
      const now = clock.now()
      const subjectIds = subjects.map(({ id }) => id)
      const open = await identity.openRedemptions({ subjectIds, absentSince: now, limit: mostLookedUp })
      const decision = decideDirect(subjects, { at, isBusy: open.some(isInFlight) })
      if (decision !== 'recorded') return decision
      const none = { emailKey: null, email: null, accountId, proved: false }
      const found = subjects.find(({ emailKey }) => emailKey === null)
      const { id } = found ?? (await identity.insertSubject({ id: ids.next(), ...none }))
      await identity.changeVerification(id, {
        ...{ applicantId, review, reviewedAt: at, attachedAt: now, doubt: null, presence: null, missing: null },
        pollInMs: applicantId === null ? null : nextPollMs(review, now - at),
      })
      await identityAccounts.log({
        ...{ at: now, action: 'verified', accountId, emailKey: null, proof: null, by: null, reason: null },
      })
      return decision
    })
}
