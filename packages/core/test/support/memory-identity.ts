/** Subjects and redemptions in memory: the operations of a transaction. @module */
import type {
  IdentityTransaction,
  NewSubject,
  RedemptionRecord,
  ShareRecord,
  Subject,
  VerdictRecord,
  Verification,
} from '../../src/ports/store-identity.js'
import { checkInteger, checkTimes } from './memory-checks.js'

/** A subject as a row. */
export interface SubjectRow extends Subject {
  readonly nextPollAt: number | null
}

/** A redemption as a row. */
export interface RedemptionRow extends Omit<RedemptionRecord, 'isLeased'> {
  readonly leasedUntil: number
  readonly nextLookUpAt: number | null
}

/** Rows of identities, in the order in which they were made. They are replaced, never changed. */
export interface IdentityRows {
  /** By id. */
  readonly subjects: Map<string, SubjectRow>
  /** By external user id. */
  readonly redemptions: Map<string, RedemptionRow>
  readonly shares: ShareRecord[]
  readonly verdicts: VerdictRecord[]
  /** By event key. */
  readonly providerEvents: Map<string, number>
}

/** No rows. */
export const noIdentities = (): IdentityRows => ({
  subjects: new Map(),
  redemptions: new Map(),
  shares: [],
  verdicts: [],
  providerEvents: new Map(),
})

/** A copy that a transaction may write to. */
export const copyOfIdentities = (rows: IdentityRows): IdentityRows => ({
  subjects: new Map(rows.subjects),
  redemptions: new Map(rows.redemptions),
  shares: [...rows.shares],
  verdicts: [...rows.verdicts],
  providerEvents: new Map(rows.providerEvents),
})

const emptyVerification: Verification = {
  donor: null,
  applicantId: null,
  attachedNumber: null,
  attachedAt: null,
  review: null,
  reviewedAt: null,
  doubt: null,
  presence: null,
  missing: null,
}

/** States in which a redemption may have used its token although nobody knows. */
export const openStates: ReadonlySet<string> = new Set(['in_flight', 'unknown', 'unresolved'])

/** A subject without the columns that only the store knows. */
export function subjectOf({ nextPollAt: _, ...subject }: SubjectRow): Subject {
  return subject
}

/** A redemption at the moment `now`, in unix milliseconds. */
export function redemptionOf({ leasedUntil, nextLookUpAt: _, ...rest }: RedemptionRow, now: number): RedemptionRecord {
  return { ...rest, isLeased: leasedUntil > now }
}

