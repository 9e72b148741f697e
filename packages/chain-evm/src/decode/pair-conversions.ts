/** Pairs payments with their conversions and calls. Source: docs/decisions/router.md. @module */
import { hashHex } from '../proof/keccak.js'
import type { TransactionFacts } from '../rpc/answers.js'
import type { CalledFeed, ConversionStep, DecodedConversion, DecodedPayment, RouterCall } from './router-decoder.js'

// A router emits a conversion before its payment. So a payment's conversions are those that its router emitted since
// that router's previous payment.
//
// Some routers let anybody emit a conversion event. There, an event proves a conversion only in a transaction that
// calls the router directly. The proving event is the router's first in the transaction, because no foreign code has
// run yet, and it names the feeds of the calldata. A malformed conversion event keeps its position, so that a forged
// event after it does not count as the first.

export interface Emitted<Event = DecodedPayment | DecodedConversion> {
  readonly router: string
  readonly event: Event
}

/** A call sent directly to a router, and the payment it made. */
export interface DirectPayment {
  readonly router: string
  readonly call: RouterCall
  readonly payment: DecodedPayment
}

/**
 * A step of a payment's conversion. `codeHex`: the currency code in the calldata of a direct call, for a rate from
 * outside the chain; otherwise null.
 */
export type PaidStep = ConversionStep & { readonly codeHex: string | null }

/** The conversion of a payment; no steps mean no conversion. */
export interface PaidConversion {
  readonly steps: readonly PaidStep[]
  /**
   * Evidence that the router converted with these rates. `router`: it emits only real conversions. `call`: the event
   * fits the direct call. `nothing`: anybody may have caused the event.
   */
  readonly provedBy: 'router' | 'call' | 'nothing'
}

export const noConversion: PaidConversion = { steps: [], provedBy: 'router' }

/** Pairs the payments of one transaction with its conversions. @param emitted - All events, in log order. */
export function pairConversions(
  emitted: readonly Emitted[],
  direct: DirectPayment | null,
): ReadonlyMap<DecodedPayment, PaidConversion> {
  const pairs = new Map<DecodedPayment, PaidConversion>()
  const called = direct === null ? null : findCalledConversion(direct, emitted)
  if (direct !== null && called !== null) pairs.set(direct.payment, called.conversion)
  const unpaired = new Map<string, DecodedConversion[]>()
  for (const { router, event } of emitted) {
    if (event.kind === 'payment') {
      if (!pairs.has(event)) pairs.set(event, toPrecedingConversion(unpaired.get(router) ?? []))
      unpaired.delete(router)
    } else if (!called?.used.includes(event)) {
      // A payment has at most two conversion events.
      unpaired.set(router, [...(unpaired.get(router) ?? []).slice(-1), event])
    }
  }
  return pairs
}

function toPrecedingConversion(preceding: readonly DecodedConversion[]): PaidConversion {
  const last = preceding.at(-1)
  if (last === undefined) return noConversion
  const steps = joinSplitConversion(preceding.slice(-2)) ?? last.steps
  return { steps: steps.map((step) => ({ ...step, codeHex: null })), provedBy: last.isForgeable ? 'nothing' : 'router' }
}

/** Joins two events, each with one feed of unknown use: the first multiplies, the second divides. Else null. */
function joinSplitConversion(events: readonly DecodedConversion[]): ConversionStep[] | null {
  const steps = events.flatMap((event) => event.steps)
  const [first, second] = steps
  if (events.length !== 2 || steps.length !== 2 || first?.use !== 'unknown' || second?.use !== 'unknown') return null
  return [
    { ...first, use: 'multiply' },
    { ...second, use: 'divide' },
  ]
}

/** Finds the conversion of a direct call and its events; null when no event fits the call. */
function findCalledConversion(
  { router, call }: DirectPayment,
  emitted: readonly Emitted[],
): { readonly conversion: PaidConversion; readonly used: readonly unknown[] } | null {
  if (call.feeds === null) return null
  const [multiplier, divisor] = call.feeds
  const calledFeeds: { readonly use: 'multiply' | 'divide'; readonly feed: CalledFeed }[] = []
  if (multiplier !== null) calledFeeds.push({ use: 'multiply', feed: multiplier })
  if (divisor !== null) calledFeeds.push({ use: 'divide', feed: divisor })
  if (calledFeeds.length === 0) return { conversion: noConversion, used: [] }
  const events = emitted.flatMap(({ router: emitter, event }) =>
    emitter === router && event.kind === 'conversion' ? [event] : [],
  )
  // An event of version 0.2 names one feed; it is not documented whether a second feed has a second event.
  for (const used of [events.slice(0, 1), events.slice(0, 2)]) {
    const steps = used.flatMap((event) => event.steps)
    if (steps.length !== calledFeeds.length || (used.length === 2 && joinSplitConversion(used) === null)) continue
    const paidSteps = calledFeeds.flatMap(({ use, feed }, index) => {
      const step = steps[index]
      const fits = step !== undefined && (step.use === use || step.use === 'unknown') && matchesFeed(step, feed)
      return fits ? [{ ...step, use, codeHex: feed.contract === null ? feed.codeHex : null }] : []
    })
    const provedBy = used.some(({ isForgeable }) => isForgeable) ? 'call' : 'router'
    if (paidSteps.length === calledFeeds.length) return { conversion: { steps: paidSteps, provedBy }, used }
  }
  return null
}

function matchesFeed({ contract, codeHash, rate }: ConversionStep, feed: CalledFeed): boolean {
  if (feed.contract !== null) return contract === feed.contract
  return contract === null && rate === feed.rate && codeHash === hashHex(feed.codeHex)
}

/**
 * Finds the payment with the sender, receiver, token and memo of the call; null when none or several fit. If the call
 * has no sender argument, the sender of the transaction counts.
 */
export function findCalledPayment(
  { from, to }: TransactionFacts,
  call: RouterCall,
  payments: readonly Emitted<DecodedPayment>[],
): DirectPayment | null {
  const [only, ...others] = payments.filter(
    ({ router, event }) =>
      router === to &&
      event.sender === (call.sender ?? from) &&
      event.receiver === call.receiver &&
      event.memoHex === call.memoHex &&
      (call.token === null || event.token === call.token),
  )
  return only === undefined || others.length > 0 ? null : { router: only.router, call, payment: only.event }
}
