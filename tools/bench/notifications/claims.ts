/** Compares the cost of a claim with few and with very many due deliveries. @module */
import { createService, parseMasterKey } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { median } from '../measure.js'
import type { BenchDatabase } from '../read-api/database.js'
import { masterKey } from '../read-api/dataset.js'
import { integrations } from './jobs.js'
import { multiply } from './multiply.js'
import { storeJobs } from './store-jobs.js'

/** Numbers of due deliveries. */
export interface ClaimEffort {
  readonly smallBacklog: number
  /** How often to double the small backlog. */
  readonly doublings: number
}

/** Deliveries per claim. */
const limit = 32
/** Claims of the warm-up. */
const warmUps = 5

/** Measures on two separate databases of the given engine, in turns, and returns a line. */
export async function claimRates(open: () => Promise<BenchDatabase>, effort: ClaimEffort): Promise<string> {
  const { smallBacklog, doublings } = effort
  const few = await openFilled(open, smallBacklog, 0)
  try {
    const many = await openFilled(open, smallBacklog, doublings)
    try {
      const times = { few: [] as number[], many: [] as number[] }
      for (let claims = Math.floor(smallBacklog / limit); claims > 0; claims -= 1) {
        times.few.push(await claimMs(few.store))
        times.many.push(await claimMs(many.store))
      }
      const typical = (all: readonly number[]) => median(all.slice(Math.min(warmUps, all.length - 1)))
      const size = (smallBacklog * 2 ** doublings).toLocaleString('en')
      const [fewMs, manyMs] = [typical(times.few), typical(times.many)]
      return (
        `A claim of ${limit} out of ${smallBacklog.toLocaleString('en')} due deliveries takes ${fewMs.toFixed(2)} ms; out of ${size}, ` +
        `${manyMs.toFixed(2)} ms: ${(manyMs / fewMs).toFixed(2)} times as long.`
      )
    } finally {
      await many.close()
    }
  } finally {
    await few.close()
  }
}

async function claimMs(store: Store): Promise<number> {
  const begun = performance.now()
  const claimed = await store.deliveries.claim({ limit, leaseMs: 600_000 })
  const ms = performance.now() - begun
  if (claimed.length !== limit) throw new Error(`A claim took ${claimed.length} of ${limit} due deliveries.`)
  return ms
}

async function openFilled(open: () => Promise<BenchDatabase>, small: number, doublings: number) {
  const database = await open()
  const store = database.openStore()
  const close = async () => {
    await store.close()
    await database.remove()
  }
  try {
    await store.migrate()
    await fill(store, small)
    await multiply(database, doublings)
    await database.settle()
    return { store, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function fill(store: Store, count: number): Promise<void> {
  const sender = { post: () => Promise.reject(new Error('Nothing is sent here.')) }
  const service = createService({ store, sender, masterKey: parseMasterKey(masterKey), allowLoopbackHttp: true })
  for (const address of integrations)
    await service.integrations.create({ address, notificationUrl: `http://127.0.0.1:9/${address}` })
  await storeJobs(store, { from: 0, count })
}
