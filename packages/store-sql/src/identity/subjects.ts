/** Stores subjects, under the lock of their person. Source: docs/decisions/identity.md. @module */
import type {
  IdentitySubject,
  IdentityTransaction,
  MissingApplicant,
  PersonQuery,
  VerificationChange,
} from '@payment-integration/core/internal'
import type { Review } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Connection, Parameter } from '../engine.js'
import { compile, run, type StatementText } from '../internal/statements.js'
import { checkInteger, pack, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'

/**
 * Locks persons and returns their subjects. A subject may change its account during the wait, so subjects are read
 * again until all their persons are locked. One person takes as many writes as two, so that the time does not reveal
 * whether an address has an account.
 */
export async function lockPersons(db: Connection, query: PersonQuery): Promise<IdentitySubject[]> {
  const locked = new Set<string>()
  for (;;) {
    const { rows } = await db.executeQuery<StoredSubject>(personsQuery(db, query))
    const subjects = rows.map(toSubject)
    const ids = getPersonIds(query, subjects).filter((id) => !locked.has(id))
    const [first] = ids
    if (first === undefined) return subjects
    if (locked.size === 0 && ids.length === 1) ids.push(first)
    for (const id of ids) await lockPerson(db, id)
    for (const id of ids) locked.add(id)
  }
}

/** All subjects of the persons of a query, oldest first. */
export function personsQuery(
  { dialect }: Pick<Connection, 'dialect'>,
  { emailKey, accountIds = [], subjectId }: PersonQuery,
) {
  const { name, oneOf } = dialect
  const table = name('identity_subjects')
  const accounts = accountIds.map((id) => pack(id))
  return compile<StoredSubject>(dialect, (parameter) => {
    const ofAddress = (row: string) => `${row}.email_key = ${parameter(emailKey ?? null)} and ${row}.closed = 0`
    const itself = (row: string) => `${row}.id = ${parameter(pack(subjectId ?? null))}`
    const ofAccounts = oneOf('a.account_id', 'text', accounts, parameter)
    const sameAccount = `select o.id from ${table} n join ${table} o on o.account_id = n.account_id where`
    return `select ${subjectColumns} from ${table} where id in (
        select a.id from ${table} a where ${ofAccounts}
        union select n.id from ${table} n where ${ofAddress('n')}
        union select n.id from ${table} n where ${itself('n')}
        union ${sameAccount} ${ofAddress('n')}
        union ${sameAccount} ${itself('n')}
      ) order by seq`
  })
}

/** The ids of the rows to lock, in a fixed order. An unknown subject or address has a row of its own. */
function getPersonIds(
  { emailKey, accountIds = [], subjectId }: PersonQuery,
  subjects: readonly IdentitySubject[],
): string[] {
  const ofAccount = (id: string) => `account ${pack(id)}`
  const ofSubject = (id: string) => `subject ${pack(id)}`
  const persons = subjects.map(({ id, accountId }) => (accountId === null ? ofSubject(id) : ofAccount(accountId)))
  const ids = [...accountIds.map(ofAccount), ...persons]
  if (ids.length === 0 && subjectId !== undefined) ids.push(ofSubject(subjectId))
  if (ids.length === 0 && emailKey !== undefined) ids.push(`address ${emailKey}`)
  return [...new Set(ids)].sort()
}

/** Locks a person's row by a write in one statement, so that the time does not reveal whether the row existed. */
async function lockPerson(db: Connection, id: string): Promise<void> {
  const text: StatementText = (parameter) => `insert into ${db.dialect.name('identity_persons')} (id)
    values (${parameter(id)}) on conflict (id) do update set id = excluded.id`
  await run(db, text)
}

export const subjectColumns = `id, email_key, account_id, proved, closed, redemptions, donor, applicant_id,
  attached_number, attached_at, review, reviewed_at, doubt, presence_at, is_active, missing_since, missing_reported,
  missing_confirmed, revision`

export type StoredSubject = Omit<
  Selectable<Tables['identity_subjects']>,
  'seq' | 'email_key_version' | 'email_sealed' | 'next_poll_at'
>

export function toSubject(row: StoredSubject): IdentitySubject {
  return {
    id: unpack<string>(row.id),
    emailKey: row.email_key,
    accountId: unpack<string>(row.account_id),
    proved: toNumber(row.proved) === 1,
    closed: toNumber(row.closed) === 1,
    redemptions: toNumber(row.redemptions),
    donor: row.donor,
    applicantId: unpack<string>(row.applicant_id),
    attachedNumber: toNullableNumber(row.attached_number),
    attachedAt: toNullableNumber(row.attached_at),
    review: unpack<Review>(row.review),
    reviewedAt: toNullableNumber(row.reviewed_at),
    doubt: unpack<Review>(row.doubt),
    presence: toPresence(row),
    missing: toMissingApplicant(row),
    revision: toNumber(row.revision),
  }
}

function toPresence({ presence_at, is_active }: StoredSubject): IdentitySubject['presence'] {
  if (presence_at === null || is_active === null) return null
  return { isActive: toNumber(is_active) === 1, at: toNumber(presence_at) }
}

function toMissingApplicant(row: StoredSubject): MissingApplicant | null {
  const { missing_since, missing_reported, missing_confirmed } = row
  if (missing_since === null || missing_reported === null || missing_confirmed === null) return null
  return {
    since: toNumber(missing_since),
    reported: toNumber(missing_reported) === 1,
    confirmed: toNumber(missing_confirmed) === 1,
  }
}

export function formatVerificationAssignments(change: VerificationChange, parameter: Parameter): string[] {
  const { donor, applicantId, attachedNumber, attachedAt, review, reviewedAt, doubt, presence, missing } = change
  const values: Record<string, unknown> = {}
  if (donor !== undefined) values['donor'] = donor
  if (applicantId !== undefined) values['applicant_id'] = pack(applicantId)
  if (attachedNumber !== undefined) values['attached_number'] = checkNullableInteger(attachedNumber, 'attachedNumber')
  if (attachedAt !== undefined) values['attached_at'] = checkNullableInteger(attachedAt, 'attachedAt')
  if (review !== undefined) values['review'] = pack(review)
  if (reviewedAt !== undefined) values['reviewed_at'] = checkNullableInteger(reviewedAt, 'reviewedAt')
  if (doubt !== undefined) values['doubt'] = pack(doubt)
  if (presence !== undefined) {
    values['presence_at'] = checkNullableInteger(presence?.at ?? null, 'presence.at')
    values['is_active'] = toFlag(presence?.isActive)
  }
  if (missing !== undefined) {
    values['missing_since'] = checkNullableInteger(missing?.since ?? null, 'missing.since')
    values['missing_reported'] = toFlag(missing?.reported)
    values['missing_confirmed'] = toFlag(missing?.confirmed)
  }
  return Object.entries(values).map(([column, value]) => `${column} = ${parameter(value)}`)
}

function checkNullableInteger(value: number | null, what: string): number | null {
  return value === null ? null : checkInteger(value, what)
}

function toFlag(value: boolean | undefined): 0 | 1 | null {
  return value === undefined ? null : value ? 1 : 0
}

type SubjectTransaction = Pick<
  IdentityTransaction,
  'ensureSubject' | 'insertSubject' | 'setOwner' | 'changeVerification' | 'findSubjectByApplicant'
>

export function bindSubjects(db: Connection): SubjectTransaction {
  const table = db.dialect.name('identity_subjects')
  return {
    // Writes one row in one statement, so that the time does not reveal whether the address has an open subject.
    async ensureSubject({ key, sealed }, freshId) {
      const rows = await run<StoredSubject>(db, (parameter) => {
        const values = [pack(freshId), key, sealed.keyVersion, sealed.sealed].map(parameter)
        return `insert into ${table}
            (id, email_key, email_key_version, email_sealed, proved, closed, redemptions, revision)
          values (${values.join(', ')}, 0, 0, 0, 0)
          on conflict (email_key) where closed = 0 do update set
            email_key_version = excluded.email_key_version, email_sealed = excluded.email_sealed
          returning ${subjectColumns}`
      })
      return requireOne(rows)
    },
    async insertSubject({ id, emailKey, email, accountId, proved }) {
      const rows = await run<StoredSubject>(db, (parameter) => {
        const { keyVersion = null, sealed = null } = email?.sealed ?? {}
        const values = [pack(id), emailKey, keyVersion, sealed, pack(accountId), proved ? 1 : 0].map(parameter)
        return `insert into ${table}
            (id, email_key, email_key_version, email_sealed, account_id, proved, closed, redemptions, revision)
          values (${values.join(', ')}, 0, 0, 0) returning ${subjectColumns}`
      })
      return requireOne(rows)
    },
    async setOwner(subjectId, { accountId, proved, closed }) {
      const values: Record<string, unknown> = {}
      if (accountId !== undefined) values['account_id'] = pack(accountId)
      if (proved !== undefined) values['proved'] = proved ? 1 : 0
      if (closed !== undefined) values['closed'] = closed ? 1 : 0
      await run(db, (parameter) => {
        const set = Object.entries(values).map(([column, value]) => `${column} = ${parameter(value)}`)
        return `update ${table} set ${['id = id', ...set].join(', ')} where id = ${parameter(pack(subjectId))}`
      })
    },
    async changeVerification(subjectId, change) {
      const { pollInMs } = change
      await run(db, (parameter) => {
        const set = ['revision = revision + 1', ...formatVerificationAssignments(change, parameter)]
        if (pollInMs === null) set.push('next_poll_at = null')
        else if (pollInMs !== undefined)
          set.push(`next_poll_at = ${db.dialect.nowText(parameter)} + ${parameter(checkInteger(pollInMs, 'pollInMs'))}`)
        return `update ${table} set ${set.join(', ')} where id = ${parameter(pack(subjectId))}`
      })
    },
    async findSubjectByApplicant(applicantId) {
      const { rows } = await db.executeQuery<StoredSubject>(byApplicantQuery(db, applicantId))
      return rows[0] === undefined ? null : toSubject(rows[0])
    },
  }
}

export function byApplicantQuery({ dialect }: Pick<Connection, 'dialect'>, applicantId: string) {
  return compile<StoredSubject>(
    dialect,
    (parameter) => `select ${subjectColumns} from ${dialect.name('identity_subjects')}
      where applicant_id = ${parameter(pack(applicantId))} order by seq limit 1`,
  )
}

function requireOne([row]: readonly StoredSubject[]): IdentitySubject {
  if (row === undefined) throw new TypeError('The statement that stores a subject returned no row.')
  return toSubject(row)
}
