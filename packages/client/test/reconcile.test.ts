import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { catchError, integrationAddress } from './fixtures.js'
import { findTime, paymentHash, second, startService } from './service.js'
import { getNumbers, openShop, range, startShop } from './shop.js'

const pageRequests = (requests: readonly string[]) => requests.filter((path) => path.includes('/payments?')).length

test('payments of lost deliveries are handled once, and the result counts missing and stale ones', async () => {
  await using shop = await startShop(5)
  for (const n of [0, 2, 3]) await shop.deliver(await shop.snapshot(n))
  await shop.service.update(3, 'success')
  shop.effects.length = 0

  const found = await shop.reconcile({ until: 'end' })
  expect(shop.effects).toEqual(['1@1', '3@2', '4@1'])
  expect(found).toMatchObject({ stopped: 'end', compared: 5, repaired: 3, newer: 0, failed: { count: 0 } })
  expect(found.unknown).toEqual({ count: 0, samples: [], omitted: 0 })
  expect(getNumbers(found.missing.samples)).toEqual([1, 4])
  expect(found.missing).toMatchObject({ count: 2, omitted: 0 })
  expect(getNumbers(found.stale.samples)).toEqual([3])
  expect(found.stale.samples).toMatchObject([{ chainId: '137', version: 2, storedVersion: 1 }])

  const again = await shop.reconcile({ until: 'end' })
  expect(again).toMatchObject({ missing: { count: 0 }, stale: { count: 0 }, repaired: 0 })
  expect(shop.effects).toHaveLength(3)
})

test.each<[string, object, number]>([
  ["'known' reads one page", { until: 'known' }, 1],
  ['the default is known', {}, 1],
  ['a date reads to the first payment before it', { until: findTime(4) }, 3],
  ['a date of another realm reads equally far', { until: runInNewContext(`new Date(${findTime(4).getTime()})`) }, 3],
  ['a date between two payments reads equally far', { until: new Date(findTime(4).getTime() + 1) }, 3],
  ["'end' reads all", { until: 'end' }, 5],
])('with a complete store of ten payments in pages of two, %s', async (_case, options, pages) => {
  await using shop = await startShop(10)
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  shop.service.requests.length = 0
  const found = await shop.reconcile({ ...options, checkpoint, overlapMs: 0, pageSize: 2 })
  expect(found).toMatchObject({ pages, compared: 2 * pages, repaired: 0 })
  expect(pageRequests(shop.service.requests)).toBe(pages)
})

test("after an outage, live deliveries on the newest page do not hide the gap from 'known' with the checkpoint", async () => {
  await using shop = await startShop(10)
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  expect(checkpoint.coveredTo).toBe(findTime(0).toISOString())
  await shop.service.index(...range(10, -10)) // Lost: the receiver was down.
  await shop.service.index(...range(3, -13))
  for (const n of range(3, -13)) await shop.deliver(await shop.snapshot(n))
  shop.effects.length = 0

  const found = await shop.reconcile({ pageSize: 3, checkpoint, overlapMs: 0 })
  expect(found).toMatchObject({ stopped: 'known', repaired: 10, missing: { count: 10 } })
  expect(shop.effects).toEqual(range(10, -10).map((n) => `${n}@1`))
  expect(found.checkpoint).toMatchObject({ coveredTo: findTime(-13).toISOString(), unfinished: [] })
})

test("a lost version of an old payment is found by a date or 'end', but not by 'known'", async () => {
  await using shop = await startShop(10)
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  await shop.service.update(7, 'success')
  await shop.service.update(9, 'success')
  const known = await shop.reconcile({ checkpoint, pageSize: 2, overlapMs: second })
  expect(known).toMatchObject({ stopped: 'known', repaired: 0 })
  const until = new Date(findTime(7).getTime() + 1)
  const dated = await shop.reconcile({ checkpoint: known.checkpoint, pageSize: 2, until })
  expect(getNumbers(dated.stale.samples)).toEqual([7])
  expect(dated.stopped).toBe('date')
  expect(getNumbers((await shop.reconcile({ pageSize: 2, until: 'end' })).stale.samples)).toEqual([9])
})

test('a payment that was indexed late is found within the overlap', async () => {
  await using shop = await startShop()
  await shop.service.index(0, 1, 2, 3, 5, 6, 7, 8, 9)
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  await shop.service.index(4)
  expect((await shop.reconcile({ checkpoint, pageSize: 2, overlapMs: 0 })).repaired).toBe(0)
  const { missing } = await shop.reconcile({ checkpoint, pageSize: 2, overlapMs: 4 * second })
  expect(getNumbers(missing.samples)).toEqual([4])
})

test('a run until a date extends the covered time only when it leaves no gap', async () => {
  await using shop = await startShop(6)
  const apart = await shop.reconcile({ until: findTime(1), pageSize: 1 })
  expect(apart.checkpoint.coveredTo).toBeNull()
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  await shop.service.index(-1)
  const joined = await shop.reconcile({ until: findTime(0), checkpoint, pageSize: 1 })
  expect(joined).toMatchObject({ stopped: 'date', checkpoint: { coveredTo: findTime(-1).toISOString() } })
})

