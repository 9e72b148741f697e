/** Reads sizes and counters of a PostgreSQL server. @module */
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'

/** Sizes and counters at one moment. */
export interface ServerFigures {
  readonly payments: number
  /** Bytes of each table with its indexes and partitions. */
  readonly tables: Readonly<Record<string, number>>
  /** Bytes of WAL since the server began. */
  readonly wal: number
  /** Changes of rows of statuses, and those of them that wrote no index. */
  readonly updated: number
  readonly hot: number
}

/** Reads them. Backends hand over their counters when they are idle for a second. */
export async function serverFigures(connectionString: string): Promise<ServerFigures> {
  await wait(1_500)
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const one = async (text: string) => (await client.query(text)).rows
    const [counts] = await one(
      `select (select count(*)::int from payment_integration.payments) as payments,
        pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal, n_tup_upd::int as updated,
        n_tup_hot_upd::int as hot
       from pg_stat_user_tables where relname = 'statuses'`,
    )
    const sizes =
      await one(`select regexp_replace(relname, '_\\d+$', '') as relname, sum(pg_total_relation_size(relid))::float8 as bytes
       from pg_stat_user_tables group by 1`)
    return { ...counts, tables: Object.fromEntries(sizes.map(({ relname, bytes }) => [relname, bytes])) }
  } finally {
    await client.end()
  }
}
