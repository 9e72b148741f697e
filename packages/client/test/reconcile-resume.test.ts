import { expect, test } from 'vitest'
import type { ReconcileCheckpoint } from '../src/exports/index.js'
import { catchError } from './fixtures.js'
import { findTime, startService } from './service.js'
import { getNumbers, openShop, range, startShop } from './shop.js'

test('a run limited to one page resumes where it stopped, and covers the payments of its start', async () => {
  await using shop = await startShop(6)
  let checkpoint: ReconcileCheckpoint | null = null
  const seen: string[] = []
  for (let runs = 0; runs < 3; runs += 1) {
    const found = await shop.reconcile({ until: 'end', pageSize: 2, maxPages: 1, checkpoint })
    seen.push(`${found.stopped}: ${found.compared}`)
    checkpoint = found.checkpoint
    await shop.service.index(-1 - runs) // A newer payment shifts the pages and belongs to the next run.
  }
  expect(seen).toEqual(['max_pages: 2', 'max_pages: 2', 'end: 2'])
  expect(shop.effects).toEqual(range(6).map((n) => `${n}@1`))
  expect(checkpoint).toMatchObject({ coveredTo: findTime(0).toISOString(), unfinished: [] })
  expect(getNumbers((await shop.reconcile({ checkpoint, overlapMs: 0 })).missing.samples)).toEqual([-3, -2, -1])
})

test('onCheckpoint receives a checkpoint and progress after each page, and the final checkpoint at the end', async () => {
  await using shop = await startShop(5)
  shop.reject.add(3)
  const reported: unknown[] = []
  const onCheckpoint = async (checkpoint: ReconcileCheckpoint, progress: object) => {
    await Promise.resolve()
    reported.push({ ...progress, left: checkpoint.unfinished.length, kept: getNumbers(checkpoint.failed) })
  }
  const { checkpoint } = await shop.reconcile({ pageSize: 2, onCheckpoint })
  expect(reported).toEqual([
    { pages: 1, compared: 2, repaired: 2, failed: 0, left: 1, kept: [] },
    { pages: 2, compared: 4, repaired: 3, failed: 1, left: 1, kept: [3] },
    { pages: 3, compared: 5, repaired: 4, failed: 1, left: 0, kept: [3] },
  ])
  expect(checkpoint.unfinished).toEqual([])
})

test('a failure before an interruption is repeated after the resumed run', async () => {
  await using shop = await startShop(4)
  shop.reject.add(1)
  const first = await shop.reconcile({ until: 'end', pageSize: 2, maxPages: 1 })
  shop.reject.clear()
  const second = await shop.reconcile({ until: 'end', pageSize: 2, checkpoint: first.checkpoint })
  expect(second).toMatchObject({ repaired: 2, checkpoint: { coveredTo: findTime(0).toISOString() } })
  expect(getNumbers(second.checkpoint.failed)).toEqual([1])
  const third = await shop.reconcile({ pageSize: 1, checkpoint: second.checkpoint, overlapMs: 0 })
  expect(getNumbers(third.missing.samples)).toEqual([1])
})

test('a run that the network interrupted resumes from the last stored page', async () => {
  await using shop = await startShop(8)
  const kept: ReconcileCheckpoint[] = []
  shop.service.beforeEachAnswer(async (request) => {
    if (request > 2) throw new Error('the service is gone')
  })
  const onCheckpoint = (checkpoint: ReconcileCheckpoint) => void kept.push(structuredClone(checkpoint))
  const error = await catchError(shop.reconcile({ until: 'end', pageSize: 2, onCheckpoint }))
  expect(error).toMatchObject({ name: expect.stringMatching(/Error$/), retryable: true })
  expect(shop.effects).toHaveLength(4)
  shop.service.beforeEachAnswer(async () => undefined)
  const found = await shop.reconcile({ until: 'end', pageSize: 2, checkpoint: kept.at(-1) })
  expect(found).toMatchObject({ compared: 4, repaired: 4, restarted: false })
  expect(shop.effects).toEqual(range(8).map((n) => `${n}@1`))
})

test('a rejected cursor restarts the run at the newest page, once', async () => {
  await using shop = await startShop(4)
  const { checkpoint } = await shop.reconcile({ until: 'end', pageSize: 2, maxPages: 1 })
  const run = { until: 'end', cursor: 'of-another-key', beganAt: findTime(3).toISOString(), failedAt: null }
  const found = await shop.reconcile({ until: 'end', pageSize: 2, checkpoint: { ...checkpoint, unfinished: [run] } })
  const covered = { coveredTo: findTime(0).toISOString() }
  expect(found).toMatchObject({ restarted: true, compared: 4, repaired: 2, checkpoint: covered })
})

test('a checkpoint of another integration is rejected before any request', async () => {
  await using service = await startService()
  const { checkpoint } = await openShop(service).reconcile()
  service.requests.length = 0
  const foreign = { ...checkpoint, integrationAddress: `0x${'99'.repeat(20)}` }
  const rejection = { name: 'TypeError', message: expect.stringContaining('another integration') }
  expect(await catchError(openShop(service).reconcile({ checkpoint: foreign }))).toMatchObject(rejection)
  expect(service.requests).toEqual([])
})

test('a signal aborts a run between two payments, and while it waits for a page', async () => {
  await using shop = await startShop(4)
  const stopping = new AbortController()
  const handle = async (snapshot: Parameters<typeof shop.handle>[0]) => {
    await shop.handle(snapshot)
    if (shop.effects.length === 2) stopping.abort()
  }
  expect(await catchError(shop.reconcile({ handle, signal: stopping.signal }))).toMatchObject({ code: 'ERR_ABORTED' })
  expect(shop.effects).toEqual(['0@1', '1@1'])

  const waiting = new AbortController()
  shop.service.beforeEachAnswer(async () => waiting.abort())
  expect(await catchError(shop.reconcile({ signal: waiting.signal }))).toMatchObject({ code: 'ERR_ABORTED' })
})
