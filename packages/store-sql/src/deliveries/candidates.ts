/** Reads the due deliveries that a claim may take. See docs/decisions/fairness.md. @module */
import { type ClaimRequest, getEndpoint } from '@payment-integration/core/internal'
import type { Connection, DueQuery, DueScan, Lane, Parameter, SqlDialect } from '../engine.js'
import { runPrepared, type StatementText } from '../internal/statements.js'
import { parseKey, toHex, toNumber } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'
import type { Moment } from './settle.js'

export interface Candidate {
  readonly id: number
  readonly dueAt: number
  /** Probes count in lane 1. */
  readonly lane: number
  readonly integration: string
  /** The result of `getEndpoint`. */
  readonly endpoint: string
  /** Whether the delivery tests if a blocked integration answers again. */
  readonly probe: boolean
}

/** The free slots of a dispatcher, and its POSTs in flight. Candidates that took a slot count as in flight. */
export interface FreeSlots {
  /** The most deliveries that the claim may still take. */
  limit: number
  /** Of `limit`, the most retries, replays and probes. */
  maxRetries: number
  /** Free slots of the dispatcher, which also limit the POSTs to one endpoint. */
  freeSlots: number
  readonly perEndpoint: number
  readonly inFlightByEndpoint: Map<string, number>
  readonly inFlightByIntegration: Map<string, number>
  readonly lastServedByEndpoint: Map<string, string>
  /** Integrations with a probe in flight. */
  readonly probed: Set<string>
}

/** The most endpoints whose last served integration is remembered. */
const maxLastServed = 4_096

const noLimit = Number.MAX_SAFE_INTEGER

export function toFreeSlots(request: ClaimRequest, lastServedByEndpoint: Map<string, string>): FreeSlots {
  const { limit, maxRetries = limit, perEndpoint = noLimit, freeSlots = noLimit } = request
  return {
    limit,
    maxRetries: Math.min(maxRetries, limit),
    freeSlots,
    perEndpoint,
    inFlightByEndpoint: new Map(request.inFlightByEndpoint ?? []),
    inFlightByIntegration: new Map(request.inFlightByIntegration ?? []),
    lastServedByEndpoint,
    probed: new Set(),
  }
}

export const getLaneLimit = ({ limit, maxRetries }: FreeSlots, lane: number): number =>
  lane === 0 ? limit : Math.min(limit, maxRetries)

export const countInFlightTo = ({ inFlightByEndpoint }: FreeSlots, endpoint: string): number =>
  inFlightByEndpoint.get(endpoint) ?? 0

export const countInFlightFor = ({ inFlightByIntegration }: FreeSlots, integration: string): number =>
  inFlightByIntegration.get(integration) ?? 0

export const isBelowEndpointLimit = ({ perEndpoint, freeSlots }: FreeSlots, inFlight: number): boolean =>
  inFlight < Math.min(perEndpoint, freeSlots)

export function takeSlot(slots: FreeSlots, candidate: Candidate): void {
  changeInFlight(slots, candidate, 1)
  const { lastServedByEndpoint } = slots
  if (lastServedByEndpoint.size >= maxLastServed) lastServedByEndpoint.clear()
  lastServedByEndpoint.set(candidate.endpoint, candidate.integration)
}

export const releaseSlot = (slots: FreeSlots, candidate: Candidate): void => changeInFlight(slots, candidate, -1)

function changeInFlight(slots: FreeSlots, { lane, integration, endpoint, probe }: Candidate, by: 1 | -1): void {
  slots.limit -= by
  slots.freeSlots -= by
  if (lane > 0) slots.maxRetries -= by
  slots.inFlightByEndpoint.set(endpoint, countInFlightTo(slots, endpoint) + by)
  slots.inFlightByIntegration.set(integration, countInFlightFor(slots, integration) + by)
  if (!probe) return
  if (by === 1) slots.probed.add(integration)
  else slots.probed.delete(integration)
}

/** The deliveries to read of one endpoint, if `count` slots are filled evenly and every endpoint has a backlog. */
function computeEvenShare(slots: FreeSlots, count: number, endpoints: readonly string[]): number {
  const maxShare = Math.min(count, slots.perEndpoint)
  const loads = endpoints.map((endpoint) => countInFlightTo(slots, endpoint)).sort((a, b) => a - b)
  const [lowest = 0] = loads
  let sum = 0
  for (const [index, load] of loads.entries()) {
    sum += load
    const level = Math.ceil((count + sum) / (index + 1))
    if (level <= (loads[index + 1] ?? level)) return Math.max(1, Math.min(maxShare, level - lowest))
  }
  return maxShare
}

/** Sorts after every address. */
export const lastAddress = `0x${'ff'.repeat(21)}`

/** A common table expression of a scan's integrations. Its last row may be null, or after the end of the scan. */
export function scanText(outbox: string, { lane, after, upTo }: DueScan, parameter: Parameter): string {
  const selectNext = (than: string) => `(select d.integration from ${outbox} d
      where d.lane = ${lane} and d.integration > ${than} order by d.integration limit 1)`
  return `${scanName(lane)} (integration) as (
    select ${selectNext(parameter(parseKey(after)))} union all
    select ${selectNext('w.integration')} from ${scanName(lane)} w where w.integration < ${parameter(parseKey(upTo))}
  )`
}

export const scanName = (lane: Lane): string => `scan${lane}`

interface CandidateRow {
  id: Integer
  due_at: Integer
  /** To be read with `toHex`. */
  integration: Uint8Array | string
  lane: Integer
  probe: Integer
  notification_url: string
}

