/** An event that was accepted has counted: rule 7. @module */
import type { View, WebhookEvent } from '../system-under-test.js'
import { type Case, demand, type Watched } from './case.js'
import { getState } from './redemptions.js'
import { aheadMs } from './reviews.js'

/** @param after - The state when the webhook answered. */
export function judgeWebhook(known: Case, watched: Watched, event: WebhookEvent, after: View): void {
  const { operation, first, isAlone } = watched
  const { key, applicantId, externalUserId, at } = event
  const isFirst = !known.accepted.has(key) && at <= operation.calledAt + aheadMs
  known.accepted.add(key)
  if (!isFirst) return
  const isLeft = [first, after].every((view) => getState(view, externalUserId) === 'unresolved')
  demand(!isLeft, () => `${key} names the unresolved redemption ${externalUserId}, which stays so`)
  const [had, has] = [first, after].map((view) => view.subjects.find((subject) => subject.applicantId === applicantId))
  // What is older than the answer that an applicant is gone brings nothing back.
  if (had === undefined || has === undefined || has.gone) return
  // A verdict that the provider answered, dated ahead, counts without its time: an approval after such a rejection
  // waits for a poll.
  const { review, reviewedAt } = has.review ?? {}
  if (review?.reviewStatus === 'completed' && reviewedAt === null) return
  const [before, now] = [had.review?.reviewedAt ?? 0, has.review?.reviewedAt ?? 0]
  demand(now >= at, () => `${key} was accepted and did not count`)
  if (isAlone && now === at && before < at) known.counted.add(key)
}
