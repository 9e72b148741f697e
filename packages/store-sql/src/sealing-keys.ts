/** Counts the rows that need each master key, by place. Source: docs/decisions/secrets.md. @module */
import type { SealingKeyUse } from '@payment-integration/core/ports'
import type { Engine, Parameter } from './engine.js'
import { run } from './internal/statement.js'
import { integer } from './internal/values.js'
import type { Integer } from './schema/integer.js'
import type { Tables } from './schema/tables.js'

/** `table.column` of every column that names the key of a row. */
export type KeyColumn = {
  [Table in keyof Tables & string]: `${Table}.${Extract<keyof Tables[Table], `${'' | `${string}_`}key_version`>}`
}[keyof Tables & string]

/** A place whose rows need a master key. */
interface SealingPlace {
  /** The secret there, named for operators. */
  readonly holds: string
  /** The rows that still need their key. @default all rows */
  where?(parameter: Parameter, now: number): string
}

/**
 * Every column that names a master key, by place; null: the start does not need that key. A missing column does not
 * compile.
 */
export const sealingPlaces: Readonly<Record<KeyColumn, SealingPlace | null>> = {
  'integrations.signing_key_version': { holds: 'integrations.signing_secret' },
  'integrations.api_key_version': { holds: 'integrations.api_secret' },
  'integrations.previous_key_version': {
    holds: 'integrations.previous_api_secret',
    where: (parameter, now) => `previous_until > ${parameter(now)}`,
  },
  'integrations.prepared_signing_key_version': { holds: 'integrations.prepared_signing_secret' },
  'integrations.previous_signing_key_version': {
    holds: 'integrations.previous_signing_secret',
    where: (parameter, now) => `previous_signing_until > ${parameter(now)}`,
  },
  'legacy_keys.key_version': { holds: 'legacy_keys.secret', where: () => 'revoked_at is null' },
  'data_keys.key_version': { holds: 'data_keys.key' },
  // It names a data key, whose own row is counted. There may be millions of addresses.
  'identity_subjects.email_key_version': null,
  // A record never changes its key, and `audit verify` alone needs it: a leaked key must be removable.
  'audit.key_version': null,
}

/** Counts the rows that need a master key, by place and key. @param now - Unix milliseconds. */
export async function listSealingKeys({ read, dialect }: Engine, now: number): Promise<SealingKeyUse[]> {
  const rows = await run<SealingKeyRow>(read, dialect, (parameter) =>
    Object.entries(sealingPlaces)
      .flatMap(([name, place]) => {
        if (place === null) return []
        const [table = '', column = ''] = name.split('.')
        const where = place.where === undefined ? '' : ` and ${place.where(parameter, now)}`
        return `select '${place.holds}' as place, ${column} as key_version, count(*) as row_count
          from ${dialect.name(table)} where ${column} is not null${where} group by ${column}`
      })
      .join(' union all '),
  )
  return rows.map((row) => ({ place: row.place, keyVersion: integer(row.key_version), rows: integer(row.row_count) }))
}

interface SealingKeyRow {
  readonly place: string
  readonly key_version: Integer
  readonly row_count: Integer
}
