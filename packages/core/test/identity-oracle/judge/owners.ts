/** Accounts, subjects and direct verifications change only by operations that run, as these promise. @module */
import type { Call, View } from '../system-under-test.js'
import type { Operation } from '../world.js'
import { type Case, type Change, type Commit, demand } from './case.js'
import { getSubject, matches, type Owned, type Ownership, owned } from './ownership.js'
import { getRedemptions, isApproved, leaseRuns } from './person.js'

type Account = View['accounts'][number]

const longestSequence = 3
const isSame = (one: Account, other: Account) => one.accountId === other.accountId
const text = (ownership: Ownership) =>
  JSON.stringify([
    ownership.accounts.map(({ accountId, carries, verified }) => [accountId, carries, verified]),
    ownership.subjects.map(({ id, address, accountId, proved, closed }) => [id, address, accountId, proved, closed]),
  ])
const ownership = ({ accounts, subjects, redemptions }: View): Ownership => ({
  accounts,
  redemptions,
  subjects: subjects.map(({ id, address, accountId, proved, closed }) => ({ id, address, accountId, proved, closed })),
})

/** The operations that run and did not certainly make a change yet. */
function pending(known: Case): Operation[] {
  const certain = known.commits.filter(({ size }) => size === 1).flatMap((commit) => [...commit.keys()])
  return [...known.watched.keys()].filter(
    (operation) => operation.call.kind === 'share' || !certain.includes(operation),
  )
}

/** Records a change. So many changes have no more operations that may have made them than there are changes. */
function record(known: Case, commit: Commit): void {
  const within = known.commits.filter((other) => [...other.keys()].every((operation) => commit.has(operation)))
  demand(
    within.length < commit.size,
    () => `an operation makes a change twice: ${[...commit.keys()].map(({ number }) => number)}`,
  )
  known.commits.push(commit)
}

/** Records the changes of a step: alone for an operation that is in every explanation, together for the others. */
function recordAll(known: Case, explained: readonly ReadonlyMap<Operation, string>[]): void {
  const rights = new Map<Operation, Set<string>>()
  for (const path of explained) {
    for (const [operation, answer] of path) rights.set(operation, (rights.get(operation) ?? new Set()).add(answer))
  }
  const [certain, others] = [new Map(rights), new Map(rights)]
  for (const operation of rights.keys()) {
    const isCertain = explained.every((path) => path.has(operation))
    ;(isCertain ? others : certain).delete(operation)
  }
  for (const [operation, right] of certain) record(known, new Map([[operation, right]]))
  const left = Math.min(...explained.map(({ size }) => size - certain.size))
  if (others.size > 0) known.possible.push(others)
  for (let count = 0; count < left && others.size > 0; count += 1) record(known, others)
}

/**
 * The new state with its accounts as the model makes them, new ones last. An account is as old as its row: it may stand
 * before one that was committed while the operation that made it ran, and before no other.
 */
function newAccountsLast(known: Case, from: Ownership, to: Ownership): Ownership {
  const wasThere = (account: Account, { accounts }: Pick<View, 'accounts'>) =>
    accounts.some((one) => isSame(one, account))
  const old = to.accounts.filter((account) => wasThere(account, from))
  const made = to.accounts.filter((account) => !wasThere(account, from))
  const younger = to.accounts
    .slice(to.accounts.findIndex((account) => made.includes(account)))
    .filter((account) => old.includes(account))
  const mayStandBefore = [...known.watched.values()].some(
    ({ operation, first }) =>
      ['register', 'prove', 'attest'].includes(operation.call.kind) &&
      younger.every((account) => !wasThere(account, first)),
  )
  return made.length > 0 && mayStandBefore ? { ...to, accounts: [...old, ...made] } : to
}

