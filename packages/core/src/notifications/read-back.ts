/** Tells what became of settled attempts, also of those whose commit was never answered. Source: docs/decisions/fairness.md. @module */
import type { EventSink } from '../events.js'
import { describeError } from '../internal/describe-error.js'
import type { Store } from '../ports/store.js'
import type { AttemptRecord, DeliveryStatus, EndpointTurn, Settled } from '../ports/store-deliveries.js'
import type { Clock, Logger } from '../ports/world.js'
import type { Attempted } from './attempt.js'
import { attemptEvents, endpointEvent } from './delivery-events.js'
import { namedDelivery } from './named-delivery.js'

/** What telling needs from outside. */
export interface ReadBackDeps {
  readonly store: Pick<Store, 'deliveries'>
  readonly clock: Pick<Clock, 'now'>
  /** Must not throw. */
  readonly publish: EventSink
  readonly logger: Logger
}

/** Tells what became of attempts. */
export interface ReadBack {
  /** Takes note that a settle of them was not answered, or refused: it may have been committed all the same. */
  failed(group: readonly Attempted[]): void
  /** Publishes the events of a group. Resolves what is to be settled again. Rejects with the store's error when it cannot be read. */
  settled(group: readonly Attempted[], settled: Settled): Promise<readonly Attempted[]>
}

/**
 * Builds it. When a claim is gone whose settle failed before, the log of attempts tells whether that settle was committed; then its events
 * are published as if it had been answered, those of its endpoint included.
 */
export function createReadBack({ store, clock, publish, logger }: ReadBackDeps): ReadBack {
  const unanswered = new WeakSet<Attempted>()
  /** Blocked endpoints that were told of, with the time since when they fail. */
  const blocked = new Map<string, number>()

  function tellTurn(turn: EndpointTurn): void {
    if (turn.blocked) blocked.set(turn.integrationAddress, clock.now() - turn.failingMs)
    else blocked.delete(turn.integrationAddress)
    publish(endpointEvent(turn))
  }

  function tell(attempted: Attempted, outcome: DeliveryStatus): void {
    for (const event of attemptEvents(attempted, outcome)) publish(event)
  }

  /** Where a delivery stands after an attempt that is in the log, else null. */
  async function loggedOutcome({ claim, rejected, attempt, verdict }: Attempted): Promise<DeliveryStatus | null> {
    const view = await store.deliveries.find(claim.deliveryId)
    const logged = view?.attempts[claim.attempt - 1 + (rejected === null ? 0 : 1)]
    if (view === null || logged === undefined || !isSame(logged, attempt)) return null
    if (verdict.kind !== 'retry') return verdict.kind
    return view.status === 'superseded' ? 'superseded' : 'pending'
  }

  /** Tells of endpoints that began or ceased to be blocked by a commit that was not answered. */
  async function compareEndpoints(addresses: ReadonlySet<string>): Promise<void> {
    const views = new Map((await store.deliveries.endpoints()).map((view) => [view.integrationAddress, view]))
    for (const integrationAddress of addresses) {
      const view = views.get(integrationAddress)
      const isBlocked = (view?.blocks ?? 0) > 0
      const since = blocked.get(integrationAddress)
      if (isBlocked === (since !== undefined)) continue
      const failingMs = Math.max(0, clock.now() - (since ?? view?.failingSince ?? clock.now()))
      tellTurn({ integrationAddress, blocked: isBlocked, failingMs })
    }
  }

  return {
    failed(group) {
      for (const attempted of group) unanswered.add(attempted)
    },
    async settled(group, { statuses, turned }) {
      const left: Attempted[] = []
      const committed: Attempted[] = []
      for (const [index, attempted] of group.entries()) {
        const status = statuses[index] ?? null
        if (status === 'held') left.push(attempted)
        else if (status !== null) tell(attempted, status)
        else committed.push(attempted)
      }
      for (const turn of turned) tellTurn(turn)
      const judged = new Set<string>()
      for (const attempted of committed)
        try {
          const outcome = unanswered.has(attempted) ? await loggedOutcome(attempted) : null
          if (outcome === null) logger.warn(namedDelivery(attempted.claim), 'claim lost before the attempt was settled')
          else {
            tell(attempted, outcome)
            if (attempted.judged) judged.add(attempted.claim.integrationAddress)
          }
        } catch (error) {
          // Settling it again answers the same.
          logger.error({ error: describeError(error), attempts: 1 }, 'attempts not read back; trying again')
          left.push(attempted)
        }
      if (judged.size > 0)
        await compareEndpoints(judged).catch((error: unknown) => {
          logger.error({ error: describeError(error) }, 'endpoints not read back')
        })
      return left
    },
  }
}

function isSame(logged: AttemptRecord, made: AttemptRecord): boolean {
  const { startedAt, latencyMs, status, reason } = made
  return (
    logged.startedAt === startedAt &&
    logged.latencyMs === latencyMs &&
    logged.status === status &&
    logged.reason === reason
  )
}
