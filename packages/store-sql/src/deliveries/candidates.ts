/** Which due deliveries a claim may take, and which of them it takes. Source: DESIGN section 3 (retries). @module */
import type { ClaimRequest } from '@payment-integration/core/ports'
import type { Connection, Differences, DueQuery } from '../engine.js'
import { runKept, type StatementText } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/tables.js'

/** A due delivery. */
export interface Candidate {
  readonly id: number
  readonly lane: number
  readonly integration: string
  /** Its endpoint was blocked, and gets this one to see whether it answers again. */
  readonly probe: boolean
}

/** What a dispatcher may still take. */
export interface Room {
  /** Deliveries. */
  left: number
  /** Retries and replays among them. */
  again: number
  readonly perEndpoint: number
  /** How many it holds by integration, those taken included. */
  readonly held: Map<string, number>
  /** Integrations whose probe was taken. */
  readonly probed: Set<string>
}

/** Stands for no bound of deliveries per endpoint. */
const noBound = Number.MAX_SAFE_INTEGER

/** The room that a request leaves. */
export function roomOf({ limit, again = limit, perEndpoint = noBound, held }: ClaimRequest): Room {
  return { left: limit, again: Math.min(again, limit), perEndpoint, held: new Map(held ?? []), probed: new Set() }
}

interface CandidateRow {
  id: Integer
  due_at: Integer
  integration: string
  lane: Integer
  probe: Integer
}

/** The time of a claim, as text: the same in all its statements. */
export type Moment = ReturnType<Differences['moment']>

/** Candidates in the order in which they are to be taken. */
export interface Candidates {
  readonly candidates: readonly Candidate[]
  /** Whether there may be more. */
  readonly cut: boolean
}

/**
 * Reads the candidates of some lanes: where nothing is taken before, enough to fill the room, whatever part of them it cannot hold.
 * @param what - Which lanes, at which moment, and the ids to leave out.
 */
export async function readCandidates(
  db: Connection,
  differences: Differences,
  room: Room,
  { lanes, without, now }: Pick<DueQuery, 'lanes' | 'without'> & { readonly now: Moment },
): Promise<Candidates> {
  const query = dueQuery(room, { lanes: room.again === 0 ? lanes.filter((lane) => lane === 0) : lanes, without })
  if (query.lanes.length === 0) return { candidates: [], cut: false }
  const rows = await runKept<CandidateRow>(db, differences, candidatesText(differences, query, now))
  const candidates = rows.map(({ id, due_at, integration, lane, probe }) => ({
    id: integer(id),
    dueAt: integer(due_at),
    integration,
    lane: integer(lane),
    probe: integer(probe) === 1,
  }))
  candidates.sort((a, b) => a.lane - b.lane || a.dueAt - b.dueAt || a.id - b.id)
  return { candidates, cut: rows.length >= query.limit }
}

function dueQuery(
  { left, perEndpoint, held }: Room,
  { lanes, without }: Pick<DueQuery, 'lanes' | 'without'>,
): DueQuery {
  const each = Math.min(perEndpoint, left)
  // What an integration gives and has no room for.
  let useless = 0
  for (const holds of held.values()) useless += Math.min(each, Math.max(0, each - perEndpoint + holds))
  return { lanes, each, limit: left + useless * lanes.length, without }
}

/** The statement of {@link readCandidates}. */
export function candidatesText(differences: Differences, query: DueQuery, now = differences.moment()): StatementText {
  return (parameter) => differences.due(query, now(parameter), parameter)
}

/** Takes those that there is room for, in their order, and counts them as held. */
export function take(candidates: readonly Candidate[], room: Room): Candidate[] {
  return candidates.filter(({ lane, integration, probe }) => {
    const holds = room.held.get(integration) ?? 0
    if (room.left === 0 || holds >= room.perEndpoint) return false
    if (lane > 0 && room.again === 0) return false
    if (probe && room.probed.has(integration)) return false
    count(room, { lane, integration, probe }, 1)
    return true
  })
}

/** Takes note that a candidate was not to be had. */
export function giveBack(candidate: Candidate, room: Room): void {
  count(room, candidate, -1)
}

function count(room: Room, { lane, integration, probe }: Omit<Candidate, 'id'>, by: 1 | -1): void {
  room.left -= by
  if (lane > 0) room.again -= by
  room.held.set(integration, (room.held.get(integration) ?? 0) + by)
  if (!probe) return
  if (by === 1) room.probed.add(integration)
  else room.probed.delete(integration)
}
