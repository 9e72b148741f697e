/** Random runs that share a checkpoint never lose a payment. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReconcileCheckpoint } from '../src/exports/index.js'
import { findTime, startService } from './service.js'
import { openShop, range } from './shop.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

test(`runs that stop, crash and fail lose no payment, and each payment has one effect (seed ${seed})`, async () => {
  await using service = await startService()
  await service.index(...range(10))
  const client = service.client()
  let newest = 0
  const step = fc.record({
    act: fc.constantFrom('index', 'deliver', 'reject', 'accept', 'known', 'known', 'end', 'date'),
    n: fc.nat(9),
    maxPages: fc.constantFrom(1, 2, 9),
    crashAfterPage: fc.constantFrom(null, null, 1, 2),
    keeps: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const shop = openShop(service, client)
      let checkpoint: ReconcileCheckpoint | null = null
      for (const { act, n, maxPages, crashAfterPage, keeps } of steps) {
        if (act === 'index') {
          newest -= 1
          await service.index(newest)
        }
        if (act === 'deliver') await shop.deliver(await shop.snapshot(newest + n)).catch(() => undefined)
        if (act === 'reject') shop.reject.add(newest + n)
        if (act === 'accept') shop.reject.clear()
        if (act !== 'known' && act !== 'end' && act !== 'date') continue
        let pages = 0
        const onCheckpoint = (next: ReconcileCheckpoint) => {
          pages += 1
          if (keeps || crashAfterPage === null) checkpoint = JSON.parse(JSON.stringify(next))
          if (pages === crashAfterPage) throw new Error('crash')
        }
        const until = act === 'date' ? findTime(newest + n) : act
        await shop
          .reconcile({ until, pageSize: 2, maxPages, overlapMs: 0, checkpoint, onCheckpoint })
          .catch((error: Error) => expect(error.message).toBe('crash'))
      }
      shop.reject.clear()
      // The first run may resume an interrupted one; then only the second starts at the newest page.
      for (let runs = 0; runs < 2; runs += 1)
        checkpoint = (await shop.reconcile({ pageSize: 2, overlapMs: 0, checkpoint })).checkpoint
      const all = range(10 - newest, newest).map((n) => `${n}@1`)
      expect(shop.effects.toSorted()).toEqual(all.toSorted())
    }),
    // The service keeps its state between cases, so shrinking would test another case.
    { seed, numRuns: 20, endOnFailure: true },
  )
})
