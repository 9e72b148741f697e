/** A database as the release with migration 1 left it. @module */
import { fixtures } from '@payment-integration/core/conformance'
import type { PaymentFacts } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'
import { bulk } from '../../src/internal/bulk.js'
import { insertColumns, insertValues } from '../../src/payments/payment-row.js'
import { migration1 } from '../../src/schema/migration-1.js'

/** Columns of a payment that migration 1 does not have. */
const added: ReadonlySet<string> = new Set(['pricing', 'off_chain'])

/** Makes the tables of migration 1 in an empty database. */
export async function makeSchema1({ transaction, differences }: Engine): Promise<void> {
  const { types, name, beginMigration } = differences
  await transaction(async (db) => {
    await beginMigration(db)
    const versions = name('schema_versions')
    const statements = [
      `create table ${versions} (version ${types.integer} not null primary key)`,
      ...migration1(types, name),
      `insert into ${versions} (version) values (1)`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  })
}

/** Stores an integration, and a payment to it with its snapshot, its delivery and the checkpoint of its block. */
export async function fillSchema1(engine: Engine, facts: PaymentFacts): Promise<void> {
  const { differences } = engine
  const values = insertValues(facts, true, 1)
  const kept = insertColumns
    .map((column, n) => ({ column, value: values[n] }))
    .filter(({ column }) => !added.has(column.name))
  const columns = kept.map(({ column }) => column)
  await engine.transaction((db) =>
    bulk(db, differences, columns, [kept.map(({ value }) => value)], (source) => {
      const names = columns.map(({ name }) => name).join(', ')
      return `insert into ${differences.name('payments')} (${names}) ${source}`
    }),
  )
  // The tables of these are as they were.
  const store = createStore(engine)
  await store.integrations.insert(fixtures.integration())
  await store.transaction(async (tx) => {
    const { integrationAddress, chainId, blockNumber, blockHash } = facts
    await tx.insertSnapshots([{ paymentId: '1', version: 1, body: fixtures.bodyOf('1', 1), integrationAddress }])
    await tx.setCheckpoint(chainId, { blockNumber, blockHash })
  })
}
