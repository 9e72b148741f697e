/** Stores API keys of the legacy endpoints, which arrive hashed. Source: docs/interface.md 5 (legacy API). @module */
import type { LegacyKeyRecord, LegacyKeyStore, StoreTransaction } from '@payment-integration/core/ports'
import { type Selectable, sql } from 'kysely'
import type { Connection, Engine } from './engine.js'
import { checkInteger } from './internal/checks.js'
import { prepare, type ValueOf } from './internal/prepare.js'
import { integer, nullableInteger, pack, unpack } from './internal/values.js'
import type { LegacyKeyRow } from './schema/tables.js'

const columns = ['id', 'name', 'hash', 'key_version', 'created_at', 'revoked_at'] as const

/** Keys by id and by hash. */
export function createLegacyKeyStore(engine: Engine): LegacyKeyStore {
  const { read, transaction } = engine
  const byHashes = new Map<number, ReturnType<typeof prepareHashes>>()
  const findHashes = (hashes: readonly string[]) => {
    const find = byHashes.get(hashes.length) ?? prepareHashes(engine, hashes.length)
    byHashes.set(hashes.length, find)
    return find(hashes)
  }
  return {
    async findByHash(hashes) {
      if (hashes.length === 0) return null
      const found = (await findHashes(hashes.map(({ hash }) => hash))).map(legacyKeyRecord)
      const named = ({ secret }: LegacyKeyRecord) =>
        hashes.some(({ hash, keyVersion }) => secret.hash === hash && secret.keyVersion === keyVersion)
      return found.find(named) ?? null
    },
    list: () => listKeys(read),
    insert: (record) => transaction((db) => insertKey(db, record)),
    revoke: (id, at) => transaction((db) => revokeKey(db, id, at)),
  }
}

/** Keys within a transaction. */
export function legacyKeysIn(db: Connection): StoreTransaction['legacyKeys'] {
  return {
    list: () => listKeys(db),
    insert: (record) => insertKey(db, record),
    revoke: (id, at) => revokeKey(db, id, at),
  }
}

async function listKeys(db: Connection): Promise<LegacyKeyRecord[]> {
  const records = (await db.selectFrom('legacy_keys').select(columns).execute()).map(legacyKeyRecord)
  return records.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

async function insertKey(db: Connection, record: LegacyKeyRecord): Promise<boolean> {
  const { id, name, secret, createdAt, revokedAt } = record
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
}

async function revokeKey(db: Connection, id: string, at: number): Promise<LegacyKeyRecord | null> {
  checkInteger(at, 'at')
  const row = await db
    .updateTable('legacy_keys')
    .set({ revoked_at: sql`coalesce(revoked_at, ${at})` })
    .where('id', '=', pack(id))
    .returning(columns)
    .executeTakeFirst()
  return row === undefined ? null : legacyKeyRecord(row)
}

function prepareHashes(engine: Engine, count: number) {
  return prepare(engine, (value: ValueOf<readonly string[]>) =>
    hashesQuery(
      engine.read,
      Array.from({ length: count }, (_, n) => value(n)),
    ),
  )
}

/** The rows with any of these hashes, of any key version. */
export function hashesQuery(db: Connection, hashes: readonly string[]) {
  return db.selectFrom('legacy_keys').select(columns).where('hash', 'in', hashes)
}

function legacyKeyRecord(row: Selectable<LegacyKeyRow>): LegacyKeyRecord {
  return {
    id: unpack<string>(row.id),
    name: unpack<string>(row.name),
    secret: { keyVersion: integer(row.key_version), hash: row.hash },
    createdAt: integer(row.created_at),
    revokedAt: nullableInteger(row.revoked_at),
  }
}
