/** Due deliveries that a claim may take. Source: docs/decisions/fairness.md. @module */
import { endpointOf } from '@payment-integration/core/ports'
import type { Connection, DueQuery, DueWalk, Lane, SqlDialect } from '../engine.js'
import { runPrepared, type StatementText } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import type { Candidate } from './candidate.js'
import { evenShare, holds, type Room, roomFor } from './room.js'
import { lastAddress } from './walk.js'

interface CandidateRow {
  id: Integer
  due_at: Integer
  integration: string
  lane: Integer
  probe: Integer
  notification_url: string
}

/** The time of a claim, as text: the same in all its statements. */
export type Moment = ReturnType<SqlDialect['moment']>

/** Where the next claim goes on, by lane. Any place would do: it saves work, and lets everybody have a turn. */
export interface Rotation {
  /** The integration that was looked at last; '' where all were. */
  readonly after: Map<Lane, string>
  /** The endpoints that had something due, of first attempts. */
  endpoints: readonly string[]
  /** The integration that was served last, by endpoint. */
  readonly served: Map<string, string>
  /** How many claims go without a look for what comes again, while first attempts wait for nothing but their bounds. */
  skips: number
}

/** Begins with the first integration. */
export const newRotation = (): Rotation => ({ after: new Map(), endpoints: [], served: new Map(), skips: 0 })

/** Candidates of some lanes. */
export interface Candidates {
  readonly candidates: readonly Candidate[]
  /** Integrations of which there may be more. */
  readonly truncated: ReadonlySet<string>
  /** Whether there may be more integrations. */
  readonly cut: boolean
}

/** Least integrations that one statement looks at. */
const fewest = 16

/**
 * Reads candidates of some lanes: the longest due of as many endpoints as it takes to fill the room with one of each, of all that there
 * are where they are fewer. Then of each as many as an even share needs.
 */
export async function readCandidates(
  db: Connection,
  dialect: SqlDialect,
  room: Room,
  {
    lanes,
    without,
    now,
    rotation,
  }: {
    readonly lanes: readonly Lane[]
    readonly without: readonly number[]
    readonly now: Moment
    readonly rotation: Rotation
  },
): Promise<Candidates> {
  const want = Math.min(...lanes.map((lane) => roomFor(room, lane)))
  if (want <= 0) return { candidates: [], truncated: new Set(), cut: false }
  const each = evenShare(room, want, lanes.includes(0) ? rotation.endpoints : [])
  const integrations = Math.max(fewest, want + room.held.size)
  const ask = async (walks: readonly DueWalk[], probes: boolean) => {
    const query: DueQuery = { walks, probes, integrations, each, without }
    const rows = await runPrepared<CandidateRow>(db, dialect, candidatesText(dialect, query, now))
    return rows
      .map(candidateOf)
      .sort((a, b) => (a.integration < b.integration ? -1 : a.integration > b.integration ? 1 : 0))
  }
  const begun = lanes.map((lane) => ({ lane, after: rotation.after.get(lane) ?? '', upTo: lastAddress }))
  const first = await ask(begun, lanes.includes(1))
  const candidates = first.filter(({ probe }) => probe)
  let cut = false
  for (const walk of begun) {
    const own = first.filter(({ lane, probe }) => lane === walk.lane && !probe)
    const round = await completeRound(walk, own, { room, want, integrations, ask })
    rotation.after.set(walk.lane, round.after)
    candidates.push(...round.candidates)
    cut ||= round.after !== ''
  }
  if (lanes.includes(0)) rotation.endpoints = [...new Set(candidates.map(({ endpoint }) => endpoint))]
  return { candidates, truncated: truncatedOf(candidates, each), cut }
}

interface RoundDeps {
  readonly room: Room
  readonly want: number
  readonly integrations: number
  ask(walks: readonly DueWalk[], probes: boolean): Promise<Candidate[]>
}

/** Goes on from integration to integration until the room can be filled with one of each endpoint, or all were looked at. */
async function completeRound(walk: DueWalk, begun: readonly Candidate[], deps: RoundDeps) {
  const { room, want, integrations, ask } = deps
  const { lane, after: start } = walk
  const candidates: Candidate[] = []
  const idle = new Set<string>()
  let upTo = lastAddress
  for (let page = begun; ; ) {
    const names = new Set<string>()
    for (const candidate of page) {
      const { integration, endpoint } = candidate
      if (!names.has(integration) && idle.size >= want)
        return { candidates, after: candidates.at(-1)?.integration ?? '' }
      names.add(integration)
      if (holds(room, endpoint) === 0) idle.add(endpoint)
      candidates.push(candidate)
    }
    const after = page.at(-1)?.integration ?? ''
    if (names.size >= integrations) page = await ask([{ lane, after, upTo }], false)
    else if (upTo !== lastAddress || start === '') return { candidates, after: '' }
    else {
      if (idle.size >= want) return { candidates, after }
      upTo = start
      page = await ask([{ lane, after: '', upTo }], false)
    }
  }
}

function candidateOf({ id, due_at, integration, lane, probe, notification_url }: CandidateRow): Candidate {
  return {
    id: integer(id),
    dueAt: integer(due_at),
    lane: integer(lane),
    integration,
    endpoint: endpointOf(notification_url),
    probe: integer(probe) === 1,
  }
}

function truncatedOf(candidates: readonly Candidate[], each: number): Set<string> {
  const truncated = new Set<string>()
  for (const lane of [0, 1, 2]) {
    const counts = new Map<string, number>()
    for (const candidate of candidates) {
      if (candidate.probe || candidate.lane !== lane) continue
      const count = (counts.get(candidate.integration) ?? 0) + 1
      counts.set(candidate.integration, count)
      if (count === each) truncated.add(`${lane} ${candidate.integration}`)
    }
  }
  return truncated
}

/** The statement of {@link readCandidates}. */
export function candidatesText(dialect: SqlDialect, query: DueQuery, now = dialect.moment()): StatementText {
  return (parameter) => dialect.due(query, now(parameter), parameter)
}
