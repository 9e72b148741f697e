/** Writes down what attempts came to, many in one commit. Source: DESIGN section 2, flow 3; docs/decisions/fairness.md. @module */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StoreError } from '../errors.js'
import type { EventSink } from '../events.js'
import { backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import type { Store } from '../ports/store.js'
import type { EndpointJudge, Settled } from '../ports/store-deliveries.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import type { Attempted } from './attempt.js'
import { attemptEvents, endpointEvent } from './delivery-events.js'
import { judgeEndpoint } from './endpoint-health.js'
import { namedDelivery } from './named-delivery.js'

/** Most attempts in one commit. */
export const mostPerCommit = 256

/** The longest wait before a commit that failed is tried again, in milliseconds: well below a lease. */
const retryCapMs = 1_000

/** What a settler needs from outside. */
export interface SettlerDeps {
  readonly store: Pick<Store, 'deliveries'>
  readonly clock: Clock
  readonly random: Pick<Random, 'fraction'>
  /** Must not throw. */
  readonly publish: EventSink
  readonly logger: Logger
  /** Called after every commit, and when attempts were given up. */
  readonly onSettled: () => void
}

/** Settles attempts in groups. */
export interface Settler {
  /** Takes an attempt; it is written together with what else came while the last commit ran. */
  add(attempted: Attempted): void
  /** How many are not settled yet. */
  waiting(): number
  /** Resolves once nothing waits. Never rejects. */
  drained(): Promise<void>
}

/**
 * Builds a settler. A commit that fails is tried again while the leases of its claims last; what is not settled by then is dropped with a line
 * in the log, and its delivery comes back. Events are published after their commit, in the order in which attempts ended.
 */
export function createSettler(deps: SettlerDeps): Settler {
  const { store, clock, random, publish, logger, onSettled } = deps
  const waiting: Attempted[] = []
  let writer: Promise<void> | null = null

  /** Resolves what is still to be settled. */
  async function commit(group: readonly Attempted[]): Promise<readonly Attempted[]> {
    const fraction = random.fraction()
    const judge: EndpointJudge = (before, results) => judgeEndpoint(before, results, fraction)
    let settled: Settled
    try {
      settled = await store.deliveries.settle(group, judge)
    } catch (error) {
      // A store that is away takes all or none. Anything else may be the fault of one attempt, which must not hold up the others.
      const isAway = error instanceof StoreError
      if (!isAway && group.length > 1) {
        const left: Attempted[] = []
        for (const each of group) left.push(...(await commit([each])))
        return left
      }
      logger.error({ error: describeError(error), attempts: group.length }, 'attempts not settled; trying again')
      return group
    }
    for (const [index, attempted] of group.entries()) {
      const status = settled.statuses[index] ?? null
      if (status !== null) attemptEvents(attempted, status).forEach(publish)
      else logger.warn(namedDelivery(attempted.claim), 'claim lost before the attempt was settled')
    }
    for (const turn of settled.turned) publish(endpointEvent(turn))
    return []
  }

  function dropLapsed(): void {
    const now = clock.now()
    if (waiting.every(({ leaseEndsAt }) => leaseEndsAt > now)) return
    for (const attempted of waiting.splice(0)) {
      if (attempted.leaseEndsAt > now) waiting.push(attempted)
      else logger.error(namedDelivery(attempted.claim), 'attempt not settled within its lease; the delivery comes back')
    }
  }

  async function write(): Promise<void> {
    // Answers that arrived in one turn of the event loop go into one commit.
    await nextTurn()
    let failures = 0
    while (waiting.length > 0) {
      const group = waiting.slice(0, mostPerCommit)
      const left = await commit(group)
      waiting.splice(0, group.length, ...left)
      if (left.length === 0) failures = 0
      else {
        failures += 1
        await clock.sleep(Math.min(retryCapMs, backoffMs(failures, random.fraction())))
        dropLapsed()
      }
      onSettled()
    }
    writer = null
  }

  return {
    add(attempted) {
      waiting.push(attempted)
      writer ??= write()
    },
    waiting: () => waiting.length,
    async drained() {
      while (writer !== null) await writer
    },
  }
}
