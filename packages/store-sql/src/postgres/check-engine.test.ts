import { describe, expect, test } from 'vitest'
import { postgresMissing } from '../../test/postgres.js'
import { openPostgres } from '../../test/support/engines.js'
import { checkEngine, parseProduct } from './postgres-engine.js'

const postgres = 'PostgreSQL 17.2 on x86_64-pc-linux-gnu, compiled by gcc 12.2.0, 64-bit'

/** A database with this `version()` and these marks. */
const database =
  (version: string, marks: Partial<Record<'version' | 'citus' | 'aurora' | 'alloydb', number>> = {}) =>
  async ({ sql }: { readonly sql: string }) => {
    if (sql === 'select version()') return { columns: ['version'], values: [[version]] }
    const all = { version: 170_002, citus: 0, aurora: 0, alloydb: 0, ...marks }
    return { columns: Object.keys(all), values: [Object.values(all).map(String)] }
  }
const rejected = { code: 'ERR_STORE_ENGINE', retryable: false }

test.each([
  [postgres, 'postgresql'],
  ['PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc', 'postgresql'],
  ['PostgreSQL 18beta1 on aarch64-apple-darwin, compiled by clang', 'postgresql'],
  ['CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15, go1.22.2)', 'cockroachdb'],
  ['PostgreSQL 15.2-YB-2.25.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang', 'yugabytedb'],
  ['PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC, Redshift 1.0.12103', 'redshift'],
  ['PostgreSQL 12.12 (Greenplum Database 7.0.0 build commit:0) on x86_64-pc-linux-gnu', 'greenplum'],
  ['', 'unknown'],
])('%j is %s', (version, product) => expect(parseProduct(version)).toBe(product))

test('PostgreSQL from 15 on, Aurora and AlloyDB are accepted', async () => {
  await checkEngine(database(postgres, { version: 150_000 }), undefined)
  await checkEngine(database(postgres, { aurora: 1 }), undefined)
  await checkEngine(database(postgres, { alloydb: 1 }), undefined)
})

test('an older PostgreSQL is rejected', async () => {
  const older = database('PostgreSQL 14.9 on x', { version: 140_009 })
  const message = expect.stringContaining('needs version 15 or later') as string
  await expect(checkEngine(older, undefined)).rejects.toMatchObject({ ...rejected, message })
})

test('an unknown product is rejected, with the name that accepts it', async () => {
  const citus = database(postgres, { citus: 1 })
  const message = expect.stringContaining('set PI_DATABASE_ENGINE=citus') as string
  await expect(checkEngine(citus, undefined)).rejects.toMatchObject({ ...rejected, message })
  await checkEngine(citus, 'citus')
  await expect(checkEngine(citus, 'cockroachdb')).rejects.toMatchObject(rejected)
  // It has no such catalog: its name alone decides.
  await checkEngine(async () => ({ columns: ['version'], values: [['CockroachDB CCL v24.1.0']] }), 'cockroachdb')
})

test('the name of another product is rejected on PostgreSQL', async () => {
  await expect(checkEngine(database(postgres), 'citus')).rejects.toMatchObject(rejected)
})

describe.skipIf(postgresMissing)('on a real server', () => {
  test('PostgreSQL is known, and a mark of Aurora is found', async () => {
    const { engine, close } = await openPostgres()
    await engine.check?.()
    await engine.rows({ sql: `create function aurora_version() returns text return '3.1'`, parameters: [] })
    await expect(checkEngine((query) => engine.rows(query), 'aurora')).resolves.toBeUndefined()
    await close()
  })
})
