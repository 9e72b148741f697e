/** The store's own accounts and one-time codes inside a transaction. Source: docs/interface.md 4.2. @module */
import type { IdentityAccount, IdentityAccountTransaction, StoredEmailCode } from '@payment-integration/core/ports'
import type { Connection, SqlDialect } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { run } from '../internal/statement.js'
import { integer, pack } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { eventValues } from './accounts.js'
import { resolveAccount } from './resolve-account.js'

/** Binds the operations to a transaction's connection. */
export function accountsIn(db: Connection, dialect: SqlDialect): IdentityAccountTransaction {
  return {
    resolve: (emailKey) => resolveAccount(db, dialect, emailKey),
    find: (accountId) => find(db, accountId),
    register: ({ key }, accountId) => register(db, dialect, key, accountId),
    own: ({ key }, accountId) => own(db, dialect, key, accountId),
    code: (emailKey) => findCode(db, dialect, emailKey),
    setCode: (emailKey, code) => setCode(db, emailKey, code),
    async log(event) {
      await db.insertInto('account_events').values(eventValues(event)).execute()
    },
  }
}

async function find(db: Connection, accountId: string): Promise<IdentityAccount | null> {
  const row = await db
    .selectFrom('identity_accounts')
    .select('email_verified')
    .where('account_id', '=', pack(accountId))
    .executeTakeFirst()
  return row === undefined ? null : { accountId, emailVerified: integer(row.email_verified) === 1 }
}

async function register(db: Connection, dialect: SqlDialect, key: string, accountId: string): Promise<void> {
  const { name, nowText } = dialect
  await run(
    db,
    dialect,
    (parameter) => `insert into ${name('identity_accounts')} (account_id, email_key, email_verified, created_at)
      values (${parameter(pack(accountId))}, ${parameter(key)}, 0, ${nowText(parameter)})`,
  )
}

/** Makes an account the only owner of an address. If it is already, nothing changes. */
async function own(db: Connection, dialect: SqlDialect, emailKey: string, accountId: string): Promise<void> {
  const { name, nowText, lockRows } = dialect
  const accounts = name('identity_accounts')
  const id = pack(accountId)
  // Locked in one order: two accounts that prove each other's address would otherwise deadlock.
  await run(
    db,
    dialect,
    (parameter) =>
      `select account_id from ${accounts} a where email_key = ${parameter(emailKey)} or account_id = ${parameter(id)}
        order by account_id${lockRows('a')}`,
  )
  await run(
    db,
    dialect,
    (parameter) =>
      `update ${accounts} set email_key = null, email_verified = 0
        where email_key = ${parameter(emailKey)} and account_id <> ${parameter(id)}`,
  )
  await run(
    db,
    dialect,
    (parameter) => `insert into ${accounts} (account_id, email_key, email_verified, created_at)
      values (${parameter(id)}, ${parameter(emailKey)}, 1, ${nowText(parameter)})
      on conflict (account_id) do update set email_key = excluded.email_key, email_verified = 1`,
  )
}

async function findCode(db: Connection, dialect: SqlDialect, emailKey: string): Promise<StoredEmailCode | null> {
  const { name, lockRows } = dialect
  const [row] = await run<{ hash: string; expires_at: Integer; tries_left: Integer }>(
    db,
    dialect,
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
