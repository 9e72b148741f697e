/** Claims due deliveries: read candidates, choose, lock, write leases. See docs/decisions/fairness.md. @module */
import {
  type ClaimedDelivery,
  type ClaimRequest,
  type DeliveryStore,
  groupBy,
} from '@payment-integration/core/internal'
import type { IdSource } from '@payment-integration/core/ports'
import type { Connection, Engine, Lane, SqlDialect } from '../engine.js'
import { type PreviousSigningColumns, toPreviousSigningSecret } from '../integrations/integrations.js'
import { awaitRows, runPrepared, type StatementText, sendPrepared } from '../internal/statements.js'
import { checkInteger, toHex, toNumber } from '../internal/values.js'
import { type BodyKeyRow, toSnapshotBytes } from '../payments/snapshots.js'
import type { Integer } from '../schema/migration.js'
import {
  type Candidate,
  type Candidates,
  countInFlightFor,
  countInFlightTo,
  type FreeSlots,
  getLaneLimit,
  isBelowEndpointLimit,
  type Rotation,
  readCandidates,
  releaseSlot,
  takeSlot,
  toFreeSlots,
} from './candidates.js'
import { takeProbes } from './endpoint-rows.js'
import { formatLeaseToken, isSuperseded, type Lease, type Moment, removeUndelivered, writeLeases } from './settle.js'

/**
 * Chooses lane by lane: the least-loaded endpoint, its least-loaded integration, then its longest due delivery.
 * `hasMore`: another read may bring more candidates. `isLimitReached`: an endpoint's limit left a candidate out.
 */
function choose({ candidates, truncated, hasMore }: Candidates, slots: FreeSlots) {
  const chosen: Candidate[] = []
  let isLimitReached = false
  for (const lane of [0, 1, 2]) {
    const ofLane = candidates.filter((candidate) => candidate.lane === lane)
    const { turns, knownBelow } = orderByTurn(ofLane, truncated, slots)
    for (const { candidate, inFlight } of turns) {
      if (getLaneLimit(slots, lane) === 0) break
      // Unread deliveries of another endpoint may come before this one.
      if (inFlight >= knownBelow) return { chosen, hasMore: true, isLimitReached }
      // Turns are sorted by `inFlight` and free slots only fall, so no later turn is below the limit.
      if (!isBelowEndpointLimit(slots, inFlight)) {
        isLimitReached = true
        break
      }
      if (candidate.probe && slots.probed.has(candidate.integration)) continue
      takeSlot(slots, candidate)
      chosen.push(candidate)
    }
    if (getLaneLimit(slots, lane) > 0 && isBelowEndpointLimit(slots, knownBelow))
      return { chosen, hasMore: true, isLimitReached }
  }
  return { chosen, hasMore, isLimitReached }
}

interface Turn {
  readonly candidate: Candidate
  /** POSTs in flight to its endpoint, or for its integration, when its turn comes. */
  readonly inFlight: number
}

/** Orders the candidates of one lane by turn. From `knownBelow` POSTs in flight on, the order is not known. */
function orderByTurn(candidates: readonly Candidate[], truncated: ReadonlySet<string>, slots: FreeSlots) {
  const queues = groupBy([...candidates].sort(compareDue), ({ endpoint }) => endpoint)
  const turns: Turn[] = []
  let knownBelow = Number.POSITIVE_INFINITY
  for (const [endpoint, queue] of queues) {
    const inFlight = countInFlightTo(slots, endpoint)
    const { ordered, knownTurns } = orderByIntegration(queue, truncated, slots)
    const knownLoad = inFlight + knownTurns
    // Turns beyond the limit of an endpoint need not be known.
    if (isBelowEndpointLimit(slots, knownLoad)) knownBelow = Math.min(knownBelow, knownLoad)
    ordered.forEach(({ candidate }, index) => {
      turns.push({ candidate, inFlight: inFlight + index })
    })
  }
  turns.sort((a, b) => a.inFlight - b.inFlight || compareDue(a.candidate, b.candidate))
  return { turns, knownBelow }
}

/**
 * Orders the candidates of one endpoint by turn. Of equally loaded integrations, the next address after the last served
 * one comes first. `knownTurns` counts the turns before an integration whose next delivery was not read.
 */
function orderByIntegration(queue: readonly Candidate[], truncated: ReadonlySet<string>, slots: FreeSlots) {
  const next = new Map<string, number>()
  const ordered: Turn[] = queue.map((candidate) => {
    const inFlight = next.get(candidate.integration) ?? countInFlightFor(slots, candidate.integration)
    next.set(candidate.integration, inFlight + 1)
    return { candidate, inFlight }
  })
  const lastServed = slots.lastServedByEndpoint.get(queue[0]?.endpoint ?? '') ?? ''
  const getRound = ({ integration }: Candidate) => (integration > lastServed ? 0 : 1)
  ordered.sort(
    (a, b) =>
      a.inFlight - b.inFlight ||
      getRound(a.candidate) - getRound(b.candidate) ||
      (a.candidate.integration < b.candidate.integration ? -1 : 1),
  )
  let unreadAt = Number.POSITIVE_INFINITY
  for (const { lane, integration, probe } of queue)
    if (!probe && truncated.has(`${lane} ${integration}`)) unreadAt = Math.min(unreadAt, next.get(integration) ?? 0)
  const knownTurns =
    unreadAt === Number.POSITIVE_INFINITY ? unreadAt : ordered.filter(({ inFlight }) => inFlight < unreadAt).length
  return { ordered, knownTurns }
}

