/** Which account an address resolves to. Source: INTERFACE 4.2 (account resolution order). @module */
import type { EmailAddress } from '@payment-integration/core/ports'
import type { Connection, Differences } from '../engine.js'
import { run } from '../internal/statement.js'
import { pack, unpack } from '../internal/values.js'

/**
 * Resolves an address in one statement that writes one row, whatever is stored: its owner; else the account of before, where it still is a placeholder or
 * carries the address; else the oldest account that carries it; else a placeholder with the id `fresh`.
 */
export async function resolveEmail(
  db: Connection,
  differences: Differences,
  { key, sealed }: EmailAddress,
  fresh: string,
): Promise<string> {
  const { name, nowText } = differences
  const rows = await run<ResolvedRow>(db, differences, (parameter) => {
    const emailKey = parameter(key)
    const now = nowText(parameter)
    const { owner, first, before } = choices(differences, emailKey)
    return `insert into ${name('identity_accounts')} as a
        (email_key, account_id, email_key_version, email_sealed, created_at, resolved_at)
      values (${emailKey}, coalesce(${first}, ${parameter(pack(fresh))}),
        ${parameter(sealed.keyVersion)}, ${parameter(sealed.sealed)}, ${now}, ${now})
      on conflict (email_key) do update set
        account_id = coalesce(${owner}, ${before}, excluded.account_id),
        email_key_version = excluded.email_key_version, email_sealed = excluded.email_sealed,
        resolved_at = excluded.resolved_at
      returning account_id`
  })
  const [row] = rows
  if (row === undefined) throw new TypeError('The statement that resolves an address answered no row.')
  return unpack<string>(row.account_id)
}

/** The same for an address of which no more than its keyed hash is at hand; null, writing nothing, when it was never resolved. */
export async function resolveKnown(
  db: Connection,
  differences: Differences,
  key: string,
  fresh: string,
): Promise<string | null> {
  const [row] = await run<ResolvedRow>(db, differences, (parameter) => {
    const emailKey = parameter(key)
    const { owner, first, before } = choices(differences, emailKey)
    return `update ${differences.name('identity_accounts')} as a
      set account_id = coalesce(${owner}, ${before}, ${first}, ${parameter(pack(fresh))})
      where a.email_key = ${emailKey} returning account_id`
  })
  return row === undefined ? null : unpack<string>(row.account_id)
}

interface ResolvedRow {
  readonly account_id: string
}

/** The accounts that may have an address, as expressions over its row `a`: its owner, the one that carries it first, and the one of before while it still is it. */
function choices({ name }: Differences, emailKey: string) {
  const users = name('identity_users')
  const first = (condition: string) => `(select u.account_id from ${users} u
      where u.email_key = ${emailKey} ${condition} order by u.email_verified desc, u.id limit 1)`
  const elsewhere = `exists (select 1 from ${users} u
      where u.account_id = a.account_id and (u.email_key is null or u.email_key <> ${emailKey}))`
  return {
    owner: first('and u.email_verified = 1'),
    first: first(''),
    before: `case when not ${elsewhere} then a.account_id end`,
  }
}
