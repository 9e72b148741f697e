/** Stores the service's own accounts, and one-time codes. Source: docs/interface.md 4.2. @module */
import type { AccountEvent, IdentityAccountTransaction, IdentityStore } from '@payment-integration/core/internal'
import type { Selectable } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { compile, run, type StatementText } from '../internal/statements.js'
import { checkInteger, pack, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

/** The account that proved the address, else the oldest account that carries it. */
export function findAddressOwnerQuery({ dialect }: Pick<Connection, 'dialect'>, emailKey: string) {
  return compile<{ account_id: string; email_verified: Integer }>(
    dialect,
    (parameter) => `select account_id, email_verified from ${dialect.name('identity_accounts')}
      where email_key = ${parameter(emailKey)} order by email_verified desc, id limit 1`,
  )
}

export function createAccountReads({ read }: Engine): Pick<IdentityStore, 'accountEvents'> {
  return {
    async accountEvents({ emailKey, limit }) {
      const rows = await read
        .selectFrom('account_events')
        .selectAll()
        .$if(emailKey !== undefined, (query) => query.where('email_key', '=', emailKey ?? ''))
        .orderBy('id', 'desc')
        .limit(checkInteger(limit, 'limit', 1))
        .execute()
      return rows.map(toEvent)
    },
  }
}

export function toEvent(row: Selectable<Tables['account_events']>): AccountEvent {
  return {
    at: toNumber(row.at),
    action: row.action as AccountEvent['action'],
    emailKey: row.email_key,
    accountId: unpack<string>(row.account_id),
    proof: row.proof as AccountEvent['proof'],
    by: row.by_integration,
    reason: row.reason as AccountEvent['reason'],
  }
}

export function bindAccounts(db: Connection): IdentityAccountTransaction {
  const { name, nowText, lockRows } = db.dialect
  const accounts = name('identity_accounts')
  return {
    async findAddressOwner(emailKey) {
      const [row] = (await db.executeQuery(findAddressOwnerQuery(db, emailKey))).rows
      if (row === undefined) return null
      return { accountId: unpack<string>(row.account_id), proved: toNumber(row.email_verified) === 1 }
    },
    async find(accountId) {
      const row = await db
        .selectFrom('identity_accounts')
        .select('email_verified')
        .where('account_id', '=', pack(accountId))
        .executeTakeFirst()
      return row === undefined ? null : { accountId, emailVerified: toNumber(row.email_verified) === 1 }
    },
    async register({ key }, accountId) {
      const text: StatementText = (parameter) => `insert into ${accounts}
          (account_id, email_key, email_verified, created_at)
        values (${parameter(pack(accountId))}, ${parameter(key)}, 0, ${nowText(parameter)})`
      await run(db, text)
    },
    async setProvedOwner({ key }, accountId) {
      const id = pack(accountId)
      // Locked in a fixed order: two accounts that prove each other's address would otherwise deadlock.
      const lockText: StatementText = (parameter) => `select account_id from ${accounts} a
        where email_key = ${parameter(key)} or account_id = ${parameter(id)} order by account_id${lockRows('a')}`
      await run(db, lockText)
      const releaseText: StatementText = (parameter) => `update ${accounts} set email_key = null, email_verified = 0
        where email_key = ${parameter(key)} and account_id <> ${parameter(id)}`
      await run(db, releaseText)
      const proveText: StatementText = (parameter) => `insert into ${accounts}
          (account_id, email_key, email_verified, created_at)
        values (${parameter(id)}, ${parameter(key)}, 1, ${nowText(parameter)})
        on conflict (account_id) do update set email_key = excluded.email_key, email_verified = 1`
      await run(db, proveText)
    },
    async lockCode(emailKey) {
      const text: StatementText = (parameter) => `select hash, expires_at, tries_left from ${name('email_codes')} c
        where email_key = ${parameter(emailKey)}${lockRows('c')}`
      const [row] = await run<Pick<Tables['email_codes'], 'hash' | 'expires_at' | 'tries_left'>>(db, text)
      if (row === undefined) return null
      return { hash: row.hash, expiresAt: toNumber(row.expires_at), triesLeft: toNumber(row.tries_left) }
    },
    async setCode(emailKey, code) {
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
    },
    async log(event) {
      await db
        .insertInto('account_events')
        .values({
          at: checkInteger(event.at, 'at'),
          action: event.action,
          email_key: event.emailKey,
          account_id: pack(event.accountId),
          proof: event.proof,
          by_integration: event.by,
          reason: event.reason,
        })
        .execute()
    },
  }
}
