/** Measures what the indexes of the console cost each write. @module */
import { loadavg } from 'node:os'
import type { ClaimedDelivery, SettledAttempt, Store } from '@payment-integration/core/ports'
import { median } from '../measure.js'
import { integrations } from '../notifications/jobs.js'
import { makePayments, storePayments } from '../notifications/store-jobs.js'
import { cpuMs } from './cpu.js'
import { type Engine, type FilledDatabase, openFilled, serviceOn } from './database.js'

/** How much to measure. */
export interface WritesEffort {
  /** Payments that are stored beforehand. */
  readonly payments: number
  /** Turns of each database. */
  readonly rounds: number
  /** Payments of a turn, each with a delivery. */
  readonly count: number
}

/** Payments of a transaction: those of a block. */
const block = 60
/** Attempts that are settled at once: those of a full dispatcher. */
const batch = 256

interface Side {
  readonly database: FilledDatabase
  readonly store: Store
}
type Figures = Readonly<Record<'indexing' | 'recording', { readonly ms: number; readonly cpu: number }>>

/** Measures on two databases of an engine, with and without these indexes, in turns, and returns Markdown. */
export async function benchWrites(engine: Engine, effort: WritesEffort): Promise<string> {
  const plain = await openSide(engine, effort, false)
  const prepared = await openSide(engine, effort, true)
  try {
    const rounds: { readonly plain: Figures; readonly prepared: Figures }[] = []
    for (let round = 0; round <= effort.rounds; round += 1) {
      const order = round % 2 === 0 ? [plain, prepared] : [prepared, plain]
      const taken = new Map<Side, Figures>()
      for (const side of order) taken.set(side, await turn(side, round * effort.count, effort.count))
      const [first, second] = [taken.get(plain), taken.get(prepared)]
      // The first round only warms up.
      if (first !== undefined && second !== undefined && (round > 0 || effort.rounds === 0))
        rounds.push({ plain: first, prepared: second })
    }
    return report(engine, effort, rounds)
  } finally {
    for (const { store, database } of [plain, prepared]) {
      await store.close()
      await database.end()
    }
  }
}

async function openSide(engine: Engine, { payments }: WritesEffort, isPrepared: boolean): Promise<Side> {
  // Turns add rows, so that these databases are not kept.
  const database = await openFilled(engine, { payments, keep: null, isPrepared })
  const store = database.openStore()
  const service = serviceOn(store)
  for (const address of integrations)
    await service.integrations.create({ address, notificationUrl: `http://127.0.0.1:9/${address}` })
  return { database, store }
}

async function turn({ store, database }: Side, from: number, count: number): Promise<Figures> {
  const made = makePayments({ from, count })
  const measured = async (work: () => Promise<void>) => {
    const [begun, before] = [performance.now(), cpuMs(database.serverData) ?? Number.NaN]
    await work()
    return { ms: performance.now() - begun, cpu: (cpuMs(database.serverData) ?? Number.NaN) - before }
  }
  const indexing = await measured(async () => {
    for (let done = 0; done < count; done += block) await storePayments(store, made.slice(done, done + block))
  })
  let recording = { ms: 0, cpu: 0 }
  for (let done = 0; done < count; ) {
    const claimed = await store.deliveries.claim({ limit: batch, leaseMs: 600_000, maxRetries: 0 })
    if (claimed.length === 0) throw new Error(`A claim took nothing, with ${done} of ${count} deliveries settled.`)
    const one = await measured(async () => {
      await store.deliveries.settle(claimed.map(settled), () => ({ failures: 0, blocks: 0, blockMs: null }))
    })
    recording = { ms: recording.ms + one.ms, cpu: recording.cpu + one.cpu }
    done += claimed.length
  }
  return { indexing, recording }
}

function settled(claim: ClaimedDelivery): SettledAttempt {
  const attempt = { startedAt: Date.now(), latencyMs: 12, status: 204, reason: null, excerpt: null, replay: false }
  return { claim, attempt, verdict: { kind: 'delivered' } }
}

function report(
  engine: Engine,
  { payments, rounds: wanted, count }: WritesEffort,
  rounds: readonly { readonly plain: Figures; readonly prepared: Figures }[],
): string {
  const us = (side: 'plain' | 'prepared', kind: keyof Figures, field: 'ms' | 'cpu') =>
    ((median(rounds.map((each) => each[side][kind][field])) / count) * 1_000).toFixed(1)
  const ratio = (kind: keyof Figures, field: 'ms' | 'cpu') =>
    median(rounds.map(({ plain, prepared }) => prepared[kind][field] / plain[kind][field])).toFixed(2)
  const row = (name: string, kind: keyof Figures) =>
    `| ${name} | ${us('plain', kind, 'ms')} | ${us('prepared', kind, 'ms')} | ${ratio(kind, 'ms')} | ${us('plain', kind, 'cpu')} | ${us('prepared', kind, 'cpu')} | ${ratio(kind, 'cpu')} |`
  return [
    `### Writes with the indexes of the console, ${payments.toLocaleString('en')} payments, ${engine}`,
    '',
    `${wanted} turns of ${count.toLocaleString('en')} payments; load ${loadavg()[0]?.toFixed(1)}. CPU is that of this process and the database server.`,
    '',
    '| | without, µs | with, µs | ratio | without, CPU µs | with, CPU µs | ratio |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    row(`indexing a payment, ${block} a transaction`, 'indexing'),
    row(`recording a delivered attempt, ${batch} a transaction`, 'recording'),
    '',
  ].join('\n')
}
