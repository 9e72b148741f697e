/** Reads the log of the store's own accounts. Source: docs/interface.md 4.2. @module */
import type { AccountEvent, IdentityAccountStore } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { integer, pack, unpack } from '../internal/values.js'
import type { AccountEventRow } from '../schema/identity-tables.js'

/** The reads outside of transactions. */
export function createIdentityAccounts({ read }: Engine): IdentityAccountStore {
  return {
    async events({ emailKey, limit }) {
      const rows = await read
        .selectFrom('account_events')
        .selectAll()
        .$if(emailKey !== undefined, (query) => query.where('email_key', '=', emailKey ?? ''))
        .orderBy('id', 'desc')
        .limit(checkInteger(limit, 'limit', 1))
        .execute()
      return rows.map(eventFrom)
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

/** The event in a row. */
export function eventFrom(row: Selectable<AccountEventRow>): AccountEvent {
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
