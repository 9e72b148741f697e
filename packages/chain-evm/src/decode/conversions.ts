/** Pairs payments with their conversions and calls. Source: docs/decisions/router.md. @module */
import { hashHex } from '../proof/keccak.js'
import type { TransactionFacts } from '../rpc/answers.js'
import type { CalledFeed, ConversionStep, DecodedConversion, DecodedPayment, RouterCall } from './router-decoder.js'

// Pairs payments with their conversions. Source: docs/decisions/router.md.
//
// A router emits a conversion before its payment. So a payment has the conversions that its router emitted in the
// transaction since the previous payment. A conversion without a later payment belongs to none.
//
// Some routers let anybody emit a conversion: a payer's contract may emit its own rate and then pay without one. For
// those, only a call sent straight to the router proves a conversion. The router emits it before it calls foreign code,
// so it is the transaction's first. It repeats the feeds of the calldata. An unreadable conversion keeps its position;
// otherwise a forged one behind it would come first.

/** An event with the router that emitted it. */
export interface Emitted<Event = DecodedPayment | DecodedConversion> {
  readonly router: string
  readonly event: Event
}

/** The call that a transaction sent straight to a router, and the payment it made. */
export interface DirectPayment {
  readonly router: string
  readonly call: RouterCall
  readonly payment: DecodedPayment
}

/** A step with the code that the calldata named for it, as hex; null when it named none. */
export type PaidStep = ConversionStep & { readonly codeHex: string | null }

/** The conversion of a payment; without steps there was none. */
export interface PaidConversion {
  readonly steps: readonly PaidStep[]
  /**
   * Evidence that the router converted with these rates. `router`: only its own conversions are emitted. `call`: it is
   * the first after a direct call and has the feeds of the calldata. `nothing`: anybody may have caused the event.
   */
  readonly provedBy: 'router' | 'call' | 'nothing'
}

/** The conversion of a payment without one. */
export const noConversion: PaidConversion = { steps: [], provedBy: 'router' }

/** Pairs the payments of one transaction with its conversions. @param emitted - All events, by log index. */
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
      if (!pairs.has(event)) pairs.set(event, toNearestConversion(unpaired.get(router) ?? []))
      unpaired.delete(router)
    } else if (!called?.used.includes(event)) {
      // No more than two belong to a payment.
      unpaired.set(router, [...(unpaired.get(router) ?? []).slice(-1), event])
    }
  }
  return pairs
}

function toNearestConversion(open: readonly DecodedConversion[]): PaidConversion {
  const last = open.at(-1)
  if (last === undefined) return noConversion
  const steps = joinSteps(open.slice(-2)) ?? last.steps
  return { steps: steps.map((step) => ({ ...step, codeHex: null })), provedBy: last.isForgeable ? 'nothing' : 'router' }
}

/** Two events of one feed each, neither of which says how it was used, are the two steps of one conversion. */
function joinSteps(events: readonly DecodedConversion[]): ConversionStep[] | null {
  const steps = events.flatMap((event) => event.steps)
  const [first, second] = steps
  if (events.length !== 2 || steps.length !== 2 || first?.use !== 'unsaid' || second?.use !== 'unsaid') return null
  return [
    { ...first, use: 'multiply' },
    { ...second, use: 'divide' },
  ]
}

/** The conversion of the payment that a direct call made, and the events it came in; null when none fits the call. */
function findCalledConversion(
  { router, call }: DirectPayment,
  emitted: readonly Emitted[],
): { readonly conversion: PaidConversion; readonly used: readonly unknown[] } | null {
  if (call.feeds === null) return null
  const [multiplier, divisor] = call.feeds
  const calledFeeds = [
    ...(multiplier === null ? [] : [{ use: 'multiply' as const, feed: multiplier }]),
    ...(divisor === null ? [] : [{ use: 'divide' as const, feed: divisor }]),
  ]
  if (calledFeeds.length === 0) return { conversion: noConversion, used: [] }
  const own = emitted.flatMap(({ router: by, event }) => (by === router && event.kind === 'conversion' ? [event] : []))
  // Version 0.2 names one feed in an event; whether it has a second event for a second feed is on no public record.
  for (const used of [own.slice(0, 1), own.slice(0, 2)]) {
    const steps = used.flatMap((event) => event.steps)
    if (steps.length !== calledFeeds.length || (used.length === 2 && joinSteps(used) === null)) continue
    const paid = calledFeeds.flatMap(({ use, feed }, index) => {
      const step = steps[index]
      const fits = step !== undefined && (step.use === use || step.use === 'unsaid') && matchesFeed(step, feed)
      return fits ? [{ ...step, use, codeHex: feed.contract === null ? feed.codeHex : null }] : []
    })
    const provedBy = used.some(({ isForgeable: forgeable }) => forgeable) ? 'call' : 'router'
    if (paid.length === calledFeeds.length) return { conversion: { steps: paid, provedBy: provedBy }, used }
  }
  return null
}

function matchesFeed({ contract, codeHash, rate }: ConversionStep, feed: CalledFeed): boolean {
  if (feed.contract !== null) return contract === feed.contract
  return contract === null && rate === feed.rate && codeHash === hashHex(feed.codeHex)
}

/**
 * Finds the payment whose sender, receiver, token and memo are the arguments of the call. A call without a sender
 * argument has the transaction's.
 * @returns Null when none or several fit.
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
