/** Stores subjects inside a transaction. Source: docs/interface.md 3 (KYC attachment), 4.2. @module */
import type { EmailAddress, IdentityTransaction, NewSubject, Subject } from '@payment-integration/core/ports'
import type { Connection, SqlDialect } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { compile, run } from '../internal/statement.js'
import { pack } from '../internal/values.js'
import { type StoredSubject, subjectColumns, subjectFrom, verificationAssignments } from './subject-row.js'

/** The operations on subjects in a transaction. */
type SubjectTransaction = Pick<
  IdentityTransaction,
  'ensureSubject' | 'insertSubject' | 'setOwner' | 'changeVerification' | 'subjectOf'
>

/** Binds the operations to a transaction's connection. */
export function subjectsIn(db: Connection, dialect: SqlDialect): SubjectTransaction {
  const table = dialect.name('identity_subjects')
  return {
    ensureSubject: (email, freshId) => ensureSubject(db, dialect, email, freshId),
    insertSubject: (subject) => insertSubject(db, dialect, subject),
    async setOwner(subjectId, { accountId, proved, closed }) {
      const values: Record<string, unknown> = {}
      if (accountId !== undefined) values['account_id'] = pack(accountId)
      if (proved !== undefined) values['proved'] = proved ? 1 : 0
      if (closed !== undefined) values['closed'] = closed ? 1 : 0
      await run(db, dialect, (parameter) => {
        const set = Object.entries(values).map(([column, value]) => `${column} = ${parameter(value)}`)
        return `update ${table} set ${['id = id', ...set].join(', ')} where id = ${parameter(pack(subjectId))}`
      })
    },
    async changeVerification(subjectId, change) {
      const { pollInMs } = change
      await run(db, dialect, (parameter) => {
        const set = ['revision = revision + 1', ...verificationAssignments(change, parameter)]
        if (pollInMs === null) set.push('next_poll_at = null')
        else if (pollInMs !== undefined)
          set.push(`next_poll_at = ${dialect.nowText(parameter)} + ${parameter(checkInteger(pollInMs, 'pollInMs'))}`)
        return `update ${table} set ${set.join(', ')} where id = ${parameter(pack(subjectId))}`
      })
    },
    async subjectOf(applicantId) {
      const { rows } = await db.executeQuery<StoredSubject>(ofApplicantQuery({ dialect }, applicantId))
      return rows[0] === undefined ? null : subjectFrom(rows[0])
    },
  }
}

/** The subject with an applicant. */
export function ofApplicantQuery({ dialect }: { readonly dialect: SqlDialect }, applicantId: string) {
  return compile<StoredSubject>(
    dialect,
    (parameter) => `select ${subjectColumns} from ${dialect.name('identity_subjects')}
      where applicant_id = ${parameter(pack(applicantId))} order by seq limit 1`,
  )
}

/** One statement that writes one row, whether the address has an open subject or not. */
async function ensureSubject(
  db: Connection,
  dialect: SqlDialect,
  { key, sealed }: EmailAddress,
  freshId: string,
): Promise<Subject> {
  const rows = await run<StoredSubject>(db, dialect, (parameter) => {
    const values = [pack(freshId), key, sealed.keyVersion, sealed.sealed].map(parameter)
    return `insert into ${dialect.name('identity_subjects')}
        (id, email_key, email_key_version, email_sealed, proved, closed, redemptions, revision)
      values (${values.join(', ')}, 0, 0, 0, 0)
      on conflict (email_key) where closed = 0 do update set
        email_key_version = excluded.email_key_version, email_sealed = excluded.email_sealed
      returning ${subjectColumns}`
  })
  return onlyOf(rows)
}

async function insertSubject(db: Connection, dialect: SqlDialect, subject: NewSubject): Promise<Subject> {
  const { id, emailKey, email, accountId, proved } = subject
  const rows = await run<StoredSubject>(db, dialect, (parameter) => {
    const values = [
      ...[pack(id), emailKey, email?.sealed.keyVersion ?? null, email?.sealed.sealed ?? null],
      ...[pack(accountId), proved ? 1 : 0],
    ].map(parameter)
    return `insert into ${dialect.name('identity_subjects')}
        (id, email_key, email_key_version, email_sealed, account_id, proved, closed, redemptions, revision)
      values (${values.join(', ')}, 0, 0, 0) returning ${subjectColumns}`
  })
  return onlyOf(rows)
}

function onlyOf([row]: readonly StoredSubject[]): Subject {
  if (row === undefined) throw new TypeError('The statement that stores a subject returned no row.')
  return subjectFrom(row)
}
