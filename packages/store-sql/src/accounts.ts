/** Stores accounts with their handles and link configurations. Source: docs/interface.md 2.4, 4.3. @module */
import type { AccountRecord, AccountStore, AccountTransaction } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Connection, Engine } from './engine.js'
import { prepare, type ValueOf } from './internal/prepare.js'
import { integer, pack, unpack } from './internal/values.js'
import type { AccountRow } from './schema/tables.js'

const columns = ['handle', 'address', 'config', 'created_at'] as const

/** Accounts by handle. The addresses of an account are separate rows, written with it. */
export function createAccountStore(engine: Engine): AccountStore {
  const { read } = engine
  const findHandle = prepare(engine, (value: ValueOf<{ handle: string }>) => handleQuery(read, value('handle')))
  const findAddress = prepare(engine, (value: ValueOf<{ address: string }>) => byAddressQuery(read, value('address')))
  return {
    async find(handle) {
      const [row] = await findHandle({ handle: pack(handle) })
      return row === undefined ? null : accountRecord(row)
    },
    async findByAddress(address) {
      return records(await findAddress({ address }))
    },
    async list() {
      return records(await read.selectFrom('accounts').select(columns).execute())
    },
  }
}

/** Accounts within a transaction. */
export function linkAccountsIn(db: Connection): AccountTransaction {
  return {
    async find(handle) {
      const row = await handleQuery(db, pack(handle)).executeTakeFirst()
      return row === undefined ? null : accountRecord(row)
    },
    insert: (record) => insertAccount(db, record),
    update: (handle, change) => updateAccount(db, handle, change),
    remove: (handle) => removeAccount(db, handle),
  }
}

async function insertAccount(db: Connection, record: AccountRecord): Promise<boolean> {
  const { handle, address, config, createdAt } = record
  const inserted = await db
    .insertInto('accounts')
    .values({ handle: pack(handle), address, config: pack(config), created_at: createdAt })
    .onConflict((conflict) => conflict.column('handle').doNothing())
    .returning('handle')
    .executeTakeFirst()
  if (inserted !== undefined) await insertAddresses(db, record)
  return inserted !== undefined
}

async function updateAccount(
  db: Connection,
  handle: string,
  { address, config }: Parameters<AccountTransaction['update']>[1],
): Promise<AccountRecord | null> {
  const values = {
    // Setting the handle changes nothing: without other changes the statement still returns and locks the row.
    handle: pack(handle),
    ...(address === undefined ? {} : { address }),
    ...(config === undefined ? {} : { config: pack(config) }),
  }
  const row = await db
    .updateTable('accounts')
    .set(values)
    .where('handle', '=', pack(handle))
    .returning(columns)
    .executeTakeFirst()
  if (row === undefined) return null
  const record = accountRecord(row)
  await db.deleteFrom('account_addresses').where('handle', '=', row.handle).execute()
  await insertAddresses(db, record)
  return record
}

async function removeAccount(db: Connection, handle: string): Promise<boolean> {
  const removed = await db
    .deleteFrom('accounts')
    .where('handle', '=', pack(handle))
    .returning('handle')
    .executeTakeFirst()
  return removed !== undefined
}

function handleQuery(db: Connection, handle: string) {
  return db.selectFrom('accounts').select(columns).where('handle', '=', handle)
}

/** The accounts that receive payments at an address. */
export function byAddressQuery(db: Connection, address: string) {
  return db
    .selectFrom('account_addresses')
    .innerJoin('accounts', 'accounts.handle', 'account_addresses.handle')
    .select(['accounts.handle', 'accounts.address', 'accounts.config', 'accounts.created_at'])
    .where('account_addresses.address', '=', address)
}

async function insertAddresses(db: Connection, { handle, address, config }: AccountRecord): Promise<void> {
  const addresses = new Set([address, ...config.coins.flatMap(({ defaultAddress }) => defaultAddress ?? [])])
  await db
    .insertInto('account_addresses')
    .values([...addresses].map((one) => ({ address: one, handle: pack(handle) })))
    .execute()
}

// The database would sort the handles as JSON text.
function records(rows: readonly Selectable<AccountRow>[]): AccountRecord[] {
  return rows.map(accountRecord).sort((a, b) => (a.handle < b.handle ? -1 : 1))
}

function accountRecord(row: Selectable<AccountRow>): AccountRecord {
  return {
    handle: unpack<string>(row.handle),
    address: row.address,
    config: unpack<AccountRecord['config']>(row.config),
    createdAt: integer(row.created_at),
  }
}
