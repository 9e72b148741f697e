/** Compacts the outbox while an open snapshot keeps its dead rows. See docs/decisions/small-outbox.md. @module */
import type { PostgresDriver } from './postgres-driver.js'

/** When the outbox is compacted. */
export interface CompactionLimits {
  /** Settled attempts of this process between two looks at the table. */
  readonly lookAfter: number
  /** Pages from which on it is compacted. */
  readonly leastPages: number
  /** With more live rows it is not compacted: writing them anew would lock it for too long. */
  readonly mostRows: number
}

/** The limits by default. */
export const compactionDefaults: CompactionLimits = { lookAfter: 250, leastPages: 32, mostRows: 20_000 }

/** A page without dead rows has at least so many. */
const rowsOfPage = 50
/** A table is sparse when it has so many times the pages that its live rows need. */
const sparseness = 4
/** Claims queue behind the wait for the lock. It ends before PostgreSQL looks for a deadlock, after a second. */
const lockTimeoutMs = 100
/** Of the statement that has the lock; a table of millions of dead rows is left to autovacuum. */
const compactionTimeoutMs = 500
/** After attempts without effect in a row, the next look comes after so many times `lookAfter` at most. */
const longestPause = 32

/** Compacts the outbox beside the work that fills it. */
export interface OutboxCompactor {
  /** Counts settled attempts; after so many it looks at the table. Never fails, and nobody waits for it. */
  settled(attempts: number): void
  /** Resolves when no compaction runs. */
  idle(): Promise<void>
}

/** Makes the compactor of a schema's outbox. */
export function createOutboxCompactor(
  driver: PostgresDriver,
  schema: string,
  given: Partial<CompactionLimits> = {},
): OutboxCompactor {
  const limits = { ...compactionDefaults, ...given }
  const table = `"${schema}"."outbox"`
  let left = limits.lookAfter
  let pause = 1
  let nextXid: string | null = null
  let running: Promise<void> | null = null

  async function look(): Promise<void> {
    const { values } = await driver.rows({ sql: lookText(table, nextXid, limits), parameters: [] })
    const [xid, pages, live] = values[0] ?? []
    nextXid = String(xid)
    const isSparse = live !== null && Number(pages) * rowsOfPage >= Number(live) * sparseness
    const hasNoEffect =
      isSparse &&
      Number(live) <= limits.mostRows &&
      (await compact(driver, compactionText(table, Number(pages), limits))) >= Number(pages)
    pause = hasNoEffect ? Math.min(pause * 2, longestPause) : 1
  }

  return {
    settled(attempts) {
      left -= attempts
      if (left > 0 || running !== null) return
      // The database may be busy or lost: the work that notices it reports it.
      running = look()
        .catch(() => undefined)
        .then(() => {
          left = limits.lookAfter * pause
          running = null
        })
    },
    async idle() {
      await running
    },
  }
}

/**
 * Selects the number of the next transaction, the table's pages, and its live rows. These are null where it must not be
 * compacted: it would be of no use, or another session would miss rows.
 * @param nextXid - Of the last look. Without an older snapshot, vacuum can remove the dead rows.
 */
function lookText(table: string, nextXid: string | null, { leastPages, mostRows }: CompactionLimits): string {
  // At a higher isolation level a statement's snapshot may be older than its lock: it would find an empty table. A
  // trigger would see all rows written anew.
  const mayCompact = `pages >= ${leastPages} and has_table_privilege(oid, 'truncate') and not relhastriggers
    and current_setting('default_transaction_isolation') = 'read committed'
    and ${hasSession(`age(backend_xmin) > age('${nextXid}'::xid)`)} and not ${hasSession(isDump)}`
  const live = `(select count(*) from (select from ${table} limit ${mostRows + 1}) l)`
  return `select pg_snapshot_xmax(pg_current_snapshot())::xid::text, pages,
      ${nextXid === null ? 'null' : `case when ${mayCompact} then ${live} end`}
    from (select oid, relhastriggers, ${pagesOf(table)} as pages from pg_class where oid = '${table}'::regclass) o`
}

const pagesOf = (table: string) => `pg_relation_size('${table}') / current_setting('block_size')::bigint`

/** A condition: the database has such a session. Every role may see these columns. */
const hasSession = (condition: string) =>
  `exists (select from pg_stat_activity where datname = current_database() and ${condition})`

// A dump takes its snapshot first, and locks the tables later. It would find an outbox compacted meanwhile empty.
const isDump = `application_name = 'pg_dump'`

/**
 * One message, so that the lock never waits for this process. The block returns when another process was quicker. At a
 * time-out, or when a dump begins, it undoes its work.
 */
function compactionText(table: string, pages: number, { mostRows }: CompactionLimits): string {
  return `begin isolation level read committed; set local lock_timeout = ${lockTimeoutMs};
    set local statement_timeout = ${compactionTimeoutMs}; set local synchronous_commit = off;
    do $$ declare live ${table}[]; begin
      lock table ${table} in access exclusive mode;
      if ${pagesOf(table)} < ${pages} then return; end if;
      live := array(select o from ${table} o limit ${mostRows + 1});
      if cardinality(live) > ${mostRows} then return; end if;
      truncate ${table};
      insert into ${table} select * from unnest(live);
      if ${hasSession(isDump)} then raise lock_not_available; end if;
    exception when lock_not_available or query_canceled then null; end $$;
    commit; select ${pagesOf(table)} as pages`
}

/** Runs it and returns the pages that the table has afterwards. */
async function compact(driver: PostgresDriver, text: string): Promise<number> {
  const connection = await driver.acquireConnection()
  try {
    // Several statements have a result each.
    const results = (await connection.run(text)) as unknown as readonly { readonly rows: { pages: string }[] }[]
    return Number(results.at(-1)?.rows[0]?.pages)
  } catch (error) {
    await connection.rollback()
    throw error
  } finally {
    connection.release()
  }
}
