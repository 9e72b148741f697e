import { fixtures } from '@payment-integration/core/conformance'
import type { SettledAttempt, Store } from '@payment-integration/core/ports'
import { describe, expect, test } from 'vitest'
import { postgresMissing } from '../../test/postgres.js'
import { claimAll, deliver, delivered, outboxes, publish } from '../../test/support/outboxes.js'

const { answered, failed, indifferent, settleOne } = fixtures

describe.skipIf(postgresMissing)(
  `the outbox while a snapshot stays open${postgresMissing === null ? '' : ` (skipped: ${postgresMissing})`}`,
  () => {
    const { open, openPool, connect, storeOn, compactorOn, run, rowsOf, fileOf, pagesOf } = outboxes()

    test('its pages stay few while thousands of deliveries pass', async () => {
      const { schema, store } = await open({ lookAfter: 200, leastPages: 16 })
      const pages: number[] = []
      for (let round = 0; round < 20; round += 1) {
        await deliver(store, 500)
        pages.push(await pagesOf(schema))
      }
      expect(await rowsOf(schema)).toEqual([])
      // 10,000 deliveries have 20,000 dead rows: more than 250 pages.
      expect(Math.max(...pages)).toBeLessThan(80)
    })

    test('a compaction keeps every column of live rows: leases settle, retries and replays keep their times', async () => {
      const { schema, pool, store } = await open()
      await deliver(store, 100)
      await publish(store, 4)
      const [leased, retried, replayed, exhausted] = await store.deliveries.claim(claimAll)
      if (!leased || !retried || !replayed || !exhausted) throw new Error('Four deliveries were due.')
      for (const claim of [retried, replayed]) await settleOne(store, claim, failed, { kind: 'retry', inMs: 3_600_000 })
      await settleOne(store, exhausted, failed, { kind: 'exhausted' })
      for (const { deliveryId } of [replayed, exhausted])
        await store.transaction((tx) => tx.replayDeliveries({ deliveryId, limit: 1 }))
      await publish(store, 1)
      const [before, file] = [await rowsOf(schema), await fileOf(schema)]
      expect(before).toHaveLength(5)

      await (await compactorOn(pool, schema))()
      expect(await fileOf(schema)).not.toBe(file)
      expect(await pagesOf(schema)).toBe(1)
      expect(await rowsOf(schema)).toEqual(before)
      expect(await settleOne(store, leased, answered, { kind: 'delivered' })).toBe('delivered')
      const claims = await store.deliveries.claim(claimAll)
      expect(claims.map(({ attempt, replay }) => [attempt, replay])).toEqual([
        [1, false],
        [2, true],
        [2, true],
      ])
      expect(claims.slice(1).map(({ deliveryId }) => deliveryId)).toEqual([replayed.deliveryId, exhausted.deliveryId])
    })

    test('no delivery is lost or doubled when two processes claim, settle and publish beside compactions', async () => {
      const { schema, pool, store } = await open()
      const stores = [store, storeOn(openPool(), schema)]
      const compact = await compactorOn(pool, schema)
      const [rounds, deliveries] = [20, 60]
      const attempts: string[] = []
      const files = new Set<number>()
      for (let round = 0; round < rounds; round += 1) {
        let left = deliveries
        const work = async (own: Store) => {
          while (left > 0) {
            const claims = await own.deliveries.claim({ ...claimAll, limit: 10 })
            attempts.push(...claims.map(({ deliveryId, attempt }) => `${deliveryId} ${attempt}`))
            let settled = claims.map((claim): SettledAttempt => {
              if (claim.attempt > 1 || Number(claim.deliveryId) % 3 > 0) return delivered(claim)
              return { claim, attempt: failed, verdict: { kind: 'retry', inMs: 0 } }
            })
            // A claim that came too late may still lock a row.
            while (settled.length > 0) {
              const { statuses } = await own.deliveries.settle(settled, indifferent)
              expect(statuses).not.toContain(null)
              left -= statuses.filter((status) => status === 'delivered').length
              settled = settled.filter((_, index) => statuses[index] === 'locked')
            }
          }
        }
        const publishing = Array.from({ length: 5 }, () => publish(store, deliveries / 5))
        let works = true
        const working = Promise.all([...publishing, ...[...stores, ...stores].map(work)]).finally(() => {
          works = false
        })
        working.catch(() => undefined)
        while (works) {
          await compact()
          files.add(await fileOf(schema))
        }
        await working
      }
      expect(files.size).toBeGreaterThan(3)
      expect(new Set(attempts).size).toBe(attempts.length)
      expect(await rowsOf(schema)).toEqual([])
      expect(
        await run(`select count(*)::int as attempts, count(distinct delivery_id)::int as deliveries,
          (count(*) filter (where status = 204))::int as delivered from ${schema}.attempts`),
      ).toEqual([{ attempts: attempts.length, deliveries: rounds * deliveries, delivered: rounds * deliveries }])
    })

    test('a session that has locked the table is left alone, and claims go on beside it', async () => {
      const { schema, pool, store } = await open()
      await deliver(store, 100)
      await publish(store, 2)
      const holder = await connect()
      await holder.query(`begin; select 1 from ${schema}.outbox`)
      const [file, compact] = [await fileOf(schema), await compactorOn(pool, schema)]
      const [claims] = await Promise.all([store.deliveries.claim(claimAll), compact()])
      expect(claims).toHaveLength(2)
      expect(await fileOf(schema)).toBe(file)
      await holder.query('commit')
      // The attempt had no effect, so each second look is left out.
      await compact()
      expect(await fileOf(schema)).toBe(file)
      await compact()
      expect(await fileOf(schema)).not.toBe(file)
      const { statuses } = await store.deliveries.settle(claims.map(delivered), indifferent)
      expect(statuses).toEqual(['delivered', 'delivered'])
    })

    test('close waits for a compaction, and a closed pool is no failure of it', async () => {
      const { schema, store, pool } = await open({ lookAfter: 100 })
      const inUse = () => pool.totalCount - pool.idleCount + pool.waitingCount
      await deliver(store, 100)
      expect(inUse()).toBe(1)
      await store.close()
      expect(inUse()).toBe(0)
      await pool.end()
      await (await compactorOn(pool, schema))()
    })
  },
)
