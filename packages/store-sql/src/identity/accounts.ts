/**
 * Accounts by e-mail address, for hosts without users of their own. Source: INTERFACE 4.2 (account resolution order).
 *
 * An address that was once resolved sticks to its account until somebody proves it: whoever registers with it unverified meanwhile gets nothing of
 * what was shared. So a row of `identity_accounts` holds the answer, and a placeholder is an answer that no registered account bears. The answer is checked
 * whenever it is used: an account that came to carry another address, or none, is no longer it.
 * @module
 */
import type { AccountEvent, IdentityAccountStore, Ids } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer, pack, unpack } from '../internal/values.js'
import type { AccountEventRow } from '../schema/identity-tables.js'
import { resolveEmail } from './resolve-email.js'

/** Builds the accounts. @param ids - Makes the ids of placeholders: each must be new. */
export function createIdentityAccounts({ transaction, read, differences }: Engine, ids: Ids): IdentityAccountStore {
  return {
    async resolve(email) {
      const fresh = ids.next()
      return { accountId: await transaction((db) => resolveEmail(db, differences, email, fresh)) }
    },
    async events({ emailKey, limit }) {
      const rows = await read
        .selectFrom('account_events')
        .selectAll()
        .$if(emailKey !== undefined, (query) => query.where('email_key', '=', emailKey ?? ''))
        .orderBy('id', 'desc')
        .limit(checkInteger(limit, 'limit', 1))
        .execute()
      return rows.map(eventOf)
    },
  }
}

/** An event as the columns of its row. */
export function eventValues(event: AccountEvent) {
  return {
    at: checkInteger(event.at, 'at'),
    action: event.action,
    email_key: event.emailKey,
    account_id: pack(event.accountId),
    proof: event.proof,
    by_integration: event.by,
    reason: event.reason,
  }
}

function eventOf(row: Selectable<AccountEventRow>): AccountEvent {
  return {
    at: integer(row.at),
    action: row.action as AccountEvent['action'],
    emailKey: row.email_key,
    accountId: unpack<string>(row.account_id),
    proof: row.proof as AccountEvent['proof'],
    by: row.by_integration,
    reason: row.reason as AccountEvent['reason'],
  }
}
