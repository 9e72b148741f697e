/** Random deliveries, losses, crashes and restarts: the copy ends equal to the read API. */
import type { Payment } from '@payment-integration/client'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { integrationAddress } from '../../client/test/fixtures.js'
import { findTime, paymentHash, startService } from '../../client/test/service.js'
import { range } from '../../client/test/shop.js'
import { createMirror } from '../src/exports/index.js'
import { getBodies, getCopy, getDelivery, makeSnapshot, payments, secret } from './copy.js'
import { engines, nextPrefix } from './engines.js'
import { failingDatabase } from './failing-database.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const acts = ['index', 'update', 'update', 'move', 'deliver', 'deliver', 'late', 'complete', 'run', 'restart'] as const
/** Each may follow the one before. */
const refunds = ['refund_pending', 'refund_failure', 'refund_success'] as const
const nextStates: readonly Payment['state'][] = ['pending', 'success', ...refunds]

test.each(engines)(`on $name, a random history ends in a full copy (SEED=${seed})`, async ({ open }) => {
  const engine = await open()
  await using service = await startService()
  await service.index(...range(10))
  const client = service.client()
  const states = new Map<number, number>()
  let newest = 0
  let moved = 0
  const step = fc.record({
    act: fc.constantFrom(...acts),
    n: fc.nat(9),
    maxPages: fc.constantFrom(1, 2, 9),
    full: fc.boolean(),
    failAt: fc.constantFrom(0, 0, 1, 3, 6),
  })
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const prefix = nextPrefix()
        const versions = new Map<string, number>()
        const sent: Payment[] = []
        let failIn = 0
        const database = failingDatabase(engine.connect(), () => failIn > 0 && --failIn === 0)
        const start = () =>
          createMirror({ database, client, integrationAddress, secrets: secret, prefix, onEvent: () => {} })
        let mirror = start()
        await mirror.migrate()
        for (const { act, n, maxPages, full, failAt } of steps) {
          const at = newest + n
          if (act === 'index') await service.index(--newest)
          if (act === 'move') await service.move(at, findTime(at - ++moved / 1_000))
          if (act === 'update') {
            const state = nextStates[states.get(at) ?? 0]
            if (state !== undefined) await service.update(at, state)
            states.set(at, (states.get(at) ?? 0) + 1)
          }
          if (act === 'restart') mirror = start()
          failIn = failAt
          await work().catch((error: Error) => expect(error.message).toBe('the disk is gone'))
          failIn = 0
          await checkVersions()

          async function work() {
            if (act === 'complete') await mirror.complete()
            if (act === 'run') await mirror.reconcile({ pageSize: 2, maxPages, full })
            if (act === 'deliver') sent.push(await client.payments.get(paymentHash(at)))
            const late = act === 'late' ? sent[n % (sent.length || 1)] : undefined
            const delivered = act === 'deliver' ? sent.at(-1) : late
            if (delivered !== undefined) await mirror.receive(await getDelivery(makeSnapshot(delivered)))
          }
        }
        // The first run may resume an interrupted one; only the second starts at the newest page.
        for (let runs = 0; runs < 2; runs++) await mirror.reconcile({ pageSize: 3, full: true })
        const expected = await payments(client)
        expect(await getCopy(engine, prefix)).toEqual(expected)
        expect(await getBodies(engine, prefix)).toEqual(expected)
        expect(await mirror.status()).toMatchObject({ rows: expected.length, incomplete: 0, lagMs: 0, copied: true })

        /** No version of a row ever decreases. */
        async function checkVersions() {
          const rows = await engine.query(`SELECT tx_hash, version FROM ${prefix}payments`)
          for (const { tx_hash: hash, version } of rows) {
            expect(Number(version)).toBeGreaterThanOrEqual(versions.get(String(hash)) ?? 0)
            versions.set(String(hash), Number(version))
          }
        }
      }),
      // The service keeps its state between cases, so shrinking would test another case.
      { seed, numRuns: 25, endOnFailure: true },
    )
  } finally {
    await engine.close()
  }
})
