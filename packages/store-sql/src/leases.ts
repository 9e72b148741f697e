/** Stores leases, for work that one process at a time does. @module */
import type { LeaseStore } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Engine } from './engine.js'
import { checkInteger } from './internal/checks.js'
import { integer, pack, unpack } from './internal/values.js'
import type { Integer } from './schema/integer.js'

/** The longest lease of any configuration, in milliseconds. Only a clock that was ahead takes one that ends later. */
const longestLeaseMs = 600_000

/** Leases in a table. Each call is one statement, so that of several callers at once one wins. */
export function createLeaseStore({ transaction, read, dialect }: Engine): LeaseStore {
  const table = () => sql.raw(dialect.name('leases'))
  return {
    async acquire({ name, holder, ttlMs }) {
      const end = sql<number>`${dialect.now()} + ${checkInteger(ttlMs, 'ttlMs', 1)}`
      const latest = sql<number>`${dialect.now()} + ${Math.max(ttlMs, longestLeaseMs)}`
      // A lease that ends in this millisecond is free.
      const taken = sql`insert into ${table()} as l (name, holder, expires_at) values (${pack(name)}, ${pack(holder)}, ${end})
        on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
        where l.holder = excluded.holder or l.expires_at <= ${dialect.now()} or l.expires_at > ${latest}
        returning name`
      return transaction(async (db) => (await taken.execute(db)).rows.length > 0)
    },
    async release({ name, holder }) {
      const given = sql`delete from ${table()} where name = ${pack(name)} and holder = ${pack(holder)}`
      await transaction((db) => given.execute(db))
    },
    async list() {
      type Row = { readonly name: string; readonly holder: string; readonly ends: Integer }
      const { rows } = await sql<Row>`select name, holder, expires_at - ${dialect.now()} as ends from ${table()}
        order by name`.execute(read)
      return rows.map(({ name, holder, ends }) => ({
        name: unpack<string>(name),
        holder: unpack<string>(holder),
        endsInMs: integer(ends),
      }))
    },
  }
}