/** Where the next claim continues, so that every integration gets a turn; not needed for correctness. */
export interface Rotation {
  /** The integration read last, by lane; '' after a full turn. */
  readonly after: Map<Lane, string>
  /** The endpoints of the candidates at the last read of first attempts. */
  lastEndpoints: readonly string[]
  readonly lastServedByEndpoint: Map<string, string>
  /** How many of the next claims skip retries and replays: first attempts reached a limit and no retry was due. */
  skips: number
}

export interface Candidates {
  readonly candidates: readonly Candidate[]
  /** `lane integration` keys that may have more deliveries than were read. */
  readonly truncated: ReadonlySet<string>
  readonly hasMore: boolean
}

/** The smallest limit of integrations of one statement. */
const minIntegrations = 16

/** Reads candidates until they cover as many idle endpoints as free slots, with an even share per integration. */
export async function readCandidates(
  db: Connection,
  slots: FreeSlots,
  lanes: readonly Lane[],
  excludedIds: readonly number[],
  { now, rotation }: { readonly now: Moment; readonly rotation: Rotation },
): Promise<Candidates> {
  const slotCount = Math.min(...lanes.map((lane) => getLaneLimit(slots, lane)))
  if (slotCount <= 0) return { candidates: [], truncated: new Set(), hasMore: false }
  const maxPerIntegration = computeEvenShare(slots, slotCount, lanes.includes(0) ? rotation.lastEndpoints : [])
  const maxIntegrations = Math.max(minIntegrations, slotCount + slots.inFlightByEndpoint.size)
  const read = async (scans: readonly DueScan[], includesProbes: boolean) => {
    const query: DueQuery = { scans, includesProbes, maxIntegrations, maxPerIntegration, excludedIds }
    const rows = await runPrepared<CandidateRow>(db, candidatesText(db.dialect, query, now))
    return rows
      .map(toCandidate)
      .sort((a, b) => (a.integration < b.integration ? -1 : a.integration > b.integration ? 1 : 0))
  }
  const scans = lanes.map((lane) => ({ lane, after: rotation.after.get(lane) ?? '', upTo: lastAddress }))
  const firstPage = await read(scans, lanes.includes(1))
  const candidates = firstPage.filter(({ probe }) => probe)
  let hasMore = false
  for (const scan of scans) {
    const ofLane = firstPage.filter(({ lane, probe }) => lane === scan.lane && !probe)
    const scanned = await continueScan(scan, ofLane, { slots, slotCount, maxIntegrations, read })
    rotation.after.set(scan.lane, scanned.after)
    candidates.push(...scanned.candidates)
    hasMore ||= scanned.after !== ''
  }
  if (lanes.includes(0)) rotation.lastEndpoints = [...new Set(candidates.map(({ endpoint }) => endpoint))]
  return { candidates, truncated: findTruncated(candidates, maxPerIntegration), hasMore }
}

interface ScanDeps {
  readonly slots: FreeSlots
  readonly slotCount: number
  readonly maxIntegrations: number
  read(scans: readonly DueScan[], includesProbes: boolean): Promise<Candidate[]>
}

/** Reads page after page until enough idle endpoints are found, or every integration was read. */
async function continueScan(scan: DueScan, firstPage: readonly Candidate[], deps: ScanDeps) {
  const { slots, slotCount, maxIntegrations, read } = deps
  const { lane, after: start } = scan
  const candidates: Candidate[] = []
  const idleEndpoints = new Set<string>()
  let upTo = lastAddress
  for (let page = firstPage; ; ) {
    const pageIntegrations = new Set<string>()
    for (const candidate of page) {
      const { integration, endpoint } = candidate
      if (!pageIntegrations.has(integration) && idleEndpoints.size >= slotCount)
        return { candidates, after: candidates.at(-1)?.integration ?? '' }
      pageIntegrations.add(integration)
      if (countInFlightTo(slots, endpoint) === 0) idleEndpoints.add(endpoint)
      candidates.push(candidate)
    }
    const after = page.at(-1)?.integration ?? ''
    if (pageIntegrations.size >= maxIntegrations) page = await read([{ lane, after, upTo }], false)
    else if (upTo !== lastAddress || start === '') return { candidates, after: '' }
    else {
      if (idleEndpoints.size >= slotCount) return { candidates, after }
      upTo = start
      page = await read([{ lane, after: '', upTo }], false)
    }
  }
}

function toCandidate({ id, due_at, integration, lane, probe, notification_url }: CandidateRow): Candidate {
  return {
    id: toNumber(id),
    dueAt: toNumber(due_at),
    lane: toNumber(lane),
    integration: toHex(integration),
    endpoint: getEndpoint(notification_url),
    probe: toNumber(probe) === 1,
  }
}

function findTruncated(candidates: readonly Candidate[], maxPerIntegration: number): Set<string> {
  const truncated = new Set<string>()
  for (const lane of [0, 1, 2]) {
    const counts = new Map<string, number>()
    for (const candidate of candidates) {
      if (candidate.probe || candidate.lane !== lane) continue
      const count = (counts.get(candidate.integration) ?? 0) + 1
      counts.set(candidate.integration, count)
      if (count === maxPerIntegration) truncated.add(`${lane} ${candidate.integration}`)
    }
  }
  return truncated
}

export function candidatesText(dialect: SqlDialect, query: DueQuery, now = dialect.moment()): StatementText {
  return (parameter) => dialect.selectDue(query, now(parameter), parameter)
}
