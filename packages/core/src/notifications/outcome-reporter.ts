/** Publishes the outcomes of settled attempts, also if an answer was lost. See docs/decisions/retries.md. @module */
import type { EventSink } from '../events.js'
import { describeError } from '../internal/values.js'
import type { Clock, Logger } from '../ports/runtime.js'
import type { Store } from '../ports/store.js'
import { pickDeliveryFields, type RecordedAttempt } from './attempt.js'
import type { AttemptRecord, EndpointTransition, SettledStatus, SettleResult } from './delivery-store.js'

export interface OutcomeReporterDeps {
  readonly store: Pick<Store, 'deliveries'>
  readonly clock: Pick<Clock, 'now'>
  /** Must not throw. */
  readonly publish: EventSink
  readonly logger: Logger
}

/**
 * Builds a reporter. When a lease is lost after an unanswered settle, the attempt log shows whether the settle was
 * committed. If so, its events are published now, with those of its endpoint.
 */
export function createOutcomeReporter({ store, clock, publish, logger }: OutcomeReporterDeps) {
  const unanswered = new WeakSet<RecordedAttempt>()
  /** Endpoints whose block was published, with the time of their first failure. */
  const blockedSince = new Map<string, number>()

  function publishTransition({ blockedUntil, failures, ...fields }: EndpointTransition): void {
    const { integrationAddress, failingMs } = fields
    if (blockedUntil === null) blockedSince.delete(integrationAddress)
    else blockedSince.set(integrationAddress, clock.now() - failingMs)
    if (blockedUntil === null) publish({ type: 'endpoint.recovered', ...fields })
    else publish({ type: 'endpoint.failing', ...fields, failures, blockedUntil })
  }

  /** Publishes the event of the rejected attempt, if any, then those of the settled attempt. */
  function publishAttempt(attempted: RecordedAttempt, outcome: SettledStatus): void {
    const { claim, rejected, attempt, verdict, publishedMs } = attempted
    const { attempt: number, ...delivery } = pickDeliveryFields(claim)
    const type = 'delivery.attempted'
    const pick = ({ status, reason, latencyMs, replay }: AttemptRecord) => ({ status, reason, latencyMs, replay })
    if (rejected !== null) {
      const after = { outcome: 'pending', publishedMs: null, retryInMs: 0 } as const
      publish({ type, ...delivery, attempt: number, ...pick(rejected), ...after })
    }
    publish({
      type,
      ...delivery,
      attempt: rejected === null ? number : number + 1,
      ...pick(attempt),
      outcome,
      publishedMs: outcome === 'delivered' && !attempt.replay ? publishedMs : null,
      retryInMs: outcome === 'pending' && verdict.kind === 'retry' ? verdict.inMs : null,
    })
    if (outcome === 'exhausted') publish({ type: 'delivery.exhausted', ...delivery, reason: attempt.reason })
  }

  /** The delivery's status after an attempt that is in the log, else null. */
  async function findLoggedOutcome(attempted: RecordedAttempt): Promise<SettledStatus | null> {
    const { claim, rejected, attempt, verdict } = attempted
    const view = await store.deliveries.find(claim.deliveryId)
    const logged = view?.attempts[claim.attempt - 1 + (rejected === null ? 0 : 1)]
    const fields = ['startedAt', 'latencyMs', 'status', 'reason'] as const
    if (view === null || !fields.every((field) => logged?.[field] === attempt[field])) return null
    if (verdict.kind !== 'retry') return verdict.kind
    return view.status === 'superseded' ? 'superseded' : 'pending'
  }

  /** Publishes the blocks that began or ended in an unanswered commit. */
  async function compareEndpoints(addresses: ReadonlySet<string>): Promise<void> {
    for (const integrationAddress of addresses) {
      const view = await store.deliveries.endpoint(integrationAddress)
      const blockedUntil = (view?.blocks ?? 0) > 0 ? (view?.blockedUntil ?? null) : null
      const since = blockedSince.get(integrationAddress)
      if ((blockedUntil !== null) === (since !== undefined)) continue
      const failingMs = Math.max(0, clock.now() - (since ?? view?.failingSince ?? clock.now()))
      publishTransition({ integrationAddress, failures: view?.failures ?? 0, blockedUntil, failingMs })
    }
  }

  /** Publishes attempts with a lost lease that are in the log. Resolves those that could not be read. */
  async function reportLost(lost: readonly RecordedAttempt[]): Promise<readonly RecordedAttempt[]> {
    const unread: RecordedAttempt[] = []
    const endpoints = new Set<string>()
    for (const attempted of lost)
      try {
        const outcome = unanswered.has(attempted) ? await findLoggedOutcome(attempted) : null
        if (outcome === null)
          logger.warn(pickDeliveryFields(attempted.claim), 'lease lost before the attempt was settled')
        else {
          publishAttempt(attempted, outcome)
          if (attempted.countsForHealth) endpoints.add(attempted.claim.integrationAddress)
        }
      } catch (error) {
        logger.error({ error: describeError(error), attempts: 1 }, 'attempts not read back; trying again')
        unread.push(attempted)
      }
    if (endpoints.size > 0)
      await compareEndpoints(endpoints).catch((error: unknown) => {
        logger.error({ error: describeError(error) }, 'endpoints not read back')
      })
    return unread
  }

  return {
    /** Notes that a settle failed or was not answered; it may have been committed. */
    noteUnanswered(group: readonly RecordedAttempt[]): void {
      for (const attempted of group) unanswered.add(attempted)
    },
    /** Publishes the events of a settled group. Resolves the attempts that must be settled again. */
    async report(
      group: readonly RecordedAttempt[],
      { statuses, transitions }: SettleResult,
    ): Promise<RecordedAttempt[]> {
      const locked: RecordedAttempt[] = []
      const lost: RecordedAttempt[] = []
      for (const [index, attempted] of group.entries()) {
        const status = statuses[index] ?? null
        if (status === 'locked') locked.push(attempted)
        else if (status !== null) publishAttempt(attempted, status)
        else lost.push(attempted)
      }
      for (const transition of transitions) publishTransition(transition)
      return [...locked, ...(await reportLost(lost))]
    },
  }
}