/** Finds the sequences of operations that turn one view's owners into the other's. */
export function judgeOwners(known: Case, { before, after }: Change): void {
  const from = ownership(before)
  const to = newAccountsLast(known, from, ownership(after))
  if (text(from) === text(to)) return
  let paths: { state: Ownership; done: { operation: Operation; accountId: string | null }[] }[] = [
    { state: from, done: [] },
  ]
  const candidates = pending(known)
  const explained: ReadonlyMap<Operation, string>[] = []
  for (let length = 1; length <= longestSequence; length += 1) {
    paths = paths.flatMap(({ state, done }) =>
      candidates
        .filter((operation) => !done.some((one) => one.operation === operation))
        .flatMap((operation) =>
          getResults(state, operation, { before, after, first: known.watched.get(operation)?.first })
            .filter((result) => text(result) !== text(state))
            .map((result) => ({ state: result, done: [...done, { operation, accountId: result.accountId }] })),
        ),
    )
    const found = paths.flatMap(({ state, done }) => {
      const ids = matches(state, to)
      if (ids === null) return []
      // A share that makes a subject answers nothing of it.
      const answering = done.filter(({ operation }) => operation.call.kind !== 'share')
      const answer = (accountId: string | null) => ({ kind: 'done', accountId: ids.get(accountId ?? '') ?? accountId })
      return [new Map(answering.map(({ operation, accountId }) => [operation, JSON.stringify(answer(accountId))]))]
    })
    explained.push(...found)
  }
  recordAll(known, explained)
  demand(explained.length > 0, () => `no operation explains the owners: ${text(from)} became ${text(to)}`)
}

/**
 * Every legal result of an operation. Registrations wait for no other operation, so one that ended while this one ran
 * may come after it.
 * @param views - `first`: at the call of the operation.
 */
function getResults(
  state: Ownership,
  { call }: Operation,
  { before, after, first }: Pick<Change, 'before' | 'after'> & { readonly first: View | undefined },
): Owned[] {
  const donor = call.kind === 'attest' ? getDonor(state, call, [before, after]) : null
  const since = state.accounts.filter((account) => !(first?.accounts.some((one) => isSame(one, account)) ?? true))
  return [since.length, ...since.keys()].flatMap((seen) => {
    const unseen = since.slice(seen)
    const hidden = state.accounts.map((account) =>
      unseen.includes(account) ? { ...account, carries: null, verified: false } : account,
    )
    return owned({ ...state, accounts: hidden }, call, donor).map((result) => {
      const shown = (account: Account) =>
        account.accountId === result.accountId ? account : (unseen.find((one) => isSame(one, account)) ?? account)
      return { ...result, accounts: result.accounts.map(shown) }
    })
  })
}

function getDonor(state: Ownership, call: Extract<Call, { kind: 'attest' }>, views: readonly View[]): string | null {
  const { id } = getSubject(state, call.address)
  const donors = views.map((view) => view.subjects.find((subject) => subject.id === id)?.donor ?? null)
  return donors.includes(call.integration) ? call.integration : null
}

/** Rule 5. */
export function directOutcome(view: View, now: number, direct: Extract<Call, { kind: 'direct' }>['direct']): string {
  const subjects = view.subjects.filter(({ accountId }) => accountId === direct.accountId)
  if (getRedemptions(view, subjects).some((redemption) => leaseRuns(redemption, now))) return 'busy'
  const known = view.direct.find(({ accountId }) => accountId === direct.accountId)
  if (known !== undefined) return (known.review.reviewedAt ?? 0) > direct.at ? 'kept' : 'recorded'
  return subjects.some(({ donor, review }) => donor !== null && isApproved(review?.review)) ? 'kept' : 'recorded'
}

export function judgeDirect(known: Case, { before, after, now }: Change): void {
  for (const { accountId } of before.direct) {
    const isThere = after.direct.some((direct) => direct.accountId === accountId)
    demand(isThere, () => `the direct verification of ${accountId} is lost`)
  }
  for (const direct of after.direct) {
    const isChanged = before.direct.every((one) => JSON.stringify(one) !== JSON.stringify(direct))
    if (!isChanged) continue
    const by = pending(known).filter(
      ({ call }) =>
        call.kind === 'direct' &&
        call.direct.accountId === direct.accountId &&
        call.direct.applicantId === direct.applicantId &&
        call.direct.at === direct.review.reviewedAt &&
        JSON.stringify(call.direct.review) === JSON.stringify(direct.review.review) &&
        [before, { ...after, direct: before.direct }].some(
          (view) => directOutcome(view, now, call.direct) === 'recorded',
        ),
    )
    demand(by.length > 0, () => `nobody may record the direct verification ${JSON.stringify(direct)}`)
    const right = new Set([JSON.stringify({ kind: 'recorded' })])
    // An older one may have been recorded just before, within the same step.
    const replaced = pending(known).filter(
      ({ call }) =>
        call.kind === 'direct' &&
        call.direct.accountId === direct.accountId &&
        call.direct.at <= (direct.review.reviewedAt ?? 0) &&
        directOutcome(before, now, call.direct) === 'recorded',
    )
    known.possible.push(new Map(replaced.map((operation) => [operation, right])))
    record(known, new Map(by.map((operation) => [operation, right])))
  }
}
