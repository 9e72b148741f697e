import { createService, parseMasterKey } from '@payment-integration/core'
import type { SettledAttempt } from '@payment-integration/core/internal'
import type { Store } from '@payment-integration/core/ports'
import type pg from 'pg'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/conformance/fixtures.js'
import { onPostgres } from '../../test/support/on-postgres.js'

const { answered, failed, hash, indexPayments, indifferent, primary } = fixtures

const verdicts = [
  { attempt: answered, verdict: { kind: 'delivered' } },
  { attempt: failed, verdict: { kind: 'retry', inMs: 3_600_000 } },
  { attempt: { ...failed, status: 410 }, verdict: { kind: 'exhausted' } },
] as const satisfies readonly Omit<SettledAttempt, 'claim'>[]

/** Deliveries of one round. Some stay due. */
const round = { added: 30, claimed: 25 }

onPostgres('a copy of the database by statements at REPEATABLE READ', (postgres) => {
  const { admin, nextSchema, open, openMigrated } = postgres

  /** Adds, claims and settles deliveries, round after round, and records which are unfinished. */
  function deliverFrom(store: Store) {
    const unfinished = new Set<string>()
    let payments = 0
    async function runRound(): Promise<void> {
      const before = await store.deliveries.newestId({})
      const added = Array.from({ length: round.added }, () => primary({ txHash: hash(++payments) }))
      await store.transaction((tx) => indexPayments(tx, added))
      const published = await store.deliveries.list({ afterId: before ?? '0', limit: round.added })
      for (const { deliveryId } of published) unfinished.add(deliveryId)
      const claims = await store.deliveries.claim({ limit: round.claimed, leaseMs: 600_000 })
      const settled = claims.map((claim, n): SettledAttempt => ({ claim, ...(verdicts[n % 3] ?? verdicts[0]) }))
      const { statuses } = await store.deliveries.settle(settled, indifferent)
      for (const [n, status] of statuses.entries())
        if (status === 'delivered' || status === 'exhausted') unfinished.delete(claims[n]?.deliveryId ?? '')
    }
    const sorted = () => [...unfinished].sort((a, b) => Number(a) - Number(b))
    return { runRound, unfinished: sorted }
  }

  /** Copies the tables of a schema, the outbox last, after some rounds of other work. */
  async function copyTables(session: pg.Pool, from: string, to: string, work: () => Promise<void>): Promise<void> {
    const { rows } = await session.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = $1::regnamespace
         and relkind in ('r', 'p') and not relispartition and relname <> 'outbox' order by relname`,
      [from],
    )
    const copy = (name: string) =>
      session.query(
        `insert into ${to}.${name} overriding system value select * from ${from}.${name} on conflict do nothing`,
      )
    await session.query('set local session_replication_role = replica')
    for (const { name } of rows) await copy(name)
    await work()
    await copy('outbox')
  }

  async function copied(): Promise<{ readonly copy: Store; readonly schema: string; readonly unfinished: string[] }> {
    const [from, to] = [nextSchema(), nextSchema()]
    const [store, copy] = [await openMigrated({ schema: from }), open({ schema: to })]
    await copy.migrate()
    const { runRound, unfinished } = deliverFrom(store)
    for (let n = 0; n < 3; n += 1) await runRound()
    const session = admin()
    await session.query('begin isolation level repeatable read; select 1')
    const atSnapshot = unfinished()
    await copyTables(session, from, to, async () => {
      for (let n = 0; n < 40; n += 1) await runRound()
    })
    await session.query('commit')
    expect(unfinished()).not.toEqual(atSnapshot)
    return { copy, schema: to, unfinished: atSnapshot }
  }

  const pendingIn = async (store: Store) =>
    (await store.deliveries.list({ status: 'pending', limit: 10_000 })).map(({ deliveryId }) => deliveryId)

  test('holds every unfinished delivery, while deliveries run and end', async () => {
    const { copy, unfinished } = await copied()
    expect(unfinished.length).toBeGreaterThan(30)
    expect(await pendingIn(copy)).toEqual(unfinished)
    expect(await copy.deliveries.findMissing({ limit: 10_000 })).toMatchObject({ missing: 0 })
  })

  test('that lacks its outbox is found incomplete, and a check makes every unfinished delivery due again', async () => {
    const { copy, schema, unfinished } = await copied()
    await admin().query(`delete from ${schema}.outbox`)
    const service = createService({
      store: copy,
      sender: { post: () => Promise.reject(new Error('Nothing is sent here.')) },
      masterKey: parseMasterKey('a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'),
    })
    const found = { examined: 90, missing: unfinished.length }
    expect(await service.deliveries.check()).toEqual({ ...found, requeued: 0 })
    expect((await service.deliveries.list({ status: 'missing', limit: 1_000 })).map((each) => each.deliveryId)).toEqual(
      unfinished,
    )
    expect(await service.deliveries.check({ repair: true })).toEqual({ ...found, requeued: unfinished.length })
    expect(await pendingIn(copy)).toEqual(unfinished)
    expect(await service.deliveries.check({ repair: true })).toEqual({ examined: 90, missing: 0, requeued: 0 })
    expect((await copy.audit.newest())?.details).toMatchObject({ status: 'missing', replayed: unfinished.length })
    // The running service sends them all.
    const claims = await copy.deliveries.claim({ limit: 1_000, leaseMs: 60_000 })
    expect(claims.map(({ deliveryId }) => deliveryId).sort((a, b) => Number(a) - Number(b))).toEqual(unfinished)
  })
})
