/** Reads the database once for all pages, while any page is open. @module */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChainStatus } from '@payment-integration/core'
import type { ConsoleAttempt, ConsoleNewest, DeliveryView } from '@payment-integration/core/internal'
import type { Clock, StoredPayment } from '@payment-integration/core/ports'
import type { Overview, Range, SampledService } from './overview.js'
import { createHourCounts, createMissingCount, narrowOverview, readOverview, widenOverview } from './overview.js'

export interface Sample {
  readonly overview: Overview
  readonly payments: readonly StoredPayment[]
  readonly deliveries: readonly DeliveryView[]
  /** Whether the sample omits its rows, because they cannot describe the changes: open lists must be loaded again. */
  readonly needsReload: boolean
}

/** Receives each sample; null: the last read failed, and the next tick tries again. */
type SampleListener = (sample: Sample | null) => void

export type Sampler = ReturnType<typeof createSampler>

/** The shortest time between two ticks, in milliseconds. */
const tickMs = 1_000
/** The wait before a tick is this multiple of the last tick: 1 % of the time, more for ticks of over 50 ms. */
const waitFactor = 100
const maxWaitMs = 5_000
/** How far back a tick looks for attempts, in milliseconds: they are stored when they end, but read by their start. */
const lookbackMs = 30_000
/** The ranges of a day and a week are read again after this time, in milliseconds. */
const wideRefreshMs = 30_000

interface Baseline {
  readonly rows: NewestRows
  readonly reorgs: string
}

/** Builds the sampler. It reads nothing before the first page opens; after a failed read the next tick tries again. */
export function createSampler(service: SampledService, clock: Pick<Clock, 'now'>, onError: (error: unknown) => void) {
  const { queries, indexers } = service
  const listeners = new Set<SampleListener>()
  const readHour = createHourCounts(queries, clock)
  const countMissing = createMissingCount(queries, clock, onError)
  const readings = new Map<Range, { readonly at: number; readonly reading: Promise<Overview> }>()
  /** Whether the loop runs: pages that open and close during a read must not start a second loop. */
  let isRunning = false
  /** The rows with which the next tick compares its own; null: no page is open. */
  let baseline: Promise<Baseline> | null = null

  /** Returns the last reading of a range; reads again when it failed or is `maxMs` old. */
  function readOnce(range: Range, maxMs: number, read: () => Promise<Overview>): Promise<Overview> {
    const last = readings.get(range)
    if (last !== undefined && clock.now() >= last.at && clock.now() - last.at < maxMs) return last.reading
    const reading = read()
    readings.set(range, { at: clock.now(), reading })
    reading.catch(() => readings.get(range)?.reading === reading && readings.delete(range))
    return reading
  }

  const overview = () => readOnce('1h', tickMs, () => readOverview(service, { readHour, countMissing }, clock))

  async function overviewOfRange(range: Range): Promise<Overview> {
    const hour = await overview()
    if (range === '1h') return hour
    if (range === '15m') return narrowOverview(hour)
    return readOnce(range, wideRefreshMs, () => widenOverview(hour, range, service))
  }

  async function sample(): Promise<Sample> {
    const before = await getBaseline()
    const current = await read()
    const added = findAddedRows(before.rows, current.rows)
    // A reorg may change payments without a new row.
    const needsReload = added.needsReload || current.reorgs !== before.reorgs
    const [payments, deliveries] = needsReload
      ? [[], []]
      : await Promise.all([queries.paymentsById(added.paymentIds), queries.deliveriesById(added.deliveryIds)])
    const changes = { overview: await overview(), payments, deliveries, needsReload }
    baseline = Promise.resolve(current)
    return changes
  }

  async function read(): Promise<Baseline> {
    // Read before the rows: a reorg during the reads belongs to the next tick.
    const reorgs = describeReorgs(indexers.map((indexer) => indexer.status()))
    const newest = await queries.newest(maxNewest)
    const attempts = await queries.attempts({ since: Math.max(0, clock.now() - lookbackMs), limit: maxNewest })
    return { rows: keyRows(newest, attempts), reorgs }
  }

  function getBaseline(): Promise<Baseline> {
    baseline ??= read().catch((error: unknown) => {
      baseline = null
      throw error
    })
    return baseline
  }

  async function run(): Promise<void> {
    isRunning = true
    for (let waitMs = tickMs; ; ) {
      await sleep(waitMs, undefined, { ref: false })
      if (listeners.size === 0) break
      const startedAt = performance.now()
      const result = await sample().catch((error: unknown) => {
        onError(error)
        return null
      })
      try {
        for (const listener of listeners) listener(result)
      } catch (error) {
        onError(error)
      }
      waitMs = Math.min(maxWaitMs, Math.max(tickMs, waitFactor * (performance.now() - startedAt)))
    }
    isRunning = false
    baseline = null
  }

  return {
    /** The newest overview, read at most once per tick. */
    overview,
    overviewOfRange,
    /** Resolves once every later change will be in a sample. Rejects when the database does not answer. */
    waitForBaseline: async () => void (await getBaseline()),
    /** Calls the listener after each tick with the changes; returns the function that stops it. */
    subscribe(listener: SampleListener) {
      listeners.add(listener)
      getBaseline().catch(() => undefined)
      if (!isRunning) void run()
      return () => void listeners.delete(listener)
    },
  }
}

/** A text that changes when a chain is reorganized, and when the replaced blocks are indexed again. */
function describeReorgs(chains: readonly ChainStatus[]): string {
  return chains
    .map(({ reorgs, newestReorgs: [newest], indexed }) => `${reorgs} ${(indexed ?? 0) >= (newest?.from ?? 0)}`)
    .join()
}

/** How many newest rows of a kind a tick reads. A row that commits after up to 200 newer ones is still found. */
const maxNewest = 300
export const maxAdded = 100

interface Row {
  readonly key: string
  readonly paymentId?: string | null
  readonly deliveryId?: string
}

export type NewestRows = readonly (readonly Row[])[]

export function keyRows(
  { payments, deliveries, updates }: ConsoleNewest,
  attempts: readonly Pick<ConsoleAttempt, 'deliveryId' | 'number'>[],
): NewestRows {
  return [
    payments.map((paymentId) => ({ key: `payment ${paymentId}`, paymentId })),
    deliveries.map((row) => ({ key: `delivery ${row.deliveryId}`, ...row })),
    updates.map(({ seq, paymentId }) => ({ key: `update ${seq}`, paymentId })),
    attempts.map(({ deliveryId, number }) => ({ key: `attempt ${deliveryId}:${number}`, deliveryId })),
  ]
}

export function findAddedRows(before: NewestRows, after: NewestRows) {
  const baseline = new Set(before.flat().map(({ key }) => key))
  const added = after.map((rows) => rows.filter(({ key }) => !baseline.has(key)))
  if (added.some(({ length }) => length > maxAdded)) return { paymentIds: [], deliveryIds: [], needsReload: true }
  const rows = added.flat()
  return {
    paymentIds: [...new Set(rows.flatMap(({ paymentId }) => paymentId ?? []))],
    deliveryIds: [...new Set(rows.flatMap(({ deliveryId }) => deliveryId ?? []))],
    needsReload: false,
  }
}
