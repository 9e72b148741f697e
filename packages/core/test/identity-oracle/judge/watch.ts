/** Collects, state by state, what each running operation may answer. @module */
import type { View } from '../system-under-test.js'
import type { Operation } from '../world.js'
import type { Case, Change, Watched } from './case.js'
import { directOutcome } from './owners.js'
import { getSubject, matches, owned } from './ownership.js'
import { decisions, getPerson, getRedemptions, getReview, isOpen, isRejected, leaseRuns } from './person.js'
import { getRow, getState } from './redemptions.js'

export function watch(known: Case, operation: Operation, first: View): Watched {
  for (const other of known.watched.values()) other.isAlone = false
  const isAlone = known.watched.size === 0
  const watched: Watched = {
    ...{ operation, first, isAlone, callsBefore: known.provider.calls.length, answers: new Set<string>() },
    ...{ lookedUp: new Set<string>(), absent: new Set<string>(), former: new Set<string>() },
    waiting: new Set(known.provider.calls.filter(({ answer }) => answer === null)),
  }
  known.watched.set(operation, watched)
  return watched
}

/** Adds the answers that are right in the state after the change, and those that the change itself makes right. */
export function observe(watched: Watched, { before, after, now }: Change): void {
  const { call } = watched.operation
  const add = (answer: unknown) => watched.answers.add(JSON.stringify(answer))
  if (call.kind === 'share') observeShare(watched, after, now)
  else if (call.kind === 'prove' || call.kind === 'attest') {
    const { id } = getSubject(after, call.address)
    const donor = after.subjects.find((subject) => subject.id === id)?.donor ?? null
    const results = owned(after, call, donor)
    if (results.length === 0) add({ kind: 'rejected' })
    for (const result of results) {
      if (matches(result, after) !== null) add({ kind: 'done', accountId: result.accountId })
    }
  } else if (call.kind === 'direct') {
    const kind = directOutcome(after, now, call.direct)
    const isThere = after.direct.some(
      ({ accountId, applicantId, review }) =>
        accountId === call.direct.accountId &&
        applicantId === call.direct.applicantId &&
        review.reviewedAt === call.direct.at &&
        JSON.stringify(review.review) === JSON.stringify(call.direct.review),
    )
    if (kind !== 'recorded' || isThere) add({ kind })
  } else if (call.kind === 'operator') {
    const row = getRow(after, call.externalUserId)
    const [from, to] = [getState(before, call.externalUserId), getState(after, call.externalUserId)]
    if (from !== to) add({ kind: to })
    // While the lease runs the request may still arrive: the text does not say whether an operator may decide then.
    if (row === undefined || !isOpen(row) || leaseRuns(row, now)) add({ kind: 'rejected' })
  }
}

function observeShare(watched: Watched, view: View, now: number): void {
  const { call } = watched.operation
  if (call.kind !== 'share') return
  const { address, integration } = call.request
  for (const decision of decisions(view, now, address, integration)) {
    if (decision.kind === 'answer') watched.answers.add(JSON.stringify(decision.outcome))
    else if (decision.kind === 'lookUp') for (const name of decision.names) watched.lookedUp.add(name)
  }
  const person = getPerson(view, getSubject(view, address))
  for (const { externalUserId, state } of getRedemptions(view, person))
    if (state === 'absent') watched.absent.add(externalUserId)
  const open = view.subjects.find(({ id }) => id === getSubject(view, address).id)
  const isFormer = open?.donor === integration && isRejected(open.review?.review)
  watched.former.add(JSON.stringify(isFormer ? getReview(open) : null))
}
