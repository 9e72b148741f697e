/** Databases as earlier releases left them. @module */
import { fixtures } from '@payment-integration/core/conformance'
import type { Checkpoint, PaymentFacts } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Engine } from '../../src/engine.js'
import { bulk } from '../../src/internal/bulk.js'
import { insertColumns, insertValues } from '../../src/payments/payment-row.js'
import { migration1 } from '../../src/schema/migration-1.js'
import { migration2 } from '../../src/schema/migration-2.js'
import { migration3 } from '../../src/schema/migration-3.js'
import { migration4 } from '../../src/schema/migration-4.js'
import { migration5 } from '../../src/schema/migration-5.js'
import { migration6 } from '../../src/schema/migration-6.js'
import { migration7 } from '../../src/schema/migration-7.js'
import { migration8 } from '../../src/schema/migration-8.js'
import { migration9 } from '../../src/schema/migration-9.js'
import { migration10 } from '../../src/schema/migration-10.js'
import { migration11 } from '../../src/schema/migration-11.js'

/** The migrations of those releases, with the columns of a payment that each of them does not have. */
const releases = [
  { migration: migration1, missing: new Set(['pricing', 'off_chain']) },
  { migration: migration2, missing: new Set<string>() },
  { migration: migration3, missing: new Set<string>() },
  { migration: migration4, missing: new Set<string>() },
  { migration: migration5, missing: new Set<string>() },
  { migration: migration6, missing: new Set<string>() },
  { migration: migration7, missing: new Set<string>() },
  { migration: migration8, missing: new Set<string>() },
  { migration: migration9, missing: new Set<string>() },
  { migration: migration10, missing: new Set<string>() },
  { migration: migration11, missing: new Set<string>() },
] as const

/** The schema version of a release. */
export type OldVersion = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11

/** Makes the tables of a release, named by its schema version, in an empty database. */
export async function makeSchema({ transaction, differences }: Engine, version: OldVersion): Promise<void> {
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
export async function fillSchema(engine: Engine, version: OldVersion, facts: PaymentFacts): Promise<void> {
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
  const { name } = differences
  const { address, notificationUrl, apiSecret, signingSecret, createdAt } = fixtures.integration()
  const body = fixtures.bodyOf('1', 1)
  await engine.transaction(async (db) => {
    await sql`insert into ${sql.raw(name('integrations'))}
      (address, name, notification_url, enabled, api_key_version, api_hash, signing_key_version, signing_sealed, created_at)
      values (${address}, '"Shop"', ${notificationUrl}, 1, ${apiSecret?.keyVersion}, ${apiSecret?.hash},
        ${signingSecret.keyVersion}, ${signingSecret.sealed}, ${createdAt})`.execute(db)
    await sql`insert into ${sql.raw(name('snapshots'))} (payment_id, version, body) values (1, 1, ${body})`.execute(db)
    await sql`insert into ${sql.raw(name('deliveries'))} (payment_id, version, integration, status, attempted, lane, due_at)
      values (1, 1, ${facts.integrationAddress}, 'pending', 0, 0, ${fixtures.epoch})`.execute(db)
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
