/** Makes the demo's payments and follows each to its end. @module */
import type { Io } from '../io.js'
import type { Demo } from './demo.js'
import { type Journey, travel } from './journey.js'
import { planPayment } from './plan.js'
import { seededFraction } from './seeded.js'
import type { Stage } from './stage.js'

/** What a session is asked to do. */
export interface SessionPlan {
  readonly everyMs: number
  /** Infinity: until the signal. */
  readonly payments: number
  readonly seed: number
}

/** What came of it. */
export interface SessionResult {
  readonly payments: number
  readonly verified: number
  /** What went wrong, in the order in which it did. */
  readonly problems: readonly string[]
  /** Payments that were not at their end when the signal came, each in a sentence. */
  readonly unfinished: readonly string[]
}

/** Payments under way at once; a service that stands still is not flooded. */
const underWayLimit = 50
/** A journey longer than this counts as a problem; the usual one takes two seconds. */
const journeyLimitMs = 60_000

/** Pays until the plan is done or `signal` aborts, and resolves when every payment is at its end or the signal aborted. */
export async function runSession(
  demo: Demo,
  plan: SessionPlan,
  stage: Stage,
  io: Pick<Io, 'sleep'>,
  signal: AbortSignal,
): Promise<SessionResult> {
  const fraction = seededFraction(plan.seed)
  const problems: string[] = []
  const journeys = new Set<Journey>()
  const running = new Set<Promise<void>>()
  let payments = 0
  let verified = 0

  function problem(reason: string): void {
    problems.push(reason)
    stage.report({ event: 'problem', reason })
  }

  async function follow(journey: Journey, paymentPlan: ReturnType<typeof planPayment>): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(journeyLimitMs)])
    try {
      const reason = await travel(demo, journey, paymentPlan, stage.report, limited)
      if (reason === null && journey.waitsFor === null) {
        verified += 1
        if (verified === 1) stage.report(demo.legacyExample(journey.txHash, paymentPlan))
      } else if (reason !== null) problem(`Payment ${journey.number}: ${reason}`)
      else if (!signal.aborted) problem(`${unfinished(journey)} after ${journeyLimitMs / 1000} s.`)
    } catch (error) {
      if (!signal.aborted) problem(`Payment ${journey.number}: ${messageOf(error)}`)
    }
    if (signal.aborted && journey.waitsFor !== null) return
    journeys.delete(journey)
    demo.ledger.forget(journey.txHash)
  }

  for (let number = 1; number <= plan.payments && !signal.aborted; number += 1) {
    const paymentPlan = planPayment(number, fraction)
    const { memo, price } = paymentPlan
    const paid = `${paymentPlan.settlementAmount} ${demo.tokenSymbol}`
    try {
      const txHash = await stage.first(
        () => demo.pay(paymentPlan),
        (hash) => ({ event: 'payment.sent', number, chainId: demo.chainId, txHash: hash, price, paid, memo }),
      )
      payments += 1
      const journey: Journey = { number, txHash, waitsFor: 'its start' }
      journeys.add(journey)
      const run: Promise<void> = follow(journey, paymentPlan).finally(() => running.delete(run))
      running.add(run)
    } catch (error) {
      if (!signal.aborted) problem(`Payment ${number} could not be made: ${messageOf(error)}`)
    }
    if (running.size >= underWayLimit) await Promise.race(running)
    if (number < plan.payments) await io.sleep(plan.everyMs, signal)
  }
  await Promise.all(running)
  return { payments, verified, problems, unfinished: [...journeys].map((journey) => `${unfinished(journey)}.`) }
}

function unfinished({ number, waitsFor }: Journey): string {
  return `Payment ${number} still waits for ${waitsFor}`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
