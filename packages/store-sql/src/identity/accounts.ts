/**
 * Accounts by e-mail address, for hosts without users of their own. Source: INTERFACE 4.2 (account resolution order).
 *
 * An address that was once resolved sticks to its account until somebody proves it: whoever registers with it unverified meanwhile gets nothing of
 * what was shared. So a row of `identity_accounts` holds the answer, and a placeholder is an answer that no registered account bears.
 * @module
 */
import type { EmailAddress, IdentityAccounts, Ids } from '@payment-integration/core/ports'
import type { Connection, Differences, Engine } from '../engine.js'
import { run } from '../internal/statement.js'
import { pack, unpack } from '../internal/values.js'

/** Builds the accounts. @param ids - Makes the ids of placeholders: each must be new. */
export function createIdentityAccounts({ transaction, differences }: Engine, ids: Ids): IdentityAccounts {
  return {
    async resolve(email) {
      const fresh = ids.next()
      return { accountId: await transaction((db) => resolve(db, differences, email, fresh)) }
    },
    async claim(email) {
      const fresh = ids.next()
      return transaction(async (db) => {
        // Its row is held until the end: of two claims at once the other resolves to what the first one gave.
        const accountId = await resolve(db, differences, email, fresh)
        await own(db, differences, email.key, accountId)
        return { accountId, kind: 'registered', emailVerified: true }
      })
    },
  }
}

/** One statement that looks for one account and writes one row, whatever is stored. */
async function resolve(db: Connection, differences: Differences, email: EmailAddress, fresh: string): Promise<string> {
  const { name, nowText } = differences
  const users = name('identity_users')
  const { key, sealed } = email
  const rows = await run<{ account_id: string }>(db, differences, (parameter) => {
    const emailKey = parameter(key)
    const now = nowText(parameter)
    const first = (condition: string) => `(select u.account_id from ${users} u
      where u.email_key = ${emailKey} ${condition} order by u.email_verified desc, u.id limit 1)`
    return `insert into ${name('identity_accounts')} as a
        (email_key, account_id, email_key_version, email_sealed, created_at, resolved_at)
      values (${emailKey}, coalesce(${first('')}, ${parameter(pack(fresh))}),
        ${parameter(sealed.keyVersion)}, ${parameter(sealed.sealed)}, ${now}, ${now})
      on conflict (email_key) do update set account_id = coalesce(${first('and u.email_verified = 1')}, a.account_id),
        email_key_version = excluded.email_key_version, email_sealed = excluded.email_sealed,
        resolved_at = excluded.resolved_at
      returning account_id`
  })
  const [row] = rows
  if (row === undefined) throw new TypeError('The statement that resolves an address answered no row.')
  return unpack<string>(row.account_id)
}

/** Makes an account the owner of an address, which changes nothing where it is: a placeholder is registered by that. */
async function own(db: Connection, differences: Differences, emailKey: string, accountId: string): Promise<void> {
  const { name, nowText } = differences
  const users = name('identity_users')
  const id = pack(accountId)
  await run(
    db,
    differences,
    (parameter) =>
      `update ${users} set email_key = null where email_key = ${parameter(emailKey)} and account_id <> ${parameter(id)}`,
  )
  await run(
    db,
    differences,
    (parameter) => `insert into ${users} (account_id, email_key, email_verified, created_at)
      values (${parameter(id)}, ${parameter(emailKey)}, 1, ${nowText(parameter)})
      on conflict (account_id) do update set email_key = excluded.email_key, email_verified = 1`,
  )
}
