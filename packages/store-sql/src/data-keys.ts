/** Keys that data is stored under, which arrive sealed. @module */
import type { DataKeyStore, SealedSecret } from '@payment-integration/core/ports'
import type { Engine } from './engine.js'
import { run } from './internal/statement.js'
import { integer, pack } from './internal/values.js'
import type { DataKeyRow } from './schema/tables.js'

/** Keys by purpose. Each call is one statement, so that of several callers at once one wins. */
export function createDataKeyStore({ transaction, differences }: Engine): DataKeyStore {
  const table = differences.name('data_keys')
  return {
    async obtain(purpose, candidate) {
      const rows = await transaction((db) =>
        run<DataKeyRow>(db, differences, (parameter) => {
          const values = [pack(purpose), candidate.keyVersion, candidate.sealed].map(parameter)
          // An update that changes nothing: only so does the statement answer what was there.
          return `insert into ${table} as k (purpose, key_version, sealed) values (${values.join(', ')})
            on conflict (purpose) do update set sealed = k.sealed returning purpose, key_version, sealed`
        }),
      )
      return sealedSecret(rows[0])
    },
    async replace(purpose, before, after) {
      const rows = await transaction((db) =>
        run(
          db,
          differences,
          (parameter) =>
            `update ${table} set key_version = ${parameter(after.keyVersion)}, sealed = ${parameter(after.sealed)}
            where purpose = ${parameter(pack(purpose))} and key_version = ${parameter(before.keyVersion)}
              and sealed = ${parameter(before.sealed)} returning purpose`,
        ),
      )
      return rows.length > 0
    },
  }
}

function sealedSecret(row: DataKeyRow | undefined): SealedSecret {
  if (row === undefined) throw new TypeError('The statement of data keys answered no row.')
  return { keyVersion: integer(row.key_version), sealed: row.sealed }
}
