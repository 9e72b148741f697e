/** Registrations, claims and one-time codes inside a transaction. Source: INTERFACE 4.2 (account resolution order). @module */
import type { IdentityAccount, IdentityAccountTransaction, StoredEmailCode } from '@payment-integration/core/ports'
import type { Connection, Differences, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { compile, run } from '../internal/statement.js'
import { integer, pack } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { eventValues } from './accounts.js'
import { resolveEmail, resolveKnown } from './resolve-email.js'

/** Binds the operations to a transaction's connection. */
export function accountsIn(db: Connection, differences: Differences): IdentityAccountTransaction {
  return {
    async hold(email, freshId) {
      // The first statement waits for the row; what it read of other rows may be older than the wait.
      await resolveEmail(db, differences, email, freshId)
      const accountId = await resolveEmail(db, differences, email, freshId)
      return (await find(db, accountId)) ?? { accountId, kind: 'placeholder', emailVerified: false }
    },
    async holdKnown(emailKey, freshId) {
      // As above: the second answer is read after the wait.
      await resolveKnown(db, differences, emailKey, freshId)
      return resolveKnown(db, differences, emailKey, freshId)
    },
    find: (accountId) => find(db, accountId),
    async carried(accountId) {
      const users = db.selectFrom('identity_users').select('email_key')
      return (await users.where('account_id', '=', pack(accountId)).executeTakeFirst())?.email_key ?? null
    },
    async hasProved(accountId, emailKey) {
      const { rows } = await db.executeQuery(provedQuery({ differences }, accountId, emailKey))
      return rows.length > 0
    },
    async register(email, accountId) {
      await insertUser(db, differences, { accountId, emailKey: email.key })
      await resolveEmail(db, differences, email, accountId)
    },
    async own(email, accountId) {
      await own(db, differences, email.key, accountId)
      await resolveEmail(db, differences, email, accountId)
    },
    code: (emailKey) => findCode(db, differences, emailKey),
    setCode: (emailKey, code) => setCode(db, emailKey, code),
    async log(event) {
      await db.insertInto('account_events').values(eventValues(event)).execute()
    },
  }
}

/** What {@link IdentityAccountTransaction.hasProved} asks. */
export function provedQuery({ differences }: Pick<Engine, 'differences'>, accountId: string, emailKey: string) {
  return compile<{ id: Integer }>(
    differences,
    (parameter) => `select id from ${differences.name('account_events')}
      where email_key = ${parameter(emailKey)} and account_id = ${parameter(pack(accountId))} and action = 'claimed' limit 1`,
  )
}

async function find(db: Connection, accountId: string): Promise<IdentityAccount | null> {
  const row = await db
    .selectFrom('identity_users')
    .select('email_verified')
    .where('account_id', '=', pack(accountId))
    .executeTakeFirst()
  if (row === undefined) return null
  return { accountId, kind: 'registered', emailVerified: integer(row.email_verified) === 1 }
}

async function insertUser(
  db: Connection,
  differences: Differences,
  { accountId, emailKey }: { readonly accountId: string; readonly emailKey: string },
): Promise<void> {
  const { name, nowText } = differences
  await run(
    db,
    differences,
    (parameter) => `insert into ${name('identity_users')} (account_id, email_key, email_verified, created_at)
      values (${parameter(pack(accountId))}, ${parameter(emailKey)}, 0, ${nowText(parameter)})`,
  )
}

/** Makes an account the owner of an address, which changes nothing where it is: a placeholder is registered by that. */
async function own(db: Connection, differences: Differences, emailKey: string, accountId: string): Promise<void> {
  const { name, nowText, lockRows } = differences
  const users = name('identity_users')
  const id = pack(accountId)
  // Two accounts that prove each other's address would change the same two rows, each its own last.
  await run(
    db,
    differences,
    (parameter) =>
      `select account_id from ${users} u where email_key = ${parameter(emailKey)} or account_id = ${parameter(id)}
        order by account_id${lockRows('u')}`,
  )
  await run(
    db,
    differences,
    (parameter) =>
      `update ${users} set email_key = null, email_verified = 0
        where email_key = ${parameter(emailKey)} and account_id <> ${parameter(id)}`,
  )
  await run(
    db,
    differences,
    (parameter) => `insert into ${users} (account_id, email_key, email_verified, created_at)
      values (${parameter(id)}, ${parameter(emailKey)}, 1, ${nowText(parameter)})
      on conflict (account_id) do update set email_key = excluded.email_key, email_verified = 1`,
  )
}

async function findCode(db: Connection, differences: Differences, emailKey: string): Promise<StoredEmailCode | null> {
  const { name, lockRows } = differences
  const [row] = await run<{ hash: string; expires_at: Integer; tries_left: Integer }>(
    db,
    differences,
    (parameter) => `select hash, expires_at, tries_left from ${name('email_codes')} c
      where email_key = ${parameter(emailKey)}${lockRows('c')}`,
  )
  if (row === undefined) return null
  return { hash: row.hash, expiresAt: integer(row.expires_at), triesLeft: integer(row.tries_left) }
}

async function setCode(db: Connection, emailKey: string, code: StoredEmailCode | null): Promise<void> {
  if (code === null) {
    await db.deleteFrom('email_codes').where('email_key', '=', emailKey).execute()
    return
  }
  const values = {
    hash: code.hash,
    expires_at: checkInteger(code.expiresAt, 'expiresAt'),
    tries_left: checkInteger(code.triesLeft, 'triesLeft', 1),
  }
  await db
    .insertInto('email_codes')
    .values({ email_key: emailKey, ...values })
    .onConflict((conflict) => conflict.column('email_key').doUpdateSet(values))
    .execute()
}
