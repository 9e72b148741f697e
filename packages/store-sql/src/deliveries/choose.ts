/** Chooses the candidates that get a slot. See docs/decisions/fairness.md. @module */
import type { Candidate, Candidates } from './candidates.js'
import { type FreeSlots, inFlightFor, inFlightTo, isBelowLimit, limitOfLane, takeSlot } from './free-slots.js'

/** The chosen candidates. */
export interface Chosen {
  readonly chosen: readonly Candidate[]
  /** Whether another read may bring more candidates. */
  readonly hasMore: boolean
  /** Whether a candidate was left because its endpoint reached its limit. */
  readonly isLimitReached: boolean
}

/**
 * Fills the free slots lane by lane: least-loaded endpoint first, then its least-loaded integration, then its longest
 * due delivery.
 */
export function choose({ candidates, truncated, hasMore }: Candidates, slots: FreeSlots): Chosen {
  const chosen: Candidate[] = []
  let isLimitReached = false
  for (const lane of [0, 1, 2]) {
    const ofLane = candidates.filter((candidate) => candidate.lane === lane)
    const { turns, knownBelow } = inTurns(ofLane, truncated, slots)
    for (const { candidate, inFlight } of turns) {
      if (limitOfLane(slots, lane) === 0) break
      // An endpoint has deliveries that were not read: they may go before this one.
      if (inFlight >= knownBelow) return { chosen, hasMore: true, isLimitReached }
      // Turns are sorted by `inFlight` and free slots only fall, so no later turn is below the limit.
      if (!isBelowLimit(slots, inFlight)) {
        isLimitReached = true
        break
      }
      if (candidate.probe && slots.probed.has(candidate.integration)) continue
      takeSlot(slots, candidate)
      chosen.push(candidate)
    }
    if (limitOfLane(slots, lane) > 0 && isBelowLimit(slots, knownBelow))
      return { chosen, hasMore: true, isLimitReached }
  }
  return { chosen, hasMore, isLimitReached }
}

interface Turn {
  readonly candidate: Candidate
  /** POSTs in flight to its endpoint, or for its integration, when its turn comes. */
  readonly inFlight: number
}

/** Candidates of one lane in the order of their turns. From `knownBelow` POSTs in flight on, the order is not known. */
function inTurns(candidates: readonly Candidate[], truncated: ReadonlySet<string>, slots: FreeSlots) {
  const queues = new Map<string, Candidate[]>()
  for (const candidate of [...candidates].sort(byDue)) {
    const queue = queues.get(candidate.endpoint)
    if (queue === undefined) queues.set(candidate.endpoint, [candidate])
    else queue.push(candidate)
  }
  const turns: Turn[] = []
  let knownBelow = Number.POSITIVE_INFINITY
  for (const [endpoint, queue] of queues) {
    const inFlight = inFlightTo(slots, endpoint)
    const { ordered, knownTurns } = byIntegration(queue, truncated, slots)
    const known = inFlight + knownTurns
    // Turns beyond the limit of an endpoint need not be known.
    if (isBelowLimit(slots, known)) knownBelow = Math.min(knownBelow, known)
    ordered.forEach(({ candidate }, index) => {
      turns.push({ candidate, inFlight: inFlight + index })
    })
  }
  turns.sort((a, b) => a.inFlight - b.inFlight || byDue(a.candidate, b.candidate))
  return { turns, knownBelow }
}

/**
 * Orders the candidates of one endpoint by the turns of its integrations. Of equally loaded ones the next address after
 * the last served goes first. `knownTurns` counts the turns before an integration whose next delivery was not read.
 */
function byIntegration(queue: readonly Candidate[], truncated: ReadonlySet<string>, slots: FreeSlots) {
  const next = new Map<string, number>()
  const ordered: Turn[] = queue.map((candidate) => {
    const inFlight = next.get(candidate.integration) ?? inFlightFor(slots, candidate.integration)
    next.set(candidate.integration, inFlight + 1)
    return { candidate, inFlight }
  })
  const lastServed = slots.lastServed.get(queue[0]?.endpoint ?? '') ?? ''
  const roundAfterLast = ({ integration }: Candidate) => (integration > lastServed ? 0 : 1)
  ordered.sort(
    (a, b) =>
      a.inFlight - b.inFlight ||
      roundAfterLast(a.candidate) - roundAfterLast(b.candidate) ||
      (a.candidate.integration < b.candidate.integration ? -1 : 1),
  )
  let unread = Number.POSITIVE_INFINITY
  for (const { lane, integration, probe } of queue)
    if (!probe && truncated.has(`${lane} ${integration}`)) unread = Math.min(unread, next.get(integration) ?? 0)
  const knownTurns =
    unread === Number.POSITIVE_INFINITY ? unread : ordered.filter(({ inFlight }) => inFlight < unread).length
  return { ordered, knownTurns }
}

const byDue = (a: Candidate, b: Candidate): number => a.dueAt - b.dueAt || a.id - b.id