const compareDue = (a: Candidate, b: Candidate): number => a.dueAt - b.dueAt || a.id - b.id

interface DeliveryRow extends BodyKeyRow {
  id: Integer
  attempted: Integer
  schedule_from: Integer
  replayed: Integer
  made_at: Integer
  now: Integer
  superseded: Integer
  /** To be read with `toBytes`. */
  body: Uint8Array | string
}

interface IntegrationRow extends PreviousSigningColumns {
  /** To be read with `toHex`. */
  address: Uint8Array | string
  notification_url: string
  signing_key_version: Integer
  signing_sealed: string
  endpoint_epoch: Integer
}

interface LockedDelivery {
  readonly row: DeliveryRow
  readonly integration: IntegrationRow
}

/** Locks the chosen deliveries that no other transaction has locked, and reads them with their integrations, by id. */
async function lockDeliveries(
  db: Connection,
  chosen: readonly Candidate[],
  now: Moment,
): Promise<Map<number, LockedDelivery>> {
  const ids = chosen.map(({ id }) => id)
  const sent = await sendPrepared<DeliveryRow>(db, lockText(db.dialect, ids, now))
  const integrations = await readIntegrations(db, chosen)
  const rows = await awaitRows(sent)
  // A delivery never changes its integration, so its row need not repeat the candidate's.
  const addresses = new Map(chosen.map(({ id, integration }) => [id, integration]))
  const locked = new Map<number, LockedDelivery>()
  for (const row of rows) {
    const id = toNumber(row.id)
    const integration = integrations.get(addresses.get(id) ?? '')
    if (integration !== undefined) locked.set(id, { row, integration })
  }
  return locked
}

async function readIntegrations(db: Connection, chosen: readonly Candidate[]): Promise<Map<string, IntegrationRow>> {
  const { name, oneOf } = db.dialect
  const addresses = [...new Set(chosen.map(({ integration }) => integration))]
  const text: StatementText = (parameter) => `select i.address, i.notification_url, i.signing_key_version,
      i.signing_sealed, i.previous_signing_key_version, i.previous_signing_sealed, i.previous_signing_until,
      i.endpoint_epoch
    from ${name('integrations')} i
    where ${oneOf('i.address', 'hex', addresses, parameter)} and i.enabled = 1 and i.notification_url is not null`
  const rows = await runPrepared<IntegrationRow>(db, text)
  return new Map(rows.map((row) => [toHex(row.address), row]))
}

/**
 * The statement that locks and reads deliveries. `coalesce(due_at)` keeps planners off the index of due deliveries: a
 * plan that PostgreSQL made for an empty outbox would scan a backlog of millions for a few ids.
 */
export function lockText(dialect: SqlDialect, ids: readonly number[], moment: Moment): StatementText {
  const { bytesText, name, oneOf, skipLocked } = dialect
  return (parameter) => {
    const now = moment(parameter)
    return `select d.id, s.version, d.attempted, d.schedule_from, coalesce(d.replayed_at, s.created_at) as made_at,
      case when d.replayed_at is null then 0 else 1 end as replayed, ${now} as now,
      p.chain_id, p.tx_hash, ${bytesText('s.body')} as body,
      case when d.lane = 1 and d.attempted > 0 and ${isSuperseded(dialect)} then 1 else 0 end as superseded
    from ${name('outbox')} d cross join ${name('snapshots')} s cross join ${name('payments')} p
    where ${oneOf('d.id', 'integer', ids, parameter)} and coalesce(d.due_at, 0) <= ${now}
      and s.id = d.id and p.id = s.payment_id${skipLocked('d')}`
  }
}

/** The most reads per claim; later ones replace superseded or locked deliveries. The next claim goes on after them. */
const maxPages = 100

/** Claims in a row that skip retries and replays, while first attempts reach their limits and no retry is due. */
const skipsInARow = 3

/** Lanes that one statement reads. While first attempts fill the free slots, the other lanes are not read. */
const lanesTogether: readonly (readonly Lane[])[] = [[0], [1, 2]]

export function createClaim({ transaction, dialect }: Engine, ids: IdSource): DeliveryStore['claim'] {
  const rotation: Rotation = { after: new Map(), lastEndpoints: [], lastServedByEndpoint: new Map(), skips: 0 }
  return async (request) => {
    checkRequest(request)
    const storedToken = ids.next()
    const claimNow = (db: Connection) => {
      const lease = { leaseMs: request.leaseMs, storedToken, now: dialect.moment() }
      return claim(db, toFreeSlots(request, rotation.lastServedByEndpoint), { ...lease, rotation })
    }
    return transaction(claimNow, { durable: false, searches: true })
  }
}

