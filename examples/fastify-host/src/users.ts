/** The host's users and the owner of an e-mail address. @module */
import { normalizeEmail } from '@payment-integration/core/identity'
import type { IdentityAccounts } from '@payment-integration/core/ports'
import type { Pool } from 'pg'
import { inTransaction } from './in-transaction.js'

/** Makes the table. `email` is in the normal form of the payment service; null: the user lost the address. */
export const usersTable = `create table if not exists users (
  id bigint generated always as identity primary key, email text, proved boolean not null default false);
  create index if not exists users_by_email on users (email)`

/** Adds a user with an unproved address. Resolves the id. */
export async function registerUser(pool: Pool, email: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('insert into users (email) values ($1) returning id::text', [
    normalizeEmail(email),
  ])
  return rows[0]?.id ?? ''
}

/** Gives the address to this user and takes it from every other. */
export async function ownEmail(pool: Pool, id: string, email: string): Promise<void> {
  const address = normalizeEmail(email)
  await inTransaction(pool, async (client) => {
    await client.query('update users set email = null, proved = false where email = $1 and id <> $2', [address, id])
    await client.query('update users set email = $1, proved = true where id = $2', [address, id])
  })
}

/** Lets the service look up the owner of an address, in one statement. */
export function hostAccounts(pool: Pool): IdentityAccounts {
  return {
    async findAddressOwner({ address }) {
      const { rows } = await pool.query<{ accountId: string; proved: boolean }>(
        'select id::text as "accountId", proved from users where email = $1 order by proved desc, id limit 1',
        [address],
      )
      return rows[0] ?? null
    },
  }
}
