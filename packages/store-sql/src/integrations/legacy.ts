/** Stores accounts and API keys of the legacy endpoints. Source: docs/interface.md 2.4, 4.3, 5. @module */
import type {
  AccountRecord,
  AccountStore,
  AccountTransaction,
  LegacyKeyRecord,
  LegacyKeyStore,
  LegacyKeyTransaction,
} from '@payment-integration/core/internal'
import { sql } from 'kysely'
import type { Connection, Engine } from '../engine.js'
import { prepare, type ValueOf } from '../internal/statements.js'
import { checkInteger, memoize, pack, toNullableNumber, toNumber, unpack } from '../internal/values.js'
import type { Tables } from '../schema/tables.js'

const accountColumns = ['handle', 'address', 'config', 'created_at'] as const

/** Accounts by handle. The addresses of an account are separate rows, written with it. */
export function createAccountStore(engine: Engine): AccountStore {
  const { read } = engine
  const findByHandle = prepare(engine, (value: ValueOf<{ handle: string }>) => selectByHandle(read, value('handle')))
  const findByAddress = prepare(engine, (value: ValueOf<{ address: string }>) =>
    selectByAddress(read, value('address')),
  )
  return {
    async find(handle) {
      const [row] = await findByHandle({ handle: pack(handle) })
      return row === undefined ? null : toAccountRecord(row)
    },
    findByAddress: async (address) => toSortedRecords(await findByAddress({ address })),
    list: async () => toSortedRecords(await read.selectFrom('accounts').select(accountColumns).execute()),
  }
}

export function bindLegacyAccounts(db: Connection): AccountTransaction {
  return {
    async find(handle) {
      const row = await selectByHandle(db, pack(handle)).executeTakeFirst()
      return row === undefined ? null : toAccountRecord(row)
    },
    async insert(record) {
      const { handle, address, config, createdAt } = record
      const inserted = await db
        .insertInto('accounts')
        .values({ handle: pack(handle), address, config: pack(config), created_at: createdAt })
        .onConflict((conflict) => conflict.column('handle').doNothing())
        .returning('handle')
        .executeTakeFirst()
      if (inserted !== undefined) await insertAddresses(db, record)
      return inserted !== undefined
    },
    async update(handle, { address, config }) {
      const row = await db
        .updateTable('accounts')
        .set({
          // Sets the handle too, so that the statement returns and locks the row even without other changes.
          handle: pack(handle),
          ...(address === undefined ? {} : { address }),
          ...(config === undefined ? {} : { config: pack(config) }),
        })
        .where('handle', '=', pack(handle))
        .returning(accountColumns)
        .executeTakeFirst()
      if (row === undefined) return null
      const record = toAccountRecord(row)
      await db.deleteFrom('account_addresses').where('handle', '=', row.handle).execute()
      await insertAddresses(db, record)
      return record
    },
    async remove(handle) {
      const removed = db.deleteFrom('accounts').where('handle', '=', pack(handle)).returning('handle')
      return (await removed.executeTakeFirst()) !== undefined
    },
  }
}

function selectByHandle(db: Connection, handle: string) {
  return db.selectFrom('accounts').select(accountColumns).where('handle', '=', handle)
}

export function selectByAddress(db: Connection, address: string) {
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
function toSortedRecords(rows: readonly Tables['accounts'][]): AccountRecord[] {
  return rows.map(toAccountRecord).sort((a, b) => (a.handle < b.handle ? -1 : 1))
}

function toAccountRecord(row: Tables['accounts']): AccountRecord {
  return {
    handle: unpack<string>(row.handle),
    address: row.address,
    config: unpack<AccountRecord['config']>(row.config),
    createdAt: toNumber(row.created_at),
  }
}

const keyColumns = ['id', 'name', 'hash', 'key_version', 'created_at', 'revoked_at'] as const

export function createLegacyKeyStore(engine: Engine): LegacyKeyStore {
  const { read } = engine
  // One statement for each number of hashes, which is the number of master keys.
  const prepareForCount = memoize((count) => {
    const indexes = Array.from({ length: Number(count) }, (_, index) => index)
    return prepare(engine, (value: ValueOf<readonly string[]>) => selectByHashes(read, indexes.map(value)))
  })
  return {
    async findByHash(hashes) {
      if (hashes.length === 0) return null
      const rows = await prepareForCount(String(hashes.length))(hashes.map(({ hash }) => hash))
      const isMatch = ({ secret }: LegacyKeyRecord) =>
        hashes.some(({ hash, keyVersion }) => secret.hash === hash && secret.keyVersion === keyVersion)
      return rows.map(toLegacyKeyRecord).find(isMatch) ?? null
    },
    list: bindLegacyKeys(read).list,
  }
}

export function bindLegacyKeys(db: Connection): LegacyKeyTransaction {
  return {
    async list() {
      const records = (await db.selectFrom('legacy_keys').select(keyColumns).execute()).map(toLegacyKeyRecord)
      return records.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    },
    async insert({ id, name, secret, createdAt, revokedAt }) {
      const inserted = await db
        .insertInto('legacy_keys')
        .values({
          id: pack(id),
          name: pack(name),
          hash: secret.hash,
          key_version: secret.keyVersion,
          created_at: createdAt,
          revoked_at: revokedAt,
        })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst()
      return inserted !== undefined
    },
    async revoke(id, at) {
      checkInteger(at, 'at')
      const row = await db
        .updateTable('legacy_keys')
        .set({ revoked_at: sql`coalesce(revoked_at, ${at})` })
        .where('id', '=', pack(id))
        .returning(keyColumns)
        .executeTakeFirst()
      return row === undefined ? null : toLegacyKeyRecord(row)
    },
  }
}

export function selectByHashes(db: Connection, hashes: readonly string[]) {
  return db.selectFrom('legacy_keys').select(keyColumns).where('hash', 'in', hashes)
}

function toLegacyKeyRecord(row: Tables['legacy_keys']): LegacyKeyRecord {
  return {
    id: unpack<string>(row.id),
    name: unpack<string>(row.name),
    secret: { keyVersion: toNumber(row.key_version), hash: row.hash },
    createdAt: toNumber(row.created_at),
    revokedAt: toNullableNumber(row.revoked_at),
  }
}
