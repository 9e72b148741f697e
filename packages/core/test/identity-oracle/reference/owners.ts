/** Registration, proof, attestation and direct verification in the reference: rules 1, 3, 4, 5. @module */
import type { DirectVerification, Done, Refused } from '../system-under-test.js'
import {
  type Account,
  isUnsettled,
  makeSubject,
  openSubject,
  personOf,
  redemptionsOf,
  type Store,
  type Subject,
} from './store.js'

type NextId = () => string

export function register(store: Store, address: string, nextId: NextId): Done {
  const accountId = nextId()
  store.accounts.push({ accountId, carries: address, verified: false })
  const open = openSubject(store, address)
  if (store.mutant === 'a registration takes the placeholder' && open?.accountId === null) open.accountId = accountId
  return { kind: 'done', accountId }
}

/** The account to which an address belongs: its verified owner, else the oldest carrier. */
export function holderOf(store: Store, address: string): Account | undefined {
  const carriers = store.accounts.filter(({ carries }) => carries === address)
  if (store.mutant === 'the newest carrier gets the subject') carriers.reverse()
  return carriers.find(({ verified }) => verified) ?? carriers[0]
}

export function prove(store: Store, address: string, given: string | undefined, nextId: NextId): Done {
  const open = openSubject(store, address)
  const isNew = given === undefined && store.mutant === 'a proof without an account makes a new one'
  const accountId =
    (isNew ? register(store, address, nextId).accountId : given) ??
    (open === undefined ? holderOf(store, address)?.accountId : open.accountId) ??
    register(store, address, nextId).accountId
  for (const account of store.accounts) {
    if (account.accountId === accountId) Object.assign(account, { carries: address, verified: true })
    else if (account.carries === address && store.mutant !== 'a proof takes no address from other carriers')
      Object.assign(account, { carries: null, verified: false })
  }
  for (const subject of [...store.subjects]) {
    if (subject.accountId === accountId && subject.address !== address && !subject.closed) leave(store, subject)
  }
  const isForeign = open?.proved === true && open.accountId !== accountId
  if (open !== undefined && isForeign && store.mutant !== 'a proved subject moves to the next prover') {
    open.closed = true
    makeSubject(store, nextId(), address, accountId, true)
  } else if (open !== undefined) Object.assign(open, { accountId, proved: true })
  return { kind: 'done', accountId }
}

/** The account that had this subject has proved another address. */
function leave(store: Store, subject: Subject): void {
  if (subject.proved) subject.closed = true
  else if (store.mutant === 'a subject that is let go becomes a placeholder always') subject.accountId = null
  else if (store.mutant !== 'a subject that is let go is kept')
    subject.accountId = holderOf(store, subject.address)?.accountId ?? null
  // A placeholder without a redemption is as good as none.
  const isEmpty = subject.accountId === null && redemptionsOf(store, [subject]).length === 0
  if (isEmpty) store.subjects.splice(store.subjects.indexOf(subject), 1)
}

export function attest(
  store: Store,
  address: string,
  integration: string,
  given: string | undefined,
  nextId: NextId,
): Done | Refused {
  const open = openSubject(store, address)
  const isDonor = store.mutant === 'an integration attests what another shared' || open?.donor === integration
  if (open === undefined || open.accountId !== null || open.donor === null || !isDonor) return { kind: 'refused' }
  return prove(store, address, given, nextId)
}

export function recordDirect(store: Store, direct: DirectVerification, now: number) {
  const { accountId, applicantId, review, at } = direct
  const subjects = store.subjects.filter((subject) => subject.accountId === accountId)
  const all = subjects[0] === undefined ? [] : redemptionsOf(store, personOf(store, subjects[0]))
  const isInFlight = all.some((redemption) => isUnsettled(redemption) && now < redemption.leaseUntil)
  if (isInFlight && store.mutant !== 'a direct verification is recorded while a redemption is in flight')
    return { kind: 'busy' } as const
  const known = store.direct.get(accountId)
  const isApproved = subjects.some(({ review: shared }) => shared?.review.reviewAnswer === 'GREEN')
  const isKept = known === undefined ? isApproved : (known.review.reviewedAt ?? 0) > at
  const isIgnored =
    known === undefined
      ? store.mutant === 'a direct verification replaces an approved one'
      : store.mutant === 'an older direct verification replaces a newer one'
  if (isKept && !isIgnored) return { kind: 'kept' } as const
  store.direct.set(accountId, { accountId, applicantId, review: { review, reviewedAt: at } })
  return { kind: 'recorded' } as const
}
