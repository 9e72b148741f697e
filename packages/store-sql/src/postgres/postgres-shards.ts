/** The schemas of the shards of a database. Source: docs/decisions/shards.md. @module */
import { StoreError } from '@payment-integration/core'
import type { NamedQuery, ShardEngine } from '../engine.js'
import type { RawRows } from '../internal/row-view.js'
import type { Shard } from '../schema/column-types.js'
import { postgresDialect } from './postgres-dialect.js'

/** A shard and the schema that has its tables. */
export interface ShardSchema extends Pick<ShardEngine, 'dialect' | 'within'>, Shard {
  readonly schema: string
}

/** The schemas of all shards, by number. */
export function shardsOf(schema: string, count: number, now: (() => number) | undefined): ShardSchema[] {
  return Array.from({ length: count }, (_, number) => {
    const own = `${schema}_s${number}`
    return {
      number,
      count,
      schema: own,
      dialect: postgresDialect(own, now, { number, count }),
      within: (db) => db.withSchema(own),
    }
  })
}

/**
 * Rejects a database with another number of shards: rows would be missing. A first migration makes the shards, and the
 * schema with the chains last. Each shard tells by the step of its ids how many there are to be.
 *
 * @throws StoreError `ERR_STORE_SCHEMA`
 */
export async function checkShardCount(
  rows: (query: NamedQuery) => Promise<Pick<RawRows, 'values'>>,
  schema: string,
  count: number,
): Promise<void> {
  const sql = `select n.nspname, (
      select s.seqincrement from pg_catalog.pg_sequence s join pg_catalog.pg_class i on i.oid = s.seqrelid
      where i.relnamespace = n.oid and i.relname = 'payments_id_seq'
    )::int as shards
    from pg_catalog.pg_namespace n join pg_catalog.pg_class c on c.relnamespace = n.oid
    where c.relname = 'schema_versions' and c.relkind = 'r' and (n.nspname = $1 or starts_with(n.nspname, $1 || '_s'))`
  const { values } = await rows({ sql, parameters: [schema] })
  const found = values.filter(([name]) => /^_s\d{1,2}$/.test(String(name).slice(schema.length)))
  const isMigrated = values.some(([name]) => name === schema)
  const known = count === 1 ? 0 : count
  const other = found.map(([, shards]) => Number(shards)).find((shards) => shards !== known)
  if (other === undefined && (found.length === known || (found.length < known && !isMigrated))) return
  throw new StoreError(
    'ERR_STORE_SCHEMA',
    `The database has ${shardsText(other ?? found.length)}, and this process is configured for ${shardsText(known)}. Their number is chosen with an empty database; set PI_DATABASE_SHARDS, or the option shards, to it.`,
  )
}

const shardsText = (count: number) => (count === 0 ? 'no shards' : `${count} shards`)
