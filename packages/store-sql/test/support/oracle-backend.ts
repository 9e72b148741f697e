/** The store on which the identity oracle judges the real use cases: one database, emptied for each history. @module */
import { sql } from 'kysely'
import type { Backend, OpenBackend } from '../../../core/test/identity-oracle/real/backend.js'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'
import { toNumber, unpack } from '../../src/internal/values.js'
import type { Integer } from '../../src/schema/migration.js'

/** Tables that identity writes. The key of addresses stays. */
const tables = [
  ...['identity_redemptions', 'identity_subjects', 'identity_persons', 'identity_shares', 'identity_verdicts'],
  ...['identity_accounts', 'provider_events', 'email_codes', 'account_events', 'audit'],
]
const everything = { limit: 100_000 }

/** A database that histories use one after the other. */
export interface OracleDatabase {
  readonly open: OpenBackend
  close(): Promise<void>
}

/**
 * Migrates it.
 * @param build - Builds its engine on a clock.
 * @param waiting - How many statements wait for a lock, where transactions run beside each other.
 */
export async function oracleDatabase(
  build: (clock: { now(): number }) => Engine,
  waiting?: () => Promise<number>,
): Promise<OracleDatabase> {
  let current = { now: () => 0 }
  const durable = build({ now: () => current.now() })
  // No machine fails here: commits need not reach the disk.
  const engine: Engine = { ...durable, transaction: (work) => durable.transaction(work, { durable: false }) }
  const store = createStore(engine)
  await store.migrate()
  const { name } = engine.dialect

  const rows: Backend['rows'] = async () => {
    const subjects = await store.identity.subjects(everything)
    const redemptions = await store.identity.redemptions(everything)
    const leases = await sql<{ external_user_id: string; leased_until: Integer }>`
      select external_user_id, leased_until from ${sql.raw(name('identity_redemptions'))}`.execute(engine.read)
    const ends = leases.rows.map((row) => [unpack<string>(row.external_user_id), toNumber(row.leased_until)] as const)
    const leasedUntil = new Map(ends)
    const accounts = await sql<{ account_id: string; email_key: string | null; email_verified: Integer }>`
      select account_id, email_key, email_verified from ${sql.raw(name('identity_accounts'))} order by id`.execute(
      engine.read,
    )
    return {
      subjects,
      redemptions: redemptions
        .reverse()
        .map((row) => ({ ...row, leasedUntil: leasedUntil.get(row.externalUserId) ?? 0 })),
      accounts: accounts.rows.map((row) => ({
        ...{ accountId: unpack<string>(row.account_id), emailKey: row.email_key },
        verified: toNumber(row.email_verified) === 1,
      })),
    }
  }
  return {
    async open(clock) {
      await engine.transaction(async (db) => {
        for (const table of tables) await sql.raw(`delete from ${name(table)}`).execute(db)
      })
      current = clock
      return { connect: () => store, rows, close: async () => undefined, ...(waiting && { waiting }) }
    },
    close: () => store.close(),
  }
}
