/** Adds, empties and drops the partitions of segments. Source: docs/retention.md. @module */
import { sql } from 'kysely'
import type { Partitions, SqlDialect } from '../engine.js'
import { createPartitions, partitionsOf } from '../schema/partitions.js'

/** The partitions of a schema. */
export function postgresPartitions({
  name,
  hasTable,
  lastAssigned,
}: Pick<SqlDialect, 'name' | 'hasTable' | 'lastAssigned'>): Partitions {
  return {
    async add(db, segment) {
      const [snapshots] = partitionsOf(segment.number)
      if (await hasTable(db, snapshots)) return
      for (const statement of createPartitions(name, segment)) await sql.raw(statement).execute(db)
    },
    async beginIds(db, first) {
      await sql.raw(`lock table ${name('snapshots')} in share mode`).execute(db)
      // A run that was interrupted may have done it.
      await sql`select setval(pg_get_serial_sequence(${name('snapshots')}, 'id'), ${first}, false)
        where ${sql.raw(lastAssigned('snapshots', 'id'))} < ${first}`.execute(db)
    },
    async empty(db, number) {
      const [, attempts] = partitionsOf(number)
      if (await hasTable(db, attempts)) await sql.raw(`truncate ${name(attempts)}`).execute(db)
    },
    async drop(db, number) {
      // In the order in which a settlement locks them.
      for (const table of partitionsOf(number)) await sql.raw(`drop table if exists ${name(table)}`).execute(db)
    },
  }
}
