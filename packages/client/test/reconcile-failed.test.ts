/** Payments whose handler throws are repeated by later runs, in a list of limited size. */
import { expect, test } from 'vitest'
import { findTime, paymentHash } from './service.js'
import { getNumbers, range, startShop } from './shop.js'

const lookUps = (requests: readonly string[]) => requests.filter((path) => path.includes('/payments/')).length
const justBefore = (n: number) => new Date(findTime(n).getTime() - 1).toISOString()

test('a payment that failed in a run until a date is handled by the next run whose handler succeeds', async () => {
  await using shop = await startShop(10)
  shop.reject.add(2)
  const dated = await shop.reconcile({ until: findTime(3), pageSize: 2 })
  expect(dated).toMatchObject({ stopped: 'date', failed: { count: 1 }, checkpoint: { coveredTo: null } })
  shop.reject.clear()
  const next = await shop.reconcile({ until: findTime(0), pageSize: 1, checkpoint: dated.checkpoint })
  expect(next.checkpoint.failed).toEqual([])
  expect(shop.effects).toContain('2@1')
})

test('a handler that always throws for one payment does not make every run read back to it', async () => {
  await using shop = await startShop(20)
  shop.reject.add(15)
  let { checkpoint } = await shop.reconcile({ until: 'end', pageSize: 2 })
  expect(checkpoint).toMatchObject({ coveredTo: findTime(0).toISOString(), failed: [{ txHash: paymentHash(15) }] })
  for (let runs = 0; runs < 3; runs += 1) {
    const found = await shop.reconcile({ pageSize: 2, overlapMs: 0, checkpoint: checkpoint })
    expect(found).toMatchObject({ stopped: 'known', pages: 1, failed: { count: 1, samples: [{ version: 1 }] } })
    checkpoint = found.checkpoint
  }
  shop.reject.clear()
  const last = await shop.reconcile({ pageSize: 2, overlapMs: 0, checkpoint: checkpoint })
  expect(getNumbers(last.missing.samples)).toEqual([15])
  expect(last).toMatchObject({ repaired: 1, checkpoint: { failed: [] } })
  shop.service.requests.length = 0
  await shop.reconcile({ pageSize: 2, overlapMs: 0, checkpoint: last.checkpoint })
  expect(lookUps(shop.service.requests)).toBe(0)
})

test('a payment that fails on the newest page fails once per run, and the run still stops at known', async () => {
  await using shop = await startShop(9)
  shop.reject.add(0)
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  const found = await shop.reconcile({ pageSize: 3, overlapMs: 0, checkpoint: checkpoint })
  expect(found).toMatchObject({ failed: { count: 1 }, missing: { count: 1 }, pages: 1 })
})

test('a repeated payment is handled in its newest version', async () => {
  await using shop = await startShop(3)
  shop.reject.add(2)
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  await shop.service.update(2, 'success')
  shop.reject.clear()
  await shop.reconcile({ pageSize: 1, overlapMs: 0, checkpoint: checkpoint })
  expect(shop.effects).toEqual(['0@1', '1@1', '2@2'])
})

test('a hundred failed payments are looked up, and coveredTo stays before the oldest further one', async () => {
  await using shop = await startShop(110)
  for (const n of range(105)) shop.reject.add(n)
  const first = await shop.reconcile({ until: 'end' })
  expect(first.failed.count).toBe(105)
  expect(first.checkpoint.failed).toHaveLength(100)
  expect(first.checkpoint.coveredTo).toBe(justBefore(104))

  shop.reject.clear()
  shop.service.requests.length = 0
  const second = await shop.reconcile({ checkpoint: first.checkpoint, pageSize: 10, overlapMs: 0 })
  expect(lookUps(shop.service.requests)).toBe(100)
  expect(second).toMatchObject({ repaired: 105, checkpoint: { coveredTo: findTime(0).toISOString(), failed: [] } })
})

test('a resumed run does not cover failures that overflowed in another run meanwhile', async () => {
  await using shop = await startShop(104)
  const { checkpoint: covered } = await shop.reconcile({ until: 'end' })
  const bounded = await shop.reconcile({ until: 'end', pageSize: 103, maxPages: 1, checkpoint: covered })
  for (const n of range(102)) {
    await shop.service.update(n, 'success')
    shop.reject.add(n)
  }
  const dated = await shop.reconcile({ until: findTime(102), checkpoint: bounded.checkpoint })
  expect(dated).toMatchObject({ failed: { count: 102 }, checkpoint: { coveredTo: justBefore(101) } })
  const rest = await shop.reconcile({ until: 'end', checkpoint: dated.checkpoint })
  expect(rest).toMatchObject({ stopped: 'end', compared: 1, checkpoint: { coveredTo: justBefore(101) } })
})

test('a failed payment that the service no longer has is dropped', async () => {
  await using shop = await startShop(2)
  const { checkpoint } = await shop.reconcile()
  const gone = { chainId: '137', txHash: paymentHash(77), blockTimestamp: findTime(1).toISOString() }
  const elsewhere = { ...gone, chainId: '1', txHash: paymentHash(1) }
  const found = await shop.reconcile({ checkpoint: { ...checkpoint, failed: [gone, elsewhere] } })
  const covered = { coveredTo: findTime(0).toISOString(), failed: [] }
  expect(found).toMatchObject({ failed: { count: 0 }, checkpoint: covered })
})

test('a failed payment whose hash is on two chains is repeated by reading back to its page', async () => {
  await using shop = await startShop(9)
  await shop.service.indexOn(10, 7)
  shop.reject.add(7)
  const { checkpoint } = await shop.reconcile({ until: 'end' })
  expect(checkpoint.failed).toHaveLength(2)
  shop.reject.clear()
  const found = await shop.reconcile({ checkpoint: checkpoint, pageSize: 1, overlapMs: 0 })
  expect(found).toMatchObject({ repaired: 2, checkpoint: { coveredTo: findTime(0).toISOString(), failed: [] } })
})

test('a resumed run makes no look-ups before its pages', async () => {
  await using shop = await startShop(4)
  shop.reject.add(0)
  const { checkpoint } = await shop.reconcile({ until: 'end', pageSize: 1, maxPages: 1 })
  shop.service.requests.length = 0
  const found = await shop.reconcile({ until: 'end', pageSize: 1, maxPages: 1, checkpoint: checkpoint })
  expect(shop.service.requests).toHaveLength(1)
  expect(found.checkpoint.failed).toMatchObject([{ txHash: paymentHash(0) }])
})
