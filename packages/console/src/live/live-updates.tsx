/** Turns samples into numbered events for all open pages; keeps recent ones for resumption. @module */
import type { DeliveryView } from '@payment-integration/core/internal'
import type { StoredPayment } from '@payment-integration/core/ports'
import { ChainRows } from '../pages/chains.js'
import { Problems, Tiles } from '../pages/overview.js'
import { TableRow } from '../view/parts.js'
import { deliveryRows, paymentRows } from '../view/rows.js'
import { chartData, narrowOverview, type Overview } from './overview.js'
import type { Sample, Sampler } from './sampler.js'

export type LiveEvent =
  | { readonly kind: 'payment'; readonly payment: StoredPayment; readonly html: string }
  | { readonly kind: 'delivery'; readonly delivery: DeliveryView; readonly html: string }
  /** JSON by topic, written once for all pages: the overview of each range, and the part with the chains. */
  | { readonly kind: 'overview'; readonly json: Readonly<Record<'15m' | '1h' | 'chains', string>> }
  /** Whether the database fails to answer: pages then show that they are not live. */
  | { readonly kind: 'failing'; readonly isFailing: boolean }
  /** Changes are missing: the page must be loaded again. */
  | { readonly kind: 'reset' }

export interface NumberedEvent {
  /** `<start of this process>.<number>`. */
  readonly id: string
  readonly event: LiveEvent
}

export type LiveUpdates = ReturnType<typeof createLiveUpdates>

const maxRecent = 250
/** How long the updates go on after the last page has left, so that a page may connect or resume, in milliseconds. */
const graceMs = 10_000

/** Builds the live updates. `start` identifies this process, because a page may reconnect to another one. */
export function createLiveUpdates(sampler: Sampler, start: number) {
  const listeners = new Set<(numbered: NumberedEvent) => void>()
  let recent: (NumberedEvent & { readonly number: number })[] = []
  /** `recent` holds all events about rows after this number. */
  let recentAfter = 0
  let number = 0
  let unsubscribe: (() => void) | null = null
  let stopTimer: ReturnType<typeof setTimeout> | null = null
  let isFailing = false
  let isClosed = false

  function publish(event: LiveEvent): void {
    number += 1
    const numbered = { id: `${start}.${number}`, number, event }
    if (event.kind !== 'overview' && event.kind !== 'failing') recent.push(numbered)
    if (recent.length > maxRecent) recentAfter = recent.shift()?.number ?? recentAfter
    for (const listener of listeners) listener(numbered)
  }

  function onSample(sample: Sample | null): void {
    if (isFailing !== (sample === null)) {
      isFailing = sample === null
      publish({ kind: 'failing', isFailing })
    }
    if (sample === null) return
    if (sample.needsReload) publish({ kind: 'reset' })
    const { overview } = sample
    const { at: now, endpoints } = overview
    for (const payment of sample.payments)
      publish({ kind: 'payment', payment, html: (<TableRow row={payment} {...paymentRows} />).toString() })
    const rowProps = deliveryRows({ now, endpoints })
    for (const delivery of sample.deliveries)
      publish({ kind: 'delivery', delivery, html: (<TableRow row={delivery} {...rowProps} />).toString() })
    const chains = (<ChainRows chains={overview.chains} />).toString()
    const toJson = (one: Overview) => {
      const [problems, tiles] = [(<Problems overview={one} />).toString(), (<Tiles overview={one} />).toString()]
      return JSON.stringify({ parts: { problems, tiles, chains }, charts: chartData(one) })
    }
    const json = { '15m': toJson(narrowOverview(overview)), '1h': toJson(overview) }
    publish({ kind: 'overview', json: { ...json, chains: JSON.stringify({ parts: { chains } }) } })
  }

  function stopSampling(): void {
    stopTimer = null
    unsubscribe?.()
    unsubscribe = null
    isFailing = false
    recent = []
    number += 1
    recentAfter = number
  }

  /** Finds the events after an id; null: some are no longer kept. */
  function findMissed(after: string): NumberedEvent[] | null {
    const [process, text = ''] = after.split('.')
    const last = /^\d{1,15}$/.test(text) ? Number(text) : -1
    if (process !== String(start) || last < recentAfter || last > number) return null
    return recent.filter((each) => each.number > last)
  }

  function stopLater(): void {
    if (stopTimer !== null) clearTimeout(stopTimer)
    stopTimer = setTimeout(stopSampling, graceMs)
    stopTimer.unref?.()
  }

  return {
    /** Returns an id for a page that is read after this call: the page follows the events after that id. */
    async position() {
      if (isClosed) return `${start}.${number}`
      unsubscribe ??= sampler.subscribe(onSample)
      if (listeners.size === 0) stopLater()
      await sampler.waitForBaseline()
      return `${start}.${number}`
    },
    /**
     * Calls the listener with each event; returns the function that stops it.
     * @param after - The id of the last event that the page has. Missed events about rows come first, or one `reset`;
     * then an event that reports whether the database answers.
     */
    follow(after: string | null, listener: (numbered: NumberedEvent) => void): () => void {
      if (isClosed) return () => undefined
      if (stopTimer !== null) clearTimeout(stopTimer)
      stopTimer = null
      const missed = after === null ? [] : findMissed(after)
      const id = `${start}.${number}`
      for (const each of missed ?? [{ id, event: { kind: 'reset' } as const }]) listener(each)
      listener({ id, event: { kind: 'failing', isFailing } })
      listeners.add(listener)
      unsubscribe ??= sampler.subscribe(onSample)
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stopLater()
      }
    },
    close() {
      isClosed = true
      if (stopTimer !== null) clearTimeout(stopTimer)
      stopSampling()
    },
  }
}
