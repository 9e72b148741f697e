/** The reference's store: plain objects, one transaction at a time. @module */
import type { DatedReview } from '../../../src/ports/identity-provider.js'
import type { RedemptionState, View } from '../system-under-test.js'
import type { Mutant } from './mutants.js'

export interface Subject {
  readonly id: string
  readonly address: string
  accountId: string | null
  proved: boolean
  closed: boolean
  donor: string | null
  applicantId: string | null
  attachedAt: number | null
  review: DatedReview | null
  gone: boolean
  nextPollAt: number
  polls: number
}
export interface RedemptionRow {
  readonly externalUserId: string
  readonly subjectId: string
  readonly integration: string
  readonly leaseUntil: number
  state: RedemptionState
  applicantId: string | null
  nextPollAt: number
}
export interface Account {
  readonly accountId: string
  carries: string | null
  verified: boolean
}
export interface Store {
  readonly subjects: Subject[]
  readonly redemptions: RedemptionRow[]
  readonly accounts: Account[]
  readonly direct: Map<string, { accountId: string; applicantId: string | null; review: DatedReview }>
  readonly events: Set<string>
  readonly mutant: Mutant | undefined
}

export const emptyStore = (mutant: Mutant | undefined): Store => ({
  ...{ subjects: [], redemptions: [], accounts: [], direct: new Map(), events: new Set(), mutant },
})

export const openSubject = ({ subjects }: Store, address: string) =>
  subjects.find((subject) => subject.address === address && !subject.closed)
export const subjectById = ({ subjects }: Store, id: string) => subjects.find((subject) => subject.id === id)
export const isUnsettled = ({ state }: RedemptionRow) =>
  state === 'in_flight' || state === 'unknown' || state === 'unresolved'

export function makeSubject(
  store: Store,
  id: string,
  address: string,
  accountId: string | null,
  proved: boolean,
): Subject {
  const nothing = { donor: null, applicantId: null, attachedAt: null, review: null, gone: false }
  const subject: Subject = { id, address, accountId, proved, closed: false, ...nothing, nextPollAt: 0, polls: 0 }
  store.subjects.push(subject)
  return subject
}

/** All subjects of the account, or the placeholder alone. */
export function personOf(store: Store, subject: Subject): Subject[] {
  if (subject.accountId === null) return [subject]
  const all = store.subjects.filter(({ accountId }) => accountId === subject.accountId)
  return store.mutant === 'closed subjects are forgotten' ? all.filter(({ closed }) => !closed) : all
}

export function redemptionsOf(store: Store, subjects: readonly Subject[]): RedemptionRow[] {
  return store.redemptions.filter(({ subjectId }) => subjects.some(({ id }) => id === subjectId))
}

export function viewOf(store: Store): View {
  return {
    subjects: store.subjects.map(({ nextPollAt, polls, ...subject }) => subject),
    redemptions: store.redemptions.map(({ nextPollAt, ...redemption }) => redemption),
    direct: [...store.direct.values()],
    accounts: store.accounts.map((account) => ({ ...account })),
  }
}
