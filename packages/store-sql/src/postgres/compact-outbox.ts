/** Compacts the outbox while an open snapshot keeps its dead rows. See docs/decisions/small-outbox.md. @module */
import type { PostgresDriver } from './postgres-driver.js'

/** When the outbox is compacted, and how long that may take. */
export interface CompactionLimits {
  /** Settled attempts of this process between two looks at the table's size. */
  readonly checkAfter: number
  /** Pages from which on it is compacted. */
  readonly leastPages: number
  /** With more live rows it is not compacted: writing them anew takes too long. */
  readonly mostRows: number
}

/** The limits by default. */
export const compactionDefaults: CompactionLimits = { checkAfter: 1_000, leastPages: 128, mostRows: 20_000 }

/** A page without dead rows has at least so many. */
const rowsOfPage = 50
/** A table is sparse when it has so many times the pages that its live rows need. */
const sparseness = 4
/** Claims queue behind the wait for the lock. It ends before PostgreSQL looks for a deadlock, after a second. */
const lockTimeoutMs = 100
/** Of the statement that has the lock; a table of millions of dead rows is left to autovacuum. */
const compactionTimeoutMs = 500
/** After attempts without effect in a row, the next look comes after so many times `checkAfter` at most. */
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
  let left = limits.checkAfter
  let pause = 1
  let lastXid: number | undefined
  let running: Promise<void> | null = null

  async function compactIfSparse(): Promise<void> {
    const since = lastXid
    ;[lastXid] = await readNumbers(driver, 'select pg_snapshot_xmax(pg_current_snapshot())::xid::text')
    if (since === undefined) return
    const pages = await findSparse(driver, table, since, limits)
    if (pages !== null) await runAlone(driver, compactionText(table, pages, limits))
    const [pagesLeft = 0] = pages === null ? [] : await readNumbers(driver, `select ${pagesOf(table)}`)
    pause = pages === null || pagesLeft < pages ? 1 : Math.min(pause * 2, longestPause)
  }

  return {
    settled(attempts) {
      left -= attempts
      if (left > 0 || running !== null) return
      // The database may be busy or lost: the work that notices it reports it.
      running = compactIfSparse()
        .catch(() => undefined)
        .then(() => {
          left = limits.checkAfter * pause
          running = null
        })
    },
    async idle() {
      await running
    },
  }
}

/**
 * The number of pages when the table may be compacted now and is worth it; else null.
 * @param since - The next transaction at the last look. Without an older snapshot, vacuum can remove the dead rows.
 */
async function findSparse(
  driver: PostgresDriver,
  table: string,
  since: number,
  { leastPages, mostRows }: CompactionLimits,
): Promise<number | null> {
  // At a higher isolation level a statement's snapshot may be older than its lock: it would find an empty table. A
  // trigger would see all rows written anew. The rows are only counted if all else holds.
  const sql = `select o.pages, (select count(*) from (select from ${table} limit ${mostRows + 1}) l) as live
    from (select oid, relhastriggers, ${pagesOf(table)} as pages from pg_class where oid = '${table}'::regclass) o
    where o.pages >= ${leastPages} and has_table_privilege(o.oid, 'truncate') and not o.relhastriggers
      and current_setting('default_transaction_isolation') = 'read committed'
      and ${hasSession(`age(backend_xmin) > age('${since}'::xid)`)} and not ${hasSession(isDump)}`
  const [pages = null, live = 0] = await readNumbers(driver, sql)
  return pages !== null && live <= mostRows && pages * rowsOfPage >= live * sparseness ? pages : null
}

/** The first row; empty when there is none. */
async function readNumbers(driver: PostgresDriver, sql: string): Promise<number[]> {
  const { values } = await driver.rows({ sql, parameters: [] })
  return (values[0] ?? []).map(Number)
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
    commit`
}

async function runAlone(driver: PostgresDriver, text: string): Promise<void> {
  const connection = await driver.acquireConnection()
  try {
    await connection.run(text)
  } catch (error) {
    await connection.rollback()
    throw error
  } finally {
    connection.release()
  }
}
