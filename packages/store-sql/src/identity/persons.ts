/** Locks persons, the only lock of identity. Source: docs/decisions/identity.md. @module */
import type { PersonQuery, Subject } from '@payment-integration/core/ports'
import type { Connection, SqlDialect } from '../engine.js'
import { compile, run } from '../internal/statement.js'
import { pack } from '../internal/values.js'
import { type StoredSubject, subjectColumns, subjectFrom } from './subject-row.js'

/**
 * Locks persons and resolves their subjects. A subject may change its account while the lock is awaited, so subjects
 * are read again until all their persons are locked. One person takes as many writes as two: the time must not reveal
 * whether an address has an account.
 */
export async function lockPersons(db: Connection, dialect: SqlDialect, query: PersonQuery): Promise<Subject[]> {
  const locked = new Set<string>()
  for (;;) {
    const { rows } = await db.executeQuery<StoredSubject>(personsQuery({ dialect }, query))
    const subjects = rows.map(subjectFrom)
    const ids = personIds(query, subjects).filter((id) => !locked.has(id))
    const [first] = ids
    if (first === undefined) return subjects
    if (locked.size === 0 && ids.length === 1) ids.push(first)
    for (const id of ids) await lock(db, dialect, id)
    for (const id of ids) locked.add(id)
  }
}

/** All subjects of the persons of a query, oldest first. */
export function personsQuery(
  { dialect }: { readonly dialect: SqlDialect },
  { emailKey, accountIds = [], subjectId }: PersonQuery,
) {
  const { name, oneOf } = dialect
  const table = name('identity_subjects')
  return compile<StoredSubject>(dialect, (parameter) => {
    const ofAddress = (row: string) => `${row}.email_key = ${parameter(emailKey ?? null)} and ${row}.closed = 0`
    const itself = (row: string) => `${row}.id = ${parameter(pack(subjectId ?? null))}`
    const ofAccounts = oneOf(
      'a.account_id',
      'text',
      accountIds.map((id) => pack(id)),
      parameter,
    )
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

/** The rows to lock, in one order for all transactions. A name without a person has a row of its own. */
function personIds({ emailKey, accountIds = [], subjectId }: PersonQuery, subjects: readonly Subject[]): string[] {
  const ofAccount = (id: string) => `account ${pack(id)}`
  const ofSubject = (id: string) => `subject ${pack(id)}`
  const found = subjects.map(({ id, accountId }) => (accountId === null ? ofSubject(id) : ofAccount(accountId)))
  const ids = [...accountIds.map(ofAccount), ...found]
  if (ids.length === 0 && subjectId !== undefined) ids.push(ofSubject(subjectId))
  if (ids.length === 0 && emailKey !== undefined) ids.push(`address ${emailKey}`)
  return [...new Set(ids)].sort()
}

/** One statement that writes one row, whether the row exists or not. */
async function lock(db: Connection, dialect: SqlDialect, id: string): Promise<void> {
  await run(
    db,
    dialect,
    (parameter) => `insert into ${dialect.name('identity_persons')} (id) values (${parameter(id)})
      on conflict (id) do update set id = excluded.id`,
  )
}
