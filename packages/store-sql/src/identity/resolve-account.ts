/** Resolves an e-mail address to its account. Source: docs/interface.md 4.2 (account resolution order). @module */
import type { AddressOwner } from '@payment-integration/core/ports'
import type { Connection, SqlDialect } from '../engine.js'
import { compile } from '../internal/statement.js'
import { integer, unpack } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'

interface OwnerRow {
  readonly account_id: string
  readonly email_verified: Integer
}

/** The account that proved the address; else the oldest that carries it; else null. */
export async function resolveAccount(
  db: Connection,
  dialect: SqlDialect,
  emailKey: string,
): Promise<AddressOwner | null> {
  const { rows } = await db.executeQuery<OwnerRow>(resolveQuery({ dialect }, emailKey))
  const [row] = rows
  if (row === undefined) return null
  return { accountId: unpack<string>(row.account_id), proved: integer(row.email_verified) === 1 }
}

/** The account that proved the address first, then the oldest that carries it. */
export function resolveQuery({ dialect }: { readonly dialect: SqlDialect }, emailKey: string) {
  return compile<OwnerRow>(
    dialect,
    (parameter) => `select account_id, email_verified from ${dialect.name('identity_accounts')}
      where email_key = ${parameter(emailKey)} order by email_verified desc, id limit 1`,
  )
}
