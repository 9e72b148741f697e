/** Which candidates a claim takes. Source: docs/decisions/fairness.md. @module */
import type { Candidate } from './candidate.js'
import type { Candidates } from './candidates.js'
import { hold, holds, holdsOf, mayHold, type Room, roomFor } from './room.js'

/** What was taken. */
export interface Taken {
  readonly taken: readonly Candidate[]
  /** Whether another look may bring more. */
  readonly more: boolean
  /** Whether something was left because its endpoint holds all it may. */
  readonly bound: boolean
}

/**
 * Takes what there is room for, lane by lane: of each the endpoint of which the fewest are held goes first, and there the integration of which the
 * fewest are, with its longest due. Counts what it takes as held.
 */
export function take({ candidates, truncated, cut }: Candidates, room: Room): Taken {
  const taken: Candidate[] = []
  let bound = false
  for (const lane of [0, 1, 2]) {
    const own = candidates.filter((candidate) => candidate.lane === lane)
    const { rows, end } = inTurns(own, truncated, room)
    for (const { candidate, level } of rows) {
      if (roomFor(room, lane) === 0) break
      // Where an endpoint has more than was read, nobody may be served beyond it before those are known.
      if (level >= end) return { taken, more: true, bound }
      // The levels only rise, and what is free only falls.
      if (!mayHold(room, level)) {
        bound = true
        break
      }
      if (candidate.probe && room.probed.has(candidate.integration)) continue
      hold(room, candidate)
      taken.push(candidate)
    }
    if (roomFor(room, lane) > 0 && mayHold(room, end)) return { taken, more: true, bound }
  }
  return { taken, more: cut, bound }
}

interface Turn {
  readonly candidate: Candidate
  /** How many of its endpoint, or of its integration, are held when its turn comes. */
  readonly level: number
}

/** Candidates of one lane in the order of their turns, and the level from which on the order is not known. */
function inTurns(candidates: readonly Candidate[], truncated: ReadonlySet<string>, room: Room) {
  const queues = new Map<string, Candidate[]>()
  for (const candidate of [...candidates].sort(byDue)) {
    const queue = queues.get(candidate.endpoint)
    if (queue === undefined) queues.set(candidate.endpoint, [candidate])
    else queue.push(candidate)
  }
  const rows: Turn[] = []
  let end = Number.POSITIVE_INFINITY
  for (const [endpoint, queue] of queues) {
    const base = holds(room, endpoint)
    const { turns, knownTurns } = byIntegration(queue, truncated, room)
    const known = base + knownTurns
    // What is beyond the bound of an endpoint need not be known.
    if (mayHold(room, known)) end = Math.min(end, known)
    turns.forEach(({ candidate }, index) => {
      rows.push({ candidate, level: base + index })
    })
  }
  rows.sort((a, b) => a.level - b.level || byDue(a.candidate, b.candidate))
  return { rows, end }
}

/**
 * What waits for one endpoint in the order of its integrations' turns, and how many of the first of it are known to be the first: those
 * before the turn of an integration whose next delivery was not read. Of integrations with equally few the one that follows the last
 * served goes first, by address: how long something has been due counts within an integration alone.
 */
function byIntegration(queue: readonly Candidate[], truncated: ReadonlySet<string>, room: Room) {
  const next = new Map<string, number>()
  const turns: Turn[] = queue.map((candidate) => {
    const level = next.get(candidate.integration) ?? holdsOf(room, candidate.integration)
    next.set(candidate.integration, level + 1)
    return { candidate, level }
  })
  const served = room.served.get(queue[0]?.endpoint ?? '') ?? ''
  const waits = ({ integration }: Candidate) => (integration > served ? 0 : 1)
  turns.sort(
    (a, b) =>
      a.level - b.level ||
      waits(a.candidate) - waits(b.candidate) ||
      (a.candidate.integration < b.candidate.integration ? -1 : 1),
  )
  let unread = Number.POSITIVE_INFINITY
  for (const { lane, integration, probe } of queue)
    if (!probe && truncated.has(`${lane} ${integration}`)) unread = Math.min(unread, next.get(integration) ?? 0)
  const knownTurns = unread === Number.POSITIVE_INFINITY ? unread : turns.filter(({ level }) => level < unread).length
  return { turns, knownTurns }
}

const byDue = (a: Candidate, b: Candidate): number => a.dueAt - b.dueAt || a.id - b.id