test('a payment whose handler throws is left to the next run and does not delay others', async () => {
  await using shop = await startShop(6)
  shop.reject.add(3)
  const found = await shop.reconcile({ pageSize: 2 })
  expect(shop.effects).toEqual(['0@1', '1@1', '2@1', '4@1', '5@1'])
  expect(found).toMatchObject({ stopped: 'end', repaired: 5, missing: { count: 6 }, failed: { count: 1 } })
  expect(found.failed.samples).toMatchObject([{ version: 1, error: new Error('payment 3 has no order yet') }])
  const { chainId, txHash, blockTimestamp } = await shop.client.payments.get(paymentHash(3))
  const failed = [{ chainId, txHash, blockTimestamp }]
  expect(found.checkpoint).toMatchObject({ coveredTo: findTime(0).toISOString(), failed })
  expect(await shop.store.current(await shop.snapshot(3))).toBeUndefined()
})

test('a dry run counts, and changes neither the store nor the checkpoint', async () => {
  await using shop = await startShop(3)
  await shop.deliver(await shop.snapshot(1))
  await shop.service.update(1, 'success')
  const { checkpoint: before } = await openShop(shop.service).reconcile({ until: 'end' })
  const reported: unknown[] = []
  const onCheckpoint = (at: unknown) => void reported.push(at)
  const found = await shop.reconcile({ until: 'end', dryRun: true, checkpoint: before, onCheckpoint })
  expect(found).toMatchObject({ repaired: 0, missing: { count: 2 }, stale: { count: 1 }, checkpoint: before })
  expect(shop.effects).toEqual(['1@1'])
  expect(reported).toEqual([])
})

test('a dry run starts at the newest page, even when the checkpoint has an interrupted run', async () => {
  await using shop = await startShop(4)
  const { checkpoint } = await shop.reconcile({ until: 'end', pageSize: 1, maxPages: 2 })
  const found = await shop.reconcile({ until: 'end', dryRun: true, checkpoint })
  expect(getNumbers(found.missing.samples)).toEqual([2, 3])
  expect(found).toMatchObject({ compared: 4, checkpoint })
})

test('samples are the first of each kind, and the result counts those omitted', async () => {
  await using shop = await startShop(7)
  const found = await shop.reconcile({ samples: 2 })
  expect(getNumbers(found.missing.samples)).toEqual([0, 1])
  expect(found.missing).toMatchObject({ count: 7, omitted: 5 })
  const without = await openShop(shop.service).reconcile({ samples: 0 })
  expect(without.missing).toEqual({ count: 7, samples: [], omitted: 7 })
})

test('an empty list is compared, and covers nothing', async () => {
  await using service = await startService()
  const found = await openShop(service).reconcile()
  const checkpoint = { coveredTo: null, failed: [], unfinished: [] }
  expect(found).toMatchObject({ stopped: 'end', pages: 1, compared: 0, checkpoint })
})

const kept = { format: 1, integrationAddress, coveredTo: null, failed: [], unfinished: [] }
const rest = { until: 'end', cursor: 'c', beganAt: null, failedAt: null }
const withRun = (change: object) => ({ checkpoint: { ...kept, unfinished: [{ ...rest, ...change }] } })

test.each<[string, object, typeof TypeError | typeof RangeError]>([
  ['from is missing', { from: undefined }, TypeError],
  ['from has no current()', { from: { advance() {} } }, TypeError],
  ['handle is missing', { handle: undefined }, TypeError],
  ['until is an unknown text', { until: 'yesterday' }, TypeError],
  ['until is an invalid date', { until: new Date(Number.NaN) }, TypeError],
  ['until is a number', { until: 5 }, TypeError],
  ['pageSize is above 200', { pageSize: 201 }, RangeError],
  ['maxPages is 0', { maxPages: 0 }, RangeError],
  ['overlapMs is negative', { overlapMs: -1 }, RangeError],
  ['samples is not a whole number', { samples: 1.5 }, RangeError],
  ['dryRun is a text', { dryRun: 'yes' }, TypeError],
  ['onCheckpoint is not a function', { onCheckpoint: {} }, TypeError],
  ['signal is not an AbortSignal', { signal: {} }, TypeError],
  ['checkpoint is not a checkpoint', { checkpoint: { cursor: 'x' } }, TypeError],
  ['checkpoint is a text', { checkpoint: '{}' }, TypeError],
  ['legacy is no client', { legacy: {} }, TypeError],
  ['checkpoint is of another format', { checkpoint: { format: 2 } }, TypeError],
  ['checkpoint covers up to no time', { checkpoint: { ...kept, coveredTo: 'block 5' } }, TypeError],
  ['checkpoint has a malformed failure', { checkpoint: { ...kept, failed: [{ chainId: '1' }] } }, TypeError],
  ['checkpoint has an interrupted run of unknown reach', withRun({ until: 'x' }), TypeError],
  ['checkpoint has an interrupted run without a cursor', withRun({ cursor: '' }), TypeError],
])('nothing is sent when %s', async (_case, options, type) => {
  await using service = await startService()
  const error = await catchError(openShop(service).reconcile(options))
  expect(error).toBeInstanceOf(type)
  expect(service.requests).toEqual([])
})