function checkRequest(request: ClaimRequest): void {
  const { limit, leaseMs, maxRetries, perEndpoint, freeSlots, inFlightByEndpoint, inFlightByIntegration } = request
  checkInteger(limit, 'limit', 1)
  checkInteger(leaseMs, 'leaseMs', 1)
  if (maxRetries !== undefined) checkInteger(maxRetries, 'maxRetries')
  if (freeSlots !== undefined) checkInteger(freeSlots, 'freeSlots')
  if (perEndpoint !== undefined) checkInteger(perEndpoint, 'perEndpoint', 1)
  for (const count of inFlightByEndpoint?.values() ?? []) checkInteger(count, 'inFlightByEndpoint')
  for (const count of inFlightByIntegration?.values() ?? []) checkInteger(count, 'inFlightByIntegration')
}

async function claim(
  db: Connection,
  slots: FreeSlots,
  { rotation, ...lease }: Lease & { readonly rotation: Rotation },
): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = []
  const excludedIds: number[] = []
  let pages = 0
  let isLimitReached = false
  for (const lanes of lanesTogether) {
    const areRetries = lanes.includes(1)
    if (areRetries && isLimitReached && rotation.skips > 0) {
      rotation.skips -= 1
      break
    }
    const before = claimed.length
    for (let hasMore = true; hasMore && slots.limit > 0 && pages < maxPages; pages += 1) {
      const candidates = await readCandidates(db, slots, lanes, excludedIds, { now: lease.now, rotation })
      const choice = choose(candidates, slots)
      isLimitReached ||= choice.isLimitReached
      if (choice.chosen.length === 0) break
      const { deliveries, unavailable, superseded } = await leaseChosen(db, choice.chosen, lease)
      for (const candidate of [...unavailable, ...superseded]) releaseSlot(slots, candidate)
      excludedIds.push(...pickIds(unavailable))
      claimed.push(...deliveries)
      hasMore = choice.hasMore || unavailable.length > 0 || superseded.length > 0
    }
    if (areRetries) rotation.skips = claimed.length > before ? 0 : skipsInARow
  }
  return claimed
}

/** Leases the chosen deliveries, except those that changed or that others have locked; settles superseded ones. */
async function leaseChosen(db: Connection, chosen: readonly Candidate[], lease: Lease) {
  const lockedById = await lockDeliveries(db, chosen, lease.now)
  const unavailable = chosen.filter(({ id }) => !lockedById.has(id))
  const superseded = chosen.filter(({ id }) => toNumber(lockedById.get(id)?.row.superseded ?? 0) === 1)
  await removeUndelivered(db, 'superseded', pickIds(superseded))
  const current = chosen.filter(({ id }) => toNumber(lockedById.get(id)?.row.superseded ?? 1) === 0)
  const leased = await dropLostProbes(db, current, lease)
  await writeLeases(db, pickIds(leased), lease)
  const deliveries = leased.flatMap((candidate) => {
    const delivery = lockedById.get(candidate.id)
    return delivery === undefined ? [] : [toClaimedDelivery(db.dialect, candidate, delivery, lease.storedToken)]
  })
  return { deliveries, unavailable, superseded }
}

/** Drops the probes that another dispatcher took meanwhile. */
async function dropLostProbes(
  db: Connection,
  candidates: readonly Candidate[],
  lease: Lease,
): Promise<readonly Candidate[]> {
  const probed = candidates.flatMap(({ probe, integration }) => (probe ? [integration] : []))
  if (probed.length === 0) return candidates
  const won = await takeProbes(db, probed, lease)
  return candidates.filter(({ probe, integration }) => !probe || won.has(integration))
}

const pickIds = (candidates: readonly Candidate[]) => candidates.map(({ id }) => id)

function toClaimedDelivery(
  { toBytes }: SqlDialect,
  { probe, integration: integrationAddress }: Candidate,
  { row, integration }: LockedDelivery,
  storedToken: string,
): ClaimedDelivery {
  const attempt = toNumber(row.attempted) + 1
  return {
    deliveryId: String(row.id),
    leaseToken: formatLeaseToken(storedToken, toNumber(integration.endpoint_epoch)),
    attempt,
    step: attempt - toNumber(row.schedule_from),
    replay: toNumber(row.replayed) === 1,
    probe,
    ageMs: Math.max(0, toNumber(row.now) - toNumber(row.made_at)),
    integrationAddress,
    notificationUrl: integration.notification_url,
    signingSecret: { keyVersion: toNumber(integration.signing_key_version), sealed: integration.signing_sealed },
    previousSigningSecret: toPreviousSigningSecret(integration),
    chainId: toNumber(row.chain_id),
    txHash: toHex(row.tx_hash),
    version: toNumber(row.version),
    body: toSnapshotBytes(toBytes(row.body), integrationAddress, row),
  }
}
