/** Stores data keys, which arrive sealed. @module */
import type { DataKeyStore, DataKeyTransaction, SealedSecret } from '@payment-integration/core/ports'
import type { Selectable } from 'kysely'
import type { Connection, Engine } from './engine.js'
import { run } from './internal/statement.js'
import { integer, pack, unpack } from './internal/values.js'
import type { DataKeyRow } from './schema/tables.js'

/** Keys by purpose. */
export function createDataKeyStore({ transaction, dialect }: Engine): DataKeyStore {
  const table = dialect.name('data_keys')
  return {
    async obtain(purpose, candidate) {
      const rows = await transaction((db) =>
        run<DataKeyRow>(db, dialect, (parameter) => {
          const values = [pack(purpose), candidate.keyVersion, candidate.sealed].map(parameter)
          // One statement, so that of several callers at once one wins. The update changes nothing, but makes the
          // statement return the stored key.
          return `insert into ${table} as k (purpose, key_version, sealed) values (${values.join(', ')})
            on conflict (purpose) do update set sealed = k.sealed returning purpose, key_version, sealed`
        }),
      )
      const [row] = rows
      if (row === undefined) throw new TypeError('The statement of data keys returned no row.')
      return sealedSecret(row)
    },
  }
}

/** Keys within a transaction. */
export function dataKeysIn(db: Connection): DataKeyTransaction {
  return {
    async list() {
      const rows = await db.selectFrom('data_keys').selectAll().execute()
      const keys = rows.map((row) => ({ purpose: unpack<string>(row.purpose), key: sealedSecret(row) }))
      return keys.sort((a, b) => (a.purpose < b.purpose ? -1 : 1))
    },
    async replace(purpose, before, after) {
      const row = await db
        .updateTable('data_keys')
        .set({ key_version: after.keyVersion, sealed: after.sealed })
        .where('purpose', '=', pack(purpose))
        .where('key_version', '=', before.keyVersion)
        .where('sealed', '=', before.sealed)
        .returning('purpose')
        .executeTakeFirst()
      return row !== undefined
    },
  }
}

function sealedSecret(row: Selectable<DataKeyRow>): SealedSecret {
  return { keyVersion: integer(row.key_version), sealed: row.sealed }
}
