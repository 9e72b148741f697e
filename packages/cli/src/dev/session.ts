/** Makes the payments of the demo, follows each to its end, and decides the exit code. @module */
import { setMaxListeners } from 'node:events'
import { startTimeLimit } from '@payment-integration/contract/internal-io'
import { getMessage } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { type PaymentPlan, planPayment, seededFraction } from './clients.js'
import type { Demo } from './demo.js'
import type { DemoSink } from './demo-events.js'
import type { EventOrder } from './printer.js'

interface SessionPlan {
  readonly everyMs: number
  /** Infinity: pay until the signal aborts. */
  readonly payments: number
  readonly seed: number
  /** Ends the wait for the next payment early. @default the wait never ends early */
  readonly nudge?: Nudge | undefined
}

export type Nudge = ReturnType<typeof createNudge>

/** `nudge` ends the current wait, or else the next one. The waiter calls `reset` after each wait on `signal`. */
export function createNudge() {
  let controller = new AbortController()
  return {
    nudge: () => controller.abort(),
    signal: (): AbortSignal => controller.signal,
    reset() {
      controller = new AbortController()
    },
  }
}

/** The most unfinished payments: a stuck service is not flooded. */
const maxUnfinished = 50
/** Milliseconds after which an unfinished payment is reported as a problem; most payments take two seconds. */
const journeyLimitMs = 60_000

/** Pays until the plan is done or `signal` aborts. Resolves when every payment is finished or the signal aborted. */
export async function runSession(
  demo: Demo,
  plan: SessionPlan,
  events: EventOrder,
  io: Pick<Io, 'now' | 'sleep'>,
  signal: AbortSignal,
) {
  // Each unfinished payment adds several listeners: Node would warn about a leak.
  setMaxListeners(0, signal)
  const fraction = seededFraction(plan.seed)
  const problems: string[] = []
  const journeys = new Set<Journey>()
  const running = new Set<Promise<void>>()
  let payments = 0
  let verified = 0

  function reportProblem(reason: string): void {
    problems.push(reason)
    events.report({ event: 'problem', reason })
  }

  async function follow(journey: Journey, paymentPlan: ReturnType<typeof planPayment>): Promise<void> {
    const limit = startTimeLimit(journeyLimitMs, signal)
    try {
      const reason = await completePlan(demo, journey, paymentPlan, events.report, io, limit.signal)
      if (reason === null && journey.waitsFor === null) {
        verified += 1
        if (verified === 1) events.report(demo.legacyExample(journey.txHash, paymentPlan))
      } else if (reason !== null) reportProblem(`Payment ${journey.number}: ${reason}`)
      else if (!signal.aborted) reportProblem(`${unfinishedText(journey)} after ${journeyLimitMs / 1000} s.`)
    } catch (error) {
      if (!signal.aborted) reportProblem(`Payment ${journey.number}: ${getMessage(error)}`)
    } finally {
      limit.end()
    }
    if (signal.aborted && journey.waitsFor !== null) return
    journeys.delete(journey)
    demo.tracker.forget(journey.txHash)
  }

  async function pause(): Promise<void> {
    const { everyMs, nudge } = plan
    await io.sleep(everyMs, nudge === undefined ? signal : AbortSignal.any([signal, nudge.signal()]))
    nudge?.reset()
  }

  for (let number = 1; number <= plan.payments && !signal.aborted; number += 1) {
    const paymentPlan = planPayment(number, fraction)
    const { memo, price } = paymentPlan
    const paid = `${paymentPlan.settlementAmount} ${demo.tokenSymbol}`
    try {
      const txHash = await events.first(
        () => demo.pay(paymentPlan),
        (hash) => ({ event: 'payment.sent', number, chainId: demo.chainId, txHash: hash, price, paid, memo }),
      )
      payments += 1
      const journey: Journey = { number, txHash, waitsFor: 'its start' }
      journeys.add(journey)
      const run: Promise<void> = follow(journey, paymentPlan).finally(() => running.delete(run))
      running.add(run)
    } catch (error) {
      if (!signal.aborted) reportProblem(`Payment ${number} could not be made: ${getMessage(error)}`)
    }
    if (running.size >= maxUnfinished) await Promise.race(running)
    if (number < plan.payments) await pause()
  }
  await Promise.all(running)
  // A sentence for each payment that was unfinished when the signal aborted.
  const sentences = [...journeys].map((journey) => `${unfinishedText(journey)}.`)
  return { payments, verified, problems, unfinished: sentences }
}

