/** Reads the due deliveries that a claim may take. See docs/decisions/fairness.md. @module */
import { endpointOf } from '@payment-integration/core/ports'
import type { Connection, DueQuery, DueScan, Lane, SqlDialect } from '../engine.js'
import { hexOf } from '../internal/hex.js'
import { runPrepared, type StatementText } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'
import { evenShare, type FreeSlots, inFlightTo, limitOfLane, type SlotUser } from './free-slots.js'
import type { Moment } from './lease.js'
import { lastAddress } from './skip-scan.js'

/** A due delivery that a claim may take. */
export interface Candidate extends SlotUser {
  readonly id: number
  readonly dueAt: number
}

interface CandidateRow {
  id: Integer
  due_at: Integer
  /** As `hexOf` reads it. */
  integration: Uint8Array | string
  lane: Integer
  probe: Integer
  notification_url: string
}

/** Where the next claim continues. It saves work and gives every integration a turn; correctness does not need it. */
export interface Rotation {
  /** The integration read last, by lane; '' after a full turn. */
  readonly after: Map<Lane, string>
  /** The endpoints that had first attempts due. */
  endpoints: readonly string[]
  /** The integration served last, by endpoint. */
  readonly lastServed: Map<string, string>
  /**
   * Claims that skip retries and replays, while first attempts reach their limits and a search for retries finds none.
   */
  skips: number
}

/** Begins with the first integration. */
export const newRotation = (): Rotation => ({ after: new Map(), endpoints: [], lastServed: new Map(), skips: 0 })

/** Candidates of some lanes. */
export interface Candidates {
  readonly candidates: readonly Candidate[]
  /** Lanes and integrations with more deliveries than were read. */
  readonly truncated: ReadonlySet<string>
  /** Whether there may be more integrations. */
  readonly hasMore: boolean
}

/** Fewest integrations that one statement reads. */
const minIntegrations = 16

/**
 * Reads candidates: one of as many endpoints as there are free slots, or of all endpoints if there are fewer; then an
 * even share of each.
 */
export async function readCandidates(
  db: Connection,
  dialect: SqlDialect,
  slots: FreeSlots,
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
  const wanted = Math.min(...lanes.map((lane) => limitOfLane(slots, lane)))
  if (wanted <= 0) return { candidates: [], truncated: new Set(), hasMore: false }
  const each = evenShare(slots, wanted, lanes.includes(0) ? rotation.endpoints : [])
  const integrations = Math.max(minIntegrations, wanted + slots.inFlightByEndpoint.size)
  const read = async (scans: readonly DueScan[], probes: boolean) => {
    const query: DueQuery = { scans, probes, integrations, each, without }
    const rows = await runPrepared<CandidateRow>(db, dialect, candidatesText(dialect, query, now))
    return rows
      .map(candidateOf)
      .sort((a, b) => (a.integration < b.integration ? -1 : a.integration > b.integration ? 1 : 0))
  }
  const scans = lanes.map((lane) => ({ lane, after: rotation.after.get(lane) ?? '', upTo: lastAddress }))
  const firstPage = await read(scans, lanes.includes(1))
  const candidates = firstPage.filter(({ probe }) => probe)
  let hasMore = false
  for (const scan of scans) {
    const ofLane = firstPage.filter(({ lane, probe }) => lane === scan.lane && !probe)
    const scanned = await continueScan(scan, ofLane, { slots, wanted, integrations, read })
    rotation.after.set(scan.lane, scanned.after)
    candidates.push(...scanned.candidates)
    hasMore ||= scanned.after !== ''
  }
  if (lanes.includes(0)) rotation.endpoints = [...new Set(candidates.map(({ endpoint }) => endpoint))]
  return { candidates, truncated: truncatedOf(candidates, each), hasMore }
}

interface ScanDeps {
  readonly slots: FreeSlots
  readonly wanted: number
  readonly integrations: number
  read(scans: readonly DueScan[], probes: boolean): Promise<Candidate[]>
}

/** Reads page after page until enough idle endpoints are found, or every integration was read. */
async function continueScan(scan: DueScan, firstPage: readonly Candidate[], deps: ScanDeps) {
  const { slots, wanted, integrations, read } = deps
  const { lane, after: start } = scan
  const candidates: Candidate[] = []
  const idleEndpoints = new Set<string>()
  let upTo = lastAddress
  for (let page = firstPage; ; ) {
    const names = new Set<string>()
    for (const candidate of page) {
      const { integration, endpoint } = candidate
      if (!names.has(integration) && idleEndpoints.size >= wanted)
        return { candidates, after: candidates.at(-1)?.integration ?? '' }
      names.add(integration)
      if (inFlightTo(slots, endpoint) === 0) idleEndpoints.add(endpoint)
      candidates.push(candidate)
    }
    const after = page.at(-1)?.integration ?? ''
    if (names.size >= integrations) page = await read([{ lane, after, upTo }], false)
    else if (upTo !== lastAddress || start === '') return { candidates, after: '' }
    else {
      if (idleEndpoints.size >= wanted) return { candidates, after }
      upTo = start
      page = await read([{ lane, after: '', upTo }], false)
    }
  }
}

function candidateOf({ id, due_at, integration, lane, probe, notification_url }: CandidateRow): Candidate {
  return {
    id: integer(id),
    dueAt: integer(due_at),
    lane: integer(lane),
    integration: hexOf(integration),
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
