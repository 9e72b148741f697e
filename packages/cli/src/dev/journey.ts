/** One demo payment from its transaction to the proof that both sides agree. @module */

import type { DemoParts } from './demo.js'
import type { DemoSink } from './demo-events.js'
import type { PaymentPlan } from './plan.js'

/** A journey under way: what it is waiting for, in words that end a sentence. */
export interface Journey {
  readonly number: number
  readonly txHash: string
  /** For example `the delivery of version 3`. Null once it is done. */
  waitsFor: string | null
}

/** Pause of the processor between its updates: long enough for each version to be seen, short enough to watch. */
const processorPauseMs = 400

/**
 * Moves a sent payment through its plan and checks the end: the processor's updates, the delivery of the last version, the
 * receiver's copy, the API's answer.
 * @returns Why it went wrong, or null when it is verified or `signal` aborted (then `journey.waitsFor` is not null).
 */
export async function travel(
  parts: DemoParts,
  journey: Journey,
  plan: PaymentPlan,
  report: DemoSink,
  signal: AbortSignal,
): Promise<string | null> {
  const { ledger, processor, reader, chainId, io } = parts
  const { txHash } = journey
  const sentAt = io.now()
  journey.waitsFor = 'the indexer'
  if (!(await ledger.until(txHash, (seen) => seen.indexed, signal))) return null
  let version = 1
  for (const [position, update] of plan.updates.entries()) {
    journey.waitsFor = `the update to ${update.state}`
    await io.sleep(processorPauseMs, signal)
    if (signal.aborted) return null
    const id = `demo-${plan.number}-${position + 1}`
    version = (await processor.send({ id, chainId, txHash, ...update }, signal)) ?? version
  }
  journey.waitsFor = `the delivery of version ${version}`
  const arrived = await ledger.until(
    txHash,
    (seen) => seen.storedVersion >= version && seen.deliveredVersion >= version,
    signal,
  )
  if (!arrived) return null
  journey.waitsFor = 'the API'
  const { difference, state } = await reader.compare(txHash, signal)
  if (difference !== null) return difference
  journey.waitsFor = null
  report({ event: 'payment.verified', number: plan.number, chainId, txHash, version, state, tookMs: io.now() - sentAt })
  return null
}
