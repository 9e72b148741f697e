/** No run may cover a payment that no run compared. */
import { expect, test } from 'vitest'
import type { ReconcileCheckpoint, Reconciliation } from '../src/exports/index.js'
import { findTime } from './service.js'
import { range, startShop } from './shop.js'

const getEffects = (numbers: readonly number[]) => numbers.map((n) => `${n}@1`).toSorted()

test('the first known run reads to the end, even when the newest pages are complete', async () => {
  await using shop = await startShop(10)
  // The shop receives deliveries already, but lacks the payments before them.
  for (const n of range(4)) await shop.deliver(await shop.snapshot(n))
  const found = await shop.reconcile({ pageSize: 2 })
  expect(found).toMatchObject({ stopped: 'end', compared: 10, missing: { count: 6 } })
  expect(found.checkpoint.coveredTo).toBe(findTime(0).toISOString())
  expect(shop.effects.toSorted()).toEqual(getEffects(range(10)))
})

test('frequent known runs and an interrupted nightly run to the end do not disturb each other', async () => {
  await using shop = await startShop(8)
  const { checkpoint: covered } = await shop.reconcile({ until: 'end' })
  await shop.service.update(7, 'success') // beyond the reach of known
  await shop.service.index(-1)
  const nightly = { until: 'end', pageSize: 2, maxPages: 2 } as const
  const first = await shop.reconcile({ ...nightly, checkpoint: covered })
  expect(first.stopped).toBe('max_pages')

  await shop.service.index(-2)
  const known = await shop.reconcile({ pageSize: 2, overlapMs: 0, checkpoint: first.checkpoint })
  expect(known).toMatchObject({ stopped: 'known', missing: { count: 1 } })
  expect(known.checkpoint.coveredTo).toBe(findTime(-2).toISOString())
  expect(known.checkpoint.unfinished).toEqual(first.checkpoint.unfinished)

  const second = await shop.reconcile({ ...nightly, maxPages: 9, checkpoint: known.checkpoint })
  expect(second).toMatchObject({ stopped: 'end', pages: 3, stale: { count: 1 } })
  expect(second.checkpoint).toMatchObject({ coveredTo: findTime(-2).toISOString(), unfinished: [] })
  expect(shop.effects).toContain('7@2')
})

test('interrupted runs of all three reaches finish on one checkpoint', async () => {
  await using shop = await startShop(6)
  const untils = ['end', 'known', findTime(3)] as const
  let checkpoint: ReconcileCheckpoint | null = null
  for (const until of untils)
    checkpoint = (await shop.reconcile({ until, pageSize: 1, maxPages: 1, checkpoint })).checkpoint
  expect(checkpoint?.unfinished.map(({ until }) => until)).toEqual(['end', 'known', findTime(3).toISOString()])
  const ended: string[] = []
  for (const until of untils) {
    const found: Reconciliation = await shop.reconcile({ until, pageSize: 1, overlapMs: 0, checkpoint })
    ended.push(`${found.stopped}: ${found.pages}`)
    checkpoint = found.checkpoint
  }
  // By then the run to the end has covered everything, so the others stop at the first complete page.
  expect(ended).toEqual(['end: 5', 'known: 1', 'date: 4'])
  expect(checkpoint?.unfinished).toEqual([])
})

test.each([
  ['a newer', 2, 4],
  ['an older', 5, 5],
])('a run until %s date resumes the interrupted run, to the older date', async (_case, n, oldest) => {
  await using shop = await startShop(8)
  const { checkpoint } = await shop.reconcile({ until: findTime(4), pageSize: 1, maxPages: 2 })
  const found = await shop.reconcile({ until: findTime(n), pageSize: 1, checkpoint: checkpoint })
  // The page that crosses the date is compared too.
  expect(found).toMatchObject({ stopped: 'date', compared: oldest })
  expect(shop.effects).toEqual(range(oldest + 2).map((each) => `${each}@1`))
})
