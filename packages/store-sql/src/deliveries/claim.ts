/**
 * Claims due deliveries: read candidates, choose, lock, write leases. See docs/decisions/fairness.md, retries.md.
 * @module
 */
import type { ClaimedDelivery, ClaimRequest, DeliveryStore, Ids } from '@payment-integration/core/ports'
import type { Connection, Engine, Lane, SqlDialect } from '../engine.js'
import { previousSigningSecret } from '../integrations.js'
import { checkInteger } from '../internal/checks.js'
import { hexOf } from '../internal/hex.js'
import { integer } from '../internal/values.js'
import { snapshotBytes } from '../snapshot-row.js'
import { type Candidate, newRotation, type Rotation, readCandidates } from './candidates.js'
import { choose } from './choose.js'
import { takeProbes } from './endpoint-rows.js'
import { type FreeSlots, freeSlotsOf, releaseSlot } from './free-slots.js'
import { formatLeaseToken, type Lease, writeLeases } from './lease.js'
import { giveUp } from './leave-outbox.js'
import { type LockedDelivery, lockDeliveries } from './lock-deliveries.js'

/** Most reads of one claim that replace superseded or locked deliveries; the next claim continues there. */
const maxPages = 100

/** Claims in a row that skip retries and replays, while first attempts reach their limits and no retry is due. */
const skipsInARow = 3

/** Lanes that one statement reads. While first attempts fill the free slots, the others are not read. */
const lanesTogether: readonly (readonly Lane[])[] = [[0], [1, 2]]

/** Builds `claim`. */
export function createClaim({ transaction, dialect }: Engine, ids: Ids): DeliveryStore['claim'] {
  const rotation = newRotation()
  return async (request) => {
    checkRequest(request)
    const storedToken = ids.next()
    const claimNow = (db: Connection) => {
      const lease = { leaseMs: request.leaseMs, storedToken, now: dialect.moment() }
      return claim(db, dialect, freeSlotsOf(request, rotation.lastServed), { ...lease, rotation })
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
  dialect: SqlDialect,
  slots: FreeSlots,
  { rotation, ...lease }: Lease & { readonly rotation: Rotation },
): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = []
  const without: number[] = []
  let pages = 0
  let limitReached = false
  for (const lanes of lanesTogether) {
    const areRetries = lanes.includes(1)
    if (areRetries && limitReached && rotation.skips > 0) {
      rotation.skips -= 1
      break
    }
    const before = claimed.length
    for (let hasMore = true; hasMore && slots.limit > 0 && pages < maxPages; pages += 1) {
      const candidates = await readCandidates(db, dialect, slots, { lanes, without, now: lease.now, rotation })
      const choice = choose(candidates, slots)
      limitReached ||= choice.isLimitReached
      if (choice.chosen.length === 0) break
      const { deliveries, locked, superseded } = await leaseChosen(db, dialect, choice.chosen, lease)
      for (const candidate of [...locked, ...superseded]) releaseSlot(slots, candidate)
      without.push(...idsOf(locked))
      claimed.push(...deliveries)
      hasMore = choice.hasMore || locked.length > 0 || superseded.length > 0
    }
    if (areRetries) rotation.skips = claimed.length > before ? 0 : skipsInARow
  }
  return claimed
}

/** Leases the chosen deliveries, apart from those that others lock, and settles superseded ones. */
async function leaseChosen(db: Connection, dialect: SqlDialect, chosen: readonly Candidate[], lease: Lease) {
  const own = await lockDeliveries(db, dialect, chosen, lease.now)
  const locked = chosen.filter(({ id }) => !own.has(id))
  const superseded = chosen.filter(({ id }) => integer(own.get(id)?.row.superseded ?? 0) === 1)
  await giveUp(db, dialect, 'superseded', idsOf(superseded))
  const current = chosen.filter(({ id }) => integer(own.get(id)?.row.superseded ?? 1) === 0)
  const leased = await withoutLostProbes(db, dialect, current, lease)
  await writeLeases(db, dialect, idsOf(leased), lease)
  const deliveries = leased.flatMap((candidate) => {
    const delivery = own.get(candidate.id)
    return delivery === undefined ? [] : [claimedDelivery(dialect, candidate, delivery, lease.storedToken)]
  })
  return { deliveries, locked, superseded }
}

/** Leaves out the probes that another dispatcher took meanwhile. */
async function withoutLostProbes(
  db: Connection,
  dialect: SqlDialect,
  candidates: readonly Candidate[],
  lease: Lease,
): Promise<readonly Candidate[]> {
  const probed = candidates.flatMap(({ probe, integration }) => (probe ? [integration] : []))
  if (probed.length === 0) return candidates
  const won = await takeProbes(db, dialect, probed, lease)
  return candidates.filter(({ probe, integration }) => !probe || won.has(integration))
}

const idsOf = (candidates: readonly Candidate[]) => candidates.map(({ id }) => id)

function claimedDelivery(
  { bytesOf }: SqlDialect,
  { probe, integration: integrationAddress }: Candidate,
  { row, integration }: LockedDelivery,
  storedToken: string,
): ClaimedDelivery {
  const attempt = integer(row.attempted) + 1
  return {
    deliveryId: String(row.id),
    leaseToken: formatLeaseToken(storedToken, integer(integration.endpoint_epoch)),
    attempt,
    step: attempt - integer(row.schedule_from),
    replay: integer(row.replayed) === 1,
    probe,
    ageMs: Math.max(0, integer(row.now) - integer(row.made_at)),
    integrationAddress,
    notificationUrl: integration.notification_url,
    signingSecret: { keyVersion: integer(integration.signing_key_version), sealed: integration.signing_sealed },
    previousSigningSecret: previousSigningSecret(integration),
    chainId: integer(row.chain_id),
    txHash: hexOf(row.tx_hash),
    version: integer(row.version),
    body: snapshotBytes(bytesOf(row.body), integrationAddress, row),
  }
}