function unfinishedText({ number, waitsFor }: Journey): string {
  return `Payment ${number} still waits for ${waitsFor}`
}

interface Journey {
  readonly number: number
  readonly txHash: string
  /** The step that the payment waits for, such as `the delivery of version 3`. Null once the payment is finished. */
  waitsFor: string | null
}

/** Pause between two updates: long enough to show each version. */
const processorPauseMs = 400

/**
 * Moves a sent payment through its plan: processor updates, delivery of the last version, comparison of the API's
 * answer with the receiver's copy.
 * @returns The problem, or null when the payment is verified or `signal` aborted (then `journey.waitsFor` is not null).
 */
async function completePlan(
  { tracker, sendUpdate, compare, chainId }: Demo,
  journey: Journey,
  plan: PaymentPlan,
  report: DemoSink,
  io: Pick<Io, 'now' | 'sleep'>,
  signal: AbortSignal,
) {
  const { txHash } = journey
  const sentAt = io.now()
  journey.waitsFor = 'the indexer'
  if (!(await tracker.until(txHash, (progress) => progress.indexed, signal))) return null
  let version = 1
  for (const [position, update] of plan.updates.entries()) {
    journey.waitsFor = `the update to ${update.state}`
    await io.sleep(processorPauseMs, signal)
    if (signal.aborted) return null
    const id = `demo-${plan.number}-${position + 1}`
    version = (await sendUpdate({ id, chainId, txHash, ...update }, signal)) ?? version
  }
  journey.waitsFor = `the delivery of version ${version}`
  const arrived = await tracker.until(
    txHash,
    (progress) => progress.storedVersion >= version && progress.deliveredVersion >= version,
    signal,
  )
  if (!arrived) return null
  journey.waitsFor = 'the API'
  const { difference, state } = await compare(txHash, signal)
  if (difference !== null) return difference
  journey.waitsFor = null
  report({ event: 'payment.verified', number: plan.number, chainId, txHash, version, state, tookMs: io.now() - sentAt })
  return null
}

export type RunEnd =
  | { readonly kind: 'idle' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'deadline'; readonly limitMs: number }
  | { readonly kind: 'exited'; readonly reason: string }

/**
 * Decides the exit code and the printed reasons. With `untilIdle` the run fails unless every payment is verified.
 * Otherwise the run fails only when a part of the demo exited; problems are still listed.
 */
export function judge(
  ending: RunEnd,
  result: Awaited<ReturnType<typeof runSession>>,
  untilIdle: boolean,
): { readonly exitCode: ExitCode; readonly reasons: readonly string[] } {
  const exitReasons = ending.kind === 'exited' ? [ending.reason] : []
  if (!untilIdle) return { exitCode: ending.kind === 'exited' ? 1 : 0, reasons: [...result.problems, ...exitReasons] }
  const endReasons = {
    idle: [],
    interrupted: ['Interrupted before every payment was verified.'],
    deadline: [`The deadline of ${ending.kind === 'deadline' ? ending.limitMs / 1000 : 0} s passed.`],
    exited: exitReasons,
  }[ending.kind]
  const reasons = [...result.problems, ...endReasons, ...result.unfinished]
  return { exitCode: reasons.length > 0 ? 1 : 0, reasons }
}
