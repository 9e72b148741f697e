/**
 * Reads the database for all open pages at once: one timer for the process, which runs only while a page is open.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsoleMarks, DeliveryView, StoredPayment } from '@payment-integration/core/ports'
import { createHourCounts, type HourCounts } from './hour-counts.js'
import { type Overview, readOverview, type SampledService } from './overview.js'

/** News of one tick. */
export interface Sample {
  readonly overview: Overview
  readonly payments: readonly StoredPayment[]
  readonly deliveries: readonly DeliveryView[]
  /** Whether more changed than one tick reads: it has no rows, and open lists must be loaded again. */
  readonly isCut: boolean
}

/** Receives each sample; null: the last read failed, and the next tick tries again. */
export type SampleListener = (sample: Sample | null) => void

/** Shared readings. */
export interface Sampler {
  /** Resolves when every later change is part of a sample. Rejects when the database does not answer. */
  begun(): Promise<void>
  /** The newest overview, read at most once a tick. */
  overview(): Promise<Overview>
  /** Calls the listener after each tick with what changed since this call; returns the function that stops it. */
  subscribe(listener: SampleListener): () => void
}

/** Least time between two ticks, in milliseconds. */
const tickMs = 1_000
/** A tick waits so many times as long as the last one took: ticks take at most 2 % of a busy process. */
const restFactor = 50
const mostRestMs = 5_000
/** Most changed rows of a kind that one tick reads. */
const mostChanged = 100
/** Attempts are stored when they end: how far back a tick looks for their start. */
const lookBackMs = 30_000
const mostRemembered = 5_000

/**
 * Builds the sampler. It reads nothing before the first page.
 * @param onError - Receives the error of a failed read; the next tick tries again.
 */
export function createSampler(
  service: SampledService,
  now: () => number,
  onError: (error: unknown) => void = () => undefined,
): Sampler {
  const { store } = service
  const listeners = new Set<SampleListener>()
  const hours: HourCounts = createHourCounts(store.console, now)
  let newest: { readonly at: number; readonly reading: Promise<Overview> } | null = null
  /** Whether the loop runs: one, however pages come and go during a read. */
  let isRunning = false
  /** Where the next tick begins; null: no page is open. */
  let marks: Promise<ConsoleMarks> | null = null
  let seen = new Set<string>()

  function overview(): Promise<Overview> {
    if (newest === null || now() - newest.at >= tickMs || now() < newest.at) {
      const reading = readOverview(service, hours, now)
      newest = { at: now(), reading }
      reading.catch(() => {
        newest = null
      })
    }
    return newest.reading
  }

  async function sample(): Promise<Sample> {
    const changes = await store.console.changes(await begin(), mostChanged)
    const attempts = await store.console.attempts({ since: Math.max(0, now() - lookBackMs), limit: mostChanged })
    const fresh = attempts.filter(({ deliveryId, number }) => !seen.has(`${deliveryId}:${number}`))
    if (seen.size > mostRemembered) seen = new Set()
    for (const { deliveryId, number } of attempts) seen.add(`${deliveryId}:${number}`)
    const isCut = changes.deliveryIds.length === mostChanged || fresh.length === mostChanged
    const ids = [...new Set([...changes.deliveryIds, ...fresh.map(({ deliveryId }) => deliveryId)])]
    const [payments, deliveries] = isCut
      ? [[], []]
      : await Promise.all([store.console.paymentsById(changes.paymentIds), store.console.deliveriesById(ids)])
    marks = Promise.resolve(changes.marks)
    return { overview: await overview(), payments, deliveries, isCut }
  }

  function begin(): Promise<ConsoleMarks> {
    marks ??= store.console.marks().catch((error: unknown) => {
      marks = null
      throw error
    })
    return marks
  }

  async function run(): Promise<void> {
    isRunning = true
    for (let restMs = tickMs; ; ) {
      await sleep(restMs, undefined, { ref: false })
      if (listeners.size === 0) break
      const begun = performance.now()
      const result = await sample().catch((error: unknown) => {
        onError(error)
        return null
      })
      for (const listener of listeners) listener(result)
      restMs = Math.min(mostRestMs, Math.max(tickMs, restFactor * (performance.now() - begun)))
    }
    isRunning = false
    marks = null
  }

  return {
    overview,
    begun: async () => void (await begin()),
    subscribe(listener) {
      listeners.add(listener)
      begin().catch(() => undefined)
      if (!isRunning) void run()
      return () => void listeners.delete(listener)
    },
  }
}
