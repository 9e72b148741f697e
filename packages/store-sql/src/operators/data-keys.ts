/** Stores sealed data keys, and counts the rows of each master key. Source: docs/decisions/secrets.md. @module */
import type { DataKeyStore, DataKeyTransaction, SealedSecret, SealingKeyUse } from '@payment-integration/core/internal'
import type { Connection, Engine, Parameter } from '../engine.js'
import { run } from '../internal/statements.js'
import { pack, toNumber, unpack } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Tables } from '../schema/tables.js'

export function createDataKeyStore({ transaction, dialect }: Engine): DataKeyStore {
  const table = dialect.name('data_keys')
  return {
    async obtain(purpose, candidate) {
      const rows = await transaction((db) =>
        run<Tables['data_keys']>(db, (parameter) => {
          const values = [pack(purpose), candidate.keyVersion, candidate.sealed].map(parameter)
          // One statement, so that only one of several concurrent callers wins. The update changes nothing, but returns
          // the stored key.
          return `insert into ${table} as k (purpose, key_version, sealed) values (${values.join(', ')})
            on conflict (purpose) do update set sealed = k.sealed returning purpose, key_version, sealed`
        }),
      )
      const [row] = rows
      if (row === undefined) throw new TypeError('The statement of data keys returned no row.')
      return toSealedSecret(row)
    },
  }
}

export function bindDataKeys(db: Connection): DataKeyTransaction {
  return {
    async list() {
      const rows = await db.selectFrom('data_keys').selectAll().execute()
      const keys = rows.map((row) => ({ purpose: unpack<string>(row.purpose), key: toSealedSecret(row) }))
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

function toSealedSecret(row: Tables['data_keys']): SealedSecret {
  return { keyVersion: toNumber(row.key_version), sealed: row.sealed }
}

/** `table.column` of every column with the key version of a row. */
type KeyColumn = {
  [Table in keyof Tables & string]: `${Table}.${Extract<keyof Tables[Table], `${'' | `${string}_`}key_version`>}`
}[keyof Tables & string]

interface SealedColumn {
  /** The secret's name for operators. */
  readonly secretName: string
  /** The rows that still need their key. @default all rows */
  where?(parameter: Parameter, now: number): string
}

/** By column; null if the service starts without that key. A missing column does not compile. */
export const sealedColumns: Readonly<Record<KeyColumn, SealedColumn | null>> = {
  'integrations.signing_key_version': { secretName: 'integrations.signing_secret' },
  'integrations.api_key_version': { secretName: 'integrations.api_secret' },
  'integrations.previous_key_version': {
    secretName: 'integrations.previous_api_secret',
    where: (parameter, now) => `previous_until > ${parameter(now)}`,
  },
  'integrations.prepared_signing_key_version': { secretName: 'integrations.prepared_signing_secret' },
  'integrations.previous_signing_key_version': {
    secretName: 'integrations.previous_signing_secret',
    where: (parameter, now) => `previous_signing_until > ${parameter(now)}`,
  },
  'legacy_keys.key_version': { secretName: 'legacy_keys.secret', where: () => 'revoked_at is null' },
  'data_keys.key_version': { secretName: 'data_keys.key' },
  // Its data key's row is counted instead: there may be millions of addresses.
  'identity_subjects.email_key_version': null,
  // Only `audit verify` needs this key: a leaked key must be removable although records were hashed with it.
  'audit.key_version': null,
}

export async function listSealingKeys(read: Connection, now: number): Promise<SealingKeyUse[]> {
  const rows = await run<{ place: string; key_version: Integer; row_count: Integer }>(read, (parameter) =>
    Object.entries(sealedColumns)
      .flatMap(([keyColumn, sealed]) => {
        if (sealed === null) return []
        const [table = '', column = ''] = keyColumn.split('.')
        const where = sealed.where === undefined ? '' : ` and ${sealed.where(parameter, now)}`
        return `select '${sealed.secretName}' as place, ${column} as key_version, count(*) as row_count
          from ${read.dialect.name(table)} where ${column} is not null${where} group by ${column}`
      })
      .join(' union all '),
  )
  return rows.map((row) => ({ place: row.place, keyVersion: toNumber(row.key_version), rows: toNumber(row.row_count) }))
}
