/** Which candidates a claim takes. Source: docs/decisions/fairness.md. @module */
import type { Candidate } from './candidate.js'
import type { Candidates } from './candidates.js'
import { hold, holds, mayHold, type Room, roomFor } from './room.js'

/** What was taken. */
export interface Taken {
  readonly taken: readonly Candidate[]
  /** Whether another look may bring more. */
  readonly more: boolean
  /** Whether something was left because its endpoint holds all it may. */
  readonly bound: boolean
}

/**
 * Takes what there is room for, lane by lane: of each the endpoint that holds the fewest goes first, with its longest due. Counts what
 * it takes as held.
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
  /** How many of its endpoint are held when its turn comes. */
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
    const known = base + knownOf(queue, truncated)
    // What is beyond the bound of an endpoint need not be known.
    if (mayHold(room, known)) end = Math.min(end, known)
    queue.forEach((candidate, index) => {
      rows.push({ candidate, level: base + index })
    })
  }
  rows.sort((a, b) => a.level - b.level || byDue(a.candidate, b.candidate))
  return { rows, end }
}

/** How many of a queue's first are known to be the first: up to the last one that was read of an integration that has more. */
function knownOf(queue: readonly Candidate[], truncated: ReadonlySet<string>): number {
  const last = new Map<string, number>()
  queue.forEach(({ lane, integration, probe }, index) => {
    const key = `${lane} ${integration}`
    if (!probe && truncated.has(key)) last.set(key, index + 1)
  })
  return last.size === 0 ? Number.POSITIVE_INFINITY : Math.min(...last.values())
}

const byDue = (a: Candidate, b: Candidate): number => a.dueAt - b.dueAt || a.id - b.id
