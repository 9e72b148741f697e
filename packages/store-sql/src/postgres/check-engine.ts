/** Decides whether a database that speaks PostgreSQL's protocol is one that the store is safe on. @module */
import { StoreError } from '@payment-integration/core'
import type { NamedQuery } from '../engine.js'
import type { RawRows } from '../internal/row-view.js'

/** Products that are accepted without being named. Source: docs/databases.md (engines). */
const known: readonly string[] = ['postgresql', 'aurora', 'alloydb']
/** Oldest version that the tests were run on, as `server_version_num`. */
const leastVersion = 150_000

/** What marks the products that `version()` does not name. */
const marks = `select current_setting('server_version_num')::int as version,
  exists (select from pg_catalog.pg_extension where extname = 'citus')::int as citus,
  exists (select from pg_catalog.pg_proc where proname = 'aurora_version')::int as aurora,
  exists (select from pg_catalog.pg_settings where name like 'alloydb.%')::int as alloydb`

/** Whoever packages PostgreSQL adds a name in brackets, and so do forks. */
const packagers = /^(Debian|Ubuntu|Raspbian|Red Hat|Homebrew|Postgres\.app|Percona)/

/**
 * Rejects a product or version that the store was not made for.
 * @param accepted - Name of the product that the operator accepts at the operator's own risk.
 * @throws StoreError `ERR_STORE_ENGINE`.
 */
export async function checkEngine(
  rows: (query: NamedQuery) => Promise<RawRows>,
  accepted: string | undefined,
): Promise<void> {
  const answer = await rows({ sql: 'select version()', parameters: [] })
  const text = String(answer.values[0]?.[0])
  // Others may lack the catalog of the marks.
  const named = productOf(text)
  const { product, version } = named === 'postgresql' ? await marked(rows) : { product: named, version: null }
  if (product === accepted) return
  const shown = JSON.stringify(text.slice(0, 80))
  if (!known.includes(product))
    throw new StoreError(
      'ERR_STORE_ENGINE',
      `The database is ${product} (${shown}), on which this release was never tested: see docs/databases.md. To use it at your own risk, set PI_DATABASE_ENGINE=${product}.`,
    )
  if (accepted !== undefined)
    throw new StoreError(
      'ERR_STORE_ENGINE',
      `The database is ${product} (${shown}), and PI_DATABASE_ENGINE is ${accepted}; remove the variable.`,
    )
  if (version !== null && version < leastVersion)
    throw new StoreError(
      'ERR_STORE_ENGINE',
      `The database is ${shown}; this release needs version ${leastVersion / 10_000} or later.`,
    )
}

/** The product that `version()` names, in lowercase. */
export function productOf(version: string): string {
  if (/-YB-|yugabyte/i.test(version)) return 'yugabytedb'
  if (/redshift/i.test(version)) return 'redshift'
  const [, fork] = /^PostgreSQL [0-9][0-9A-Za-z.]*(?: \(([^)]*)\))?(?= on |,|$)/.exec(version) ?? [null, null]
  const isPostgres = fork === undefined || (fork !== null && packagers.test(fork))
  if (isPostgres) return 'postgresql'
  const [word = 'unknown'] = /[a-z][a-z0-9]*/.exec((fork ?? version).toLowerCase()) ?? []
  return word
}

async function marked(rows: (query: NamedQuery) => Promise<RawRows>) {
  const { columns, values } = await rows({ sql: marks, parameters: [] })
  const is = (column: string) => Number(values[0]?.[columns.indexOf(column)])
  const product = ['citus', 'aurora', 'alloydb'].find((each) => is(each) === 1) ?? 'postgresql'
  return { product, version: is('version') }
}
