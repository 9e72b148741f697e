/** Measures what a database in shards costs beside one without, on one server. @module */
import type { Service } from '@payment-integration/core'
import type { AttemptRecord, Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { startPostgres } from '../packages/store-sql/test/postgres.js'
import { serviceOn } from './console/database.js'
import { type Effort, type Measured, sideBySide } from './measure.js'
import { integrations, paymentAt, storePayments, updateAt } from './updates/payments.js'

/** Payments of a block, of ten integrations. */
const perBlock = 60

/** A database with its number of shards. */
interface Way {
  readonly name: string
  readonly store: Store
  readonly service: Service
  /** Payments that are stored. */
  stored: number
}

const answered: AttemptRecord = {
  startedAt: 1_800_000_000_000,
  latencyMs: 20,
  status: 204,
  reason: null,
  excerpt: null,
  replay: false,
}

/**
 * Measures in turns and returns the tables.
 * @param counts - Numbers of shards; the others are compared with the first.
 */
export async function benchShards(
  counts: readonly number[],
  blocks: number,
  effort: Effort,
): Promise<{ readonly title: string; readonly rows: readonly Measured[] }[]> {
  const server = await startPostgres()
  const ways: Way[] = []
  try {
    for (const shards of counts) {
      const store = createPostgresStore({
        connectionString: server.connectionString,
        schema: `bench_${shards}`,
        shards,
      })
      await store.migrate()
      const service = serviceOn(store)
      for (const [n, address] of integrations.entries())
        await service.integrations.create({ address, notificationUrl: `http://127.0.0.1:9/${n}` })
      const way = { name: shards === 1 ? 'no shards' : `${shards} shards`, store, service, stored: 0 }
      ways.push(way)
      for (let block = 0; block < blocks; block += 1) await deliveredBlock(way)
    }
    const measured = async (title: string, run: (way: Way) => Promise<unknown>) => ({
      title,
      rows: await sideBySide(
        ways.map((way) => ({ name: way.name, run: () => run(way) })),
        effort,
      ),
    })
    return [
      await measured(
        `A block of ${perBlock} payments of ten integrations: stored, claimed and settled`,
        deliveredBlock,
      ),
      await measured('An update of one payment', changeOne()),
      await measured('A page of 50 of one integration', ({ store }) =>
        store.payments.list({ integrationAddress: integrations[0] ?? '', limit: 50 }),
      ),
      await measured('A look-up by transaction', ({ store }) => {
        const { chainId, txHash } = paymentAt(0).facts
        return store.payments.transaction({ chainId, txHash })
      }),
      await measured('The newest 50 deliveries of all integrations', ({ store }) =>
        store.console.deliveries({ limit: 50 }),
      ),
    ]
  } finally {
    for (const { store } of ways) await store.close()
    await server.remove()
  }
}

async function deliveredBlock(way: Way): Promise<void> {
  const { store } = way
  await storePayments(store, way.stored, perBlock)
  way.stored += perBlock
  const claims = await store.deliveries.claim({ limit: perBlock, leaseMs: 60_000 })
  const { statuses } = await store.deliveries.settle(
    claims.map((claim) => ({ claim, attempt: answered, verdict: { kind: 'delivered' } })),
    (before) => ({ ...before, blockMs: null }),
  )
  if (statuses.some((status) => status !== 'delivered')) throw new Error('A delivery was not settled.')
}

/** Updates one payment after the other, each once. */
function changeOne(): (way: Way) => Promise<unknown> {
  const next = new Map<Way, number>()
  return async (way) => {
    const n = next.get(way) ?? 0
    next.set(way, n + 1)
    const round = Math.floor(n / way.stored)
    return way.service.applyUpdate(updateAt(n % way.stored, round))
  }
}
