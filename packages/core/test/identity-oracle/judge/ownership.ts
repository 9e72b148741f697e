/** Whose an address and a subject are after each operation. The rules 1 to 4 as pure functions. @module */
import type { Call, View } from '../system-under-test.js'

export interface OwnedSubject {
  readonly id: string
  readonly address: string
  readonly accountId: string | null
  readonly proved: boolean
  readonly closed: boolean
}
export interface Ownership {
  readonly subjects: readonly OwnedSubject[]
  readonly redemptions: readonly { readonly subjectId: string }[]
  readonly accounts: View['accounts']
}
/** A legal result of an operation; `accountId` is what it answers. */
export interface Owned extends Ownership {
  readonly accountId: string | null
}

/**
 * Whether a subject is a placeholder for which nothing was ever redeemed. It is as good as none: nobody sees it, and it
 * becomes the subject of whoever carries the address when it is shared next.
 */
export const isEmpty = ({ redemptions }: Pick<Ownership, 'redemptions'>, { id, accountId }: OwnedSubject) =>
  accountId === null && redemptions.every(({ subjectId }) => subjectId !== id)

/** Ids of what an operation makes begin with this. */
export const madeId = '?'

/** To whom an address belongs: its verified owner, else its oldest carrier. */
function getHolder({ accounts }: Ownership, address: string): View['accounts'][number] | undefined {
  const carriers = accounts.filter(({ carries }) => carries === address)
  return carriers.find(({ verified }) => verified) ?? carriers[0]
}

/** The subject of an address, or the one that a share would make. */
export function getSubject(state: Ownership, address: string): OwnedSubject {
  const open = state.subjects.find((subject) => subject.address === address && !subject.closed)
  if (open !== undefined) return open
  const holder = getHolder(state, address)
  const id = `${madeId}subject-${state.subjects.length}`
  return { id, address, accountId: holder?.accountId ?? null, proved: holder?.verified ?? false, closed: false }
}

/** Every legal result of a call in that state; none when it is rejected. `donor` is the open subject's. */
export function owned(state: Ownership, call: Call, donor: string | null): Owned[] {
  if (call.kind === 'register') return [registered(state, call.address)]
  if (call.kind === 'prove') return proved(state, call.address, call.accountId)
  if (call.kind === 'share') {
    const subject = getSubject(state, call.request.address)
    const made: Owned = { ...state, subjects: union(state.subjects, subject), accountId: null }
    return [made, { ...made, redemptions: [...state.redemptions, { subjectId: subject.id }] }]
  }
  if (call.kind !== 'attest') return []
  const open = getSubject(state, call.address)
  const mayAttest = !open.id.startsWith(madeId) && open.accountId === null && donor === call.integration
  return mayAttest ? proved(state, call.address, call.accountId) : []
}

function registered(state: Ownership, address: string): Owned {
  const accountId = `${madeId}account-${state.accounts.length}`
  return { ...state, accounts: [...state.accounts, { accountId, carries: address, verified: false }], accountId }
}

function proved(state: Ownership, address: string, given: string | undefined): Owned[] {
  const open = state.subjects.find((subject) => subject.address === address && !subject.closed)
  // Who only registered with the address of a placeholder gets nothing that was shared before: another one proves it.
  const holder = open === undefined ? getHolder(state, address)?.accountId : open.accountId
  const before = given ?? holder ?? null
  const { accountId, ...start } = before === null ? registered(state, address) : { ...state, accountId: before }
  const accounts = start.accounts.map((account) => {
    if (account.accountId === accountId) return { accountId, carries: address, verified: true }
    return account.carries === address ? { ...account, carries: null, verified: false } : account
  })
  const others = start.subjects.map((subject) => {
    if (subject.closed || subject.address === address || subject.accountId !== accountId) return subject
    if (subject.proved) return { ...subject, closed: true }
    const carrier = accounts.find((account) => account.carries === subject.address)
    return { ...subject, accountId: carrier?.accountId ?? null, proved: carrier?.verified ?? false }
  })
  const made = { id: `${madeId}subject-${state.subjects.length}`, address, accountId, proved: true, closed: false }
  const results = (subjects: OwnedSubject[]): Owned => ({ ...state, accounts, subjects, accountId })
  // The text does not say whether a proof makes a subject where there is none: both are right.
  if (open === undefined) return [results(others), results([...others, made])]
  const mine = (subject: OwnedSubject) => (subject.id === open.id ? { ...subject, accountId, proved: true } : subject)
  if (!open.proved || open.accountId === accountId) return [results(others.map(mine))]
  const close = (subject: OwnedSubject) => (subject.id === open.id ? { ...subject, closed: true } : subject)
  return [results([...others.map(close), made])]
}

function union(subjects: readonly OwnedSubject[], subject: OwnedSubject): readonly OwnedSubject[] {
  return subjects.some(({ id }) => id === subject.id) ? subjects : [...subjects, subject]
}

/**
 * Whether two states are one, but for the ids that were made in the model. Accounts are compared in their order.
 * @returns The real id of each made one, or null when they differ.
 */
export function matches(model: Ownership, real: Ownership): ReadonlyMap<string, string> | null {
  const subjects = model.subjects.filter((subject) => !isEmpty(model, subject))
  if (subjects.length !== real.subjects.length) return null
  if (model.accounts.length !== real.accounts.length) return null
  const ids = new Map<string, string>()
  for (const [index, account] of model.accounts.entries()) {
    const twin = real.accounts[index]
    if (twin?.carries !== account.carries || twin.verified !== account.verified) return null
    if (account.accountId.startsWith(madeId)) ids.set(account.accountId, twin.accountId)
    else if (account.accountId !== twin.accountId) return null
  }
  const left = new Set(real.subjects)
  for (const subject of subjects.sort((a, b) => made(a) - made(b))) {
    const accountId = ids.get(subject.accountId ?? '') ?? subject.accountId
    const known = !subject.id.startsWith(madeId)
    const twin = [...left].find(
      (other) =>
        (!known || other.id === subject.id) &&
        other.address === subject.address &&
        other.accountId === accountId &&
        other.proved === subject.proved &&
        other.closed === subject.closed,
    )
    if (twin === undefined) return null
    left.delete(twin)
  }
  return ids
}
const made = ({ id }: OwnedSubject) => (id.startsWith(madeId) ? 1 : 0)
