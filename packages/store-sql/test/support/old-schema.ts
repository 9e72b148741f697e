/** Databases as earlier releases left them. @module */
import { fixtures } from '@payment-integration/core/conformance'
import type { Checkpoint, PaymentFacts } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import { createStore } from '../../src/create-store.js'
import type { Engine } from '../../src/engine.js'
import { bulk } from '../../src/internal/bulk.js'
import { insertColumns, insertValues } from '../../src/payments/payment-row.js'
import { migration1 } from '../../src/schema/migration-1.js'
import { migration2 } from '../../src/schema/migration-2.js'

/** The migrations of those releases, with the columns of a payment that each of them does not have. */
const releases = [
  { migration: migration1, missing: new Set(['pricing', 'off_chain']) },
  { migration: migration2, missing: new Set<string>() },
] as const

/** Makes the tables of a release, named by its schema version, in an empty database. */
export async function makeSchema({ transaction, differences }: Engine, version: 1 | 2): Promise<void> {
  const { types, name, beginMigration } = differences
  await transaction(async (db) => {
    await beginMigration(db)
    const versions = name('schema_versions')
    const statements = [
      `create table ${versions} (version ${types.integer} not null primary key)`,
      ...releases
        .slice(0, version)
        .flatMap(({ migration }, index) => [
          ...migration(types, name),
          `insert into ${versions} (version) values (${index + 1})`,
        ]),
    ]
    for (const statement of statements) await sql.raw(statement).execute(db)
  })
}

/** Stores an integration, and a payment to it with its snapshot, its delivery and the checkpoint of its block. */
export async function fillSchema(engine: Engine, version: 1 | 2, facts: PaymentFacts): Promise<void> {
  const { differences } = engine
  const { missing } = releases[version - 1] ?? releases[0]
  const values = insertValues(facts, true, 1)
  const kept = insertColumns
    .map((column, n) => ({ column, value: values[n] }))
    .filter(({ column }) => !missing.has(column.name))
  const columns = kept.map(({ column }) => column)
  await engine.transaction((db) =>
    bulk(db, differences, columns, [kept.map(({ value }) => value)], (source) => {
      const names = columns.map(({ name }) => name).join(', ')
      return `insert into ${differences.name('payments')} (${names}) ${source}`
    }),
  )
  // Snapshots and deliveries are as they were.
  const store = createStore(engine)
  await store.integrations.insert(fixtures.integration())
  await store.transaction(async (tx) => {
    const { integrationAddress } = facts
    await tx.insertSnapshots([{ paymentId: '1', version: 1, body: fixtures.bodyOf('1', 1), integrationAddress }])
  })
  await fillCheckpoint(engine, facts.chainId, facts)
}

/** Stores a checkpoint as those releases did. */
export async function fillCheckpoint(
  engine: Engine,
  chainId: number,
  { blockNumber, blockHash }: Checkpoint,
): Promise<void> {
  await engine.transaction((db) =>
    db
      .insertInto('checkpoints')
      .values({ chain_id: chainId, block_number: blockNumber, block_hash: blockHash })
      .execute(),
  )
}
