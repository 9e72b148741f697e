import { fixtures } from '@payment-integration/core/conformance'
import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { postgresMissing } from '../../test/postgres.js'
import { claimAll, deliver, outboxes, publish, snapshot } from '../../test/support/outboxes.js'
import type { CompactionLimits } from './compact-outbox.js'

const { answered, claimOne, settleOne } = fixtures

describe.skipIf(postgresMissing)(
  `an outbox with many dead rows${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    const { open, openPool, connect, storeOn, compactorOn, createWorker, run, rowsOf, fileOf } = outboxes()

    const cases: [string, Partial<CompactionLimits>, (schema: string) => Promise<pg.PoolConfig>][] = [
      ['is smaller than the least size', { leastPages: 50 }, async () => ({})],
      ['has more live rows than the limit', { mostRows: 19 }, async () => ({})],
      ['may not be truncated by its role', {}, async (schema) => ({ connectionString: await createWorker(schema) })],
      [
        'has a trigger',
        {},
        async (schema) => {
          await run(`create function ${schema}.copy() returns trigger language plpgsql as 'begin return null; end';
            create trigger copied after truncate on ${schema}.outbox execute function ${schema}.copy()`)
          return {}
        },
      ],
      [
        'is read at a higher isolation level',
        {},
        async () => ({ options: '-c default_transaction_isolation=serializable' }),
      ],
    ]
    for (const [name, limits, prepare] of cases)
      test(`and ${name} is left alone, and deliveries settle as before`, async () => {
        const { schema, store } = await open()
        await deliver(store, 200)
        await publish(store, 21)
        const [pool, file] = [openPool(await prepare(schema)), await fileOf(schema)]
        const worker = storeOn(pool, schema)
        expect(await settleOne(worker, await claimOne(worker), answered, { kind: 'delivered' })).toBe('delivered')
        await (await compactorOn(pool, schema, limits))()
        expect(await fileOf(schema)).toBe(file)
        expect(await rowsOf(schema)).toHaveLength(20)
        // The reason is gone. A vacuum notes that there is no trigger.
        await run(`drop trigger if exists copied on ${schema}.outbox`)
        await run(`vacuum ${schema}.outbox`)
        await (await compactorOn(openPool(), schema))()
        expect(await fileOf(schema)).not.toBe(file)
        expect(await rowsOf(schema)).toHaveLength(20)
      })

    test('and whose live rows need most of its pages is left alone', async () => {
      const { schema, store, pool } = await open()
      await deliver(store, 20)
      await publish(store, 500)
      const [file, compact] = [await fileOf(schema), await compactorOn(pool, schema)]
      await compact()
      expect(await fileOf(schema)).toBe(file)
      await deliver(store, 0)
      await compact()
      expect(await fileOf(schema)).not.toBe(file)
    })

    test('is left alone while no session has an older snapshot', async () => {
      const { schema, pool, store, session } = await open()
      await deliver(store, 100)
      const file = await fileOf(schema)
      await session.query('commit')
      const compact = await compactorOn(pool, schema)
      await publish(store, 1)
      await compact()
      await session.query(snapshot)
      await publish(store, 1)
      await compact()
      expect(await fileOf(schema)).toBe(file)
      await compact()
      expect(await fileOf(schema)).not.toBe(file)
      expect(await store.deliveries.claim(claimAll)).toHaveLength(2)
    })

    test('is left alone while a dump is connected', async () => {
      const { schema, store } = await open()
      await deliver(store, 100)
      const file = await fileOf(schema)
      // Another role's sessions are recognised too.
      const compact = await compactorOn(openPool({ connectionString: await createWorker(schema) }), schema)
      await run(`grant truncate on ${schema}.outbox to outbox_worker`)
      const dump = await connect({ application_name: 'pg_dump' })
      await compact()
      expect(await fileOf(schema)).toBe(file)
      await dump.end()
      const fileAfter = async () => {
        await compact()
        return fileOf(schema)
      }
      await expect.poll(fileAfter, { timeout: 300_000 }).not.toBe(file)
    })
  },
)