/** The operations of a transaction on rows that are its own until it ends. @param now - Unix milliseconds. */
export function identityIn(rows: IdentityRows, now: () => number): IdentityTransaction {
  const { subjects, redemptions } = rows
  const assertUnique = ({ id, emailKey, accountId, closed }: SubjectRow) => {
    for (const other of subjects.values()) {
      if (other.id === id) continue
      if (emailKey !== null && !closed && !other.closed && other.emailKey === emailKey)
        throw new Error('the address has an open subject')
      if (emailKey === null && other.emailKey === null && other.accountId === accountId)
        throw new Error('the account has a direct verification')
    }
  }
  const put = (row: SubjectRow) => {
    assertUnique(row)
    subjects.set(row.id, row)
    return subjectOf(row)
  }
  const insert = ({ id, emailKey, accountId, proved }: NewSubject) => {
    if (subjects.has(id)) throw new Error(`subject ${id} exists`)
    const row = { id, emailKey, accountId, proved, closed: false, redemptions: 0, revision: 0 }
    return put({ ...row, ...emptyVerification, nextPollAt: null })
  }
  const openSubject = (emailKey: string | undefined) =>
    [...subjects.values()].find((row) => emailKey !== undefined && row.emailKey === emailKey && !row.closed)
  const changeSubject = (id: string, change: Partial<SubjectRow>) => {
    const row = subjects.get(id)
    if (row !== undefined) put({ ...row, ...given(change) })
  }
  const read = (row: RedemptionRow | undefined) => (row === undefined ? null : redemptionOf(row, now()))
  return {
    async ensureSubject(email, freshId) {
      const known = openSubject(email.key)
      if (known !== undefined) return subjectOf(known)
      return insert({ id: freshId, emailKey: email.key, accountId: null, proved: false, email })
    },
    async lockPersons({ emailKey, accountIds = [], subjectId }) {
      const named = [openSubject(emailKey), subjects.get(subjectId ?? '')].filter((row) => row !== undefined)
      const accounts = new Set([...accountIds, ...named.flatMap(({ accountId }) => accountId ?? [])])
      return [...subjects.values()]
        .filter((row) => named.includes(row) || (row.accountId !== null && accounts.has(row.accountId)))
        .map(subjectOf)
    },
    insertSubject: async (subject) => insert(subject),
    setOwner: async (subjectId, owner) => changeSubject(subjectId, owner),
    async changeVerification(subjectId, { pollInMs, ...change }) {
      checkTimes({ pollInMs, attachedAt: change.attachedAt, reviewedAt: change.reviewedAt })
      const row = subjects.get(subjectId)
      if (row === undefined) return
      const nextPollAt = timeIn(pollInMs, now())
      changeSubject(subjectId, { ...given(change), ...given({ nextPollAt }), revision: row.revision + 1 })
    },
    async subjectOf(applicantId) {
      const row = [...subjects.values()].find((each) => each.applicantId === applicantId)
      return row === undefined ? null : subjectOf(row)
    },
    async addRedemption({ leaseMs, ...redemption }) {
      const { externalUserId, subjectId, number } = redemption
      if (redemptions.has(externalUserId)) throw new Error(`${externalUserId} was used before`)
      for (const each of redemptions.values())
        if (each.subjectId === subjectId && each.number === number) throw new Error(`number ${number} was used before`)
      const leasedUntil = now() + leaseMs
      const row = {
        ...redemption,
        state: 'in_flight',
        applicantId: null,
        leasedUntil,
        nextLookUpAt: leasedUntil,
      } as const
      redemptions.set(externalUserId, row)
      changeSubject(subjectId, { redemptions: number })
    },
    async changeRedemption(externalUserId, { state, applicantId, levelName, lookUpInMs }) {
      const row = redemptions.get(externalUserId)
      if (row === undefined) return
      const outcome = row.state === 'attached' ? {} : given({ state, applicantId, levelName })
      redemptions.set(externalUserId, { ...row, ...outcome, ...given({ nextLookUpAt: timeIn(lookUpInMs, now()) }) })
    },
    redemption: async (externalUserId) => read(redemptions.get(externalUserId)),
    redemptionOf: async (applicantId) =>
      read([...redemptions.values()].findLast((each) => each.applicantId === applicantId && each.state === 'attached')),
    async openRedemptions({ subjectIds, absentSince, limit }) {
      checkInteger(limit, 'limit', 1)
      const found = [...redemptions.values()].filter(({ subjectId }) => subjectIds.includes(subjectId)).reverse()
      const open = found.filter(({ state }) => openStates.has(state))
      const absent = found.filter(({ state, startedAt }) => state === 'absent' && startedAt >= absentSince)
      const wanted = new Set([...open, ...absent].slice(0, limit))
      return [...redemptions.values()].filter((row) => wanted.has(row)).map((row) => redemptionOf(row, now()))
    },
    async logShare(entry) {
      rows.shares.push(entry)
    },
    async noteVerdict(entry) {
      rows.verdicts.push(entry)
    },
    async noteEvent(eventKey, at) {
      if (rows.providerEvents.has(eventKey)) return false
      rows.providerEvents.set(eventKey, at)
      return true
    },
  }
}

/** The fields that are not undefined. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}

function timeIn(ms: number | null | undefined, now: number): number | null | undefined {
  return typeof ms === 'number' ? now + ms : ms
}
