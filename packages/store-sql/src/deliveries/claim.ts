/**
 * Claiming due deliveries. Source: docs/decisions/retries.md.
 *
 * A claim moves `due_at` to the end of its lease, so a lease that ends unsettled makes the delivery due again by itself.
 * `attempted` counts the attempts that were logged, and numbers them. A claim whose dispatcher died is none: it may have
 * sent nothing. So it uses up no attempt of the schedule, and lets no newer version supersede an older one, since every
 * snapshot is owed one real attempt. It does leave the lane of first attempts: what takes its dispatchers down with it
 * comes behind what nobody has tried.
 * @module
 */
import type { ClaimedDelivery, ClaimRequest, DeliveryStore, Ids } from '@payment-integration/core/ports'
import type { Connection, Engine, Lane, SqlDialect } from '../engine.js'
import { previousSigningSecret } from '../integrations.js'
import { checkInteger } from '../internal/checks.js'
import { sendPrepared } from '../internal/statement.js'
import { integer } from '../internal/values.js'
import type { Candidate } from './candidate.js'
import { type Moment, newRotation, type Rotation, readCandidates } from './candidates.js'
import { tokenOf } from './claim-token.js'
import { giveUp } from './end.js'
import { takeProbes } from './endpoint-rows.js'
import { type Held, hold } from './hold.js'
import { giveBack, type Room, roomOf } from './room.js'
import { take } from './take.js'

// How often one call looks for others in place of overtaken or contended deliveries; the next call goes on from there.
const mostPages = 100

/**
 * With a backlog of first attempts that fill their bounds, a claim never fills its room. Then it looks for what comes again now and then, while
 * that looks in vain.
 */
const skipsInARow = 3

/** Lanes that one statement asks for: while first attempts fill the room, nothing else is looked at. */
const lanesAtOnce: readonly (readonly Lane[])[] = [[0], [1, 2]]

/**
 * Claims due deliveries by lane, each from the endpoints of which the fewest are held, and there from the integrations of which the fewest are,
 * as far as the request has room for them.
 */
export function createClaim({ transaction, dialect }: Engine, ids: Ids): DeliveryStore['claim'] {
  const rotation = newRotation()
  return async (request) => {
    checkRequest(request)
    const claimToken = ids.next()
    const claimNow = (db: Connection) => {
      const lease = { leaseMs: request.leaseMs, claimToken, now: dialect.moment() }
      return claim(db, dialect, roomOf(request, rotation.served), { ...lease, rotation })
    }
    return transaction(claimNow, { durable: false, searches: true })
  }
}

function checkRequest({ limit, leaseMs, again, perEndpoint, held, heldOf, free }: ClaimRequest): void {
  checkInteger(limit, 'limit', 1)
  checkInteger(leaseMs, 'leaseMs', 1)
  if (again !== undefined) checkInteger(again, 'again')
  if (free !== undefined) checkInteger(free, 'free')
  if (perEndpoint !== undefined) checkInteger(perEndpoint, 'perEndpoint', 1)
  for (const count of held?.values() ?? []) checkInteger(count, 'held')
  for (const count of heldOf?.values() ?? []) checkInteger(count, 'heldOf')
}

interface Lease {
  readonly leaseMs: number
  readonly claimToken: string
  /** When it begins. */
  readonly now: Moment
}

async function claim(
  db: Connection,
  dialect: SqlDialect,
  room: Room,
  { rotation, ...lease }: Lease & { readonly rotation: Rotation },
): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = []
  const without: number[] = []
  let pages = 0
  let isBound = false
  for (const lanes of lanesAtOnce) {
    const looksAgain = lanes.includes(1)
    if (looksAgain && isBound && rotation.skips > 0) {
      rotation.skips -= 1
      break
    }
    const before = claimed.length
    for (let again = true; again && room.left > 0 && pages < mostPages; pages += 1) {
      const found = await readCandidates(db, dialect, room, { lanes, without, now: lease.now, rotation })
      const { taken, more, bound } = take(found, room)
      isBound ||= bound
      if (taken.length === 0) break
      const { own, contended, overtaken } = await claimTaken(db, dialect, taken, lease)
      for (const candidate of [...contended, ...overtaken]) giveBack(room, candidate)
      without.push(...contended.map(({ id }) => id))
      claimed.push(...own)
      // What was claimed or settled is not due any more, so the next page begins where this one ended.
      again = more || contended.length > 0 || overtaken.length > 0
    }
    if (looksAgain) rotation.skips = claimed.length > before ? 0 : skipsInARow
  }
  return claimed
}

/** Claims what was taken, as far as it is to be had, and settles what a newer version has overtaken. */
async function claimTaken(db: Connection, dialect: SqlDialect, taken: readonly Candidate[], lease: Lease) {
  const held = await hold(db, dialect, taken, lease.now)
  const contended = taken.filter(({ id }) => !held.has(id))
  const overtaken = taken.filter(({ id }) => integer(held.get(id)?.row.overtaken ?? 0) === 1)
  await giveUp(db, dialect, 'superseded', idsOf(overtaken))
  const free = taken.filter(({ id }) => integer(held.get(id)?.row.overtaken ?? 1) === 0)
  const kept = await keepProbes(db, dialect, free, lease)
  await setLeases(db, dialect, kept, lease)
  const own = kept.flatMap((candidate) => {
    const found = held.get(candidate.id)
    return found === undefined ? [] : [claimedDelivery(dialect, candidate, found, lease.claimToken)]
  })
  return { own, contended, overtaken }
}

/** Leaves out the probes of endpoints that another dispatcher probes meanwhile. */
async function keepProbes(
  db: Connection,
  dialect: SqlDialect,
  free: readonly Candidate[],
  lease: Lease,
): Promise<readonly Candidate[]> {
  const probed = free.flatMap(({ probe, integration }) => (probe ? [integration] : []))
  if (probed.length === 0) return free
  const won = await takeProbes(db, dialect, probed, lease)
  return free.filter(({ probe, integration }) => !probe || won.has(integration))
}

async function setLeases(
  db: Connection,
  dialect: SqlDialect,
  kept: readonly Candidate[],
  { leaseMs, claimToken, now }: Lease,
): Promise<void> {
  if (kept.length === 0) return
  const { name, oneOf } = dialect
  await sendPrepared(
    db,
    dialect,
    (parameter) => `update ${name('outbox')} set lane = case lane when 2 then 2 else 1 end,
      due_at = ${now(parameter)} + ${parameter(leaseMs)}, claim_token = ${parameter(claimToken)}
      where ${oneOf('id', 'integer', idsOf(kept), parameter)}`,
  )
}

const idsOf = (candidates: readonly Candidate[]) => candidates.map(({ id }) => id)

function claimedDelivery(
  { bytesOf }: SqlDialect,
  { probe }: Candidate,
  { row, owner }: Held,
  claimToken: string,
): ClaimedDelivery {
  const attempt = integer(row.attempted) + 1
  return {
    deliveryId: String(row.id),
    claimToken: tokenOf(claimToken, integer(owner.endpoint_epoch)),
    attempt,
    step: attempt - integer(row.schedule_from),
    replay: integer(row.replayed) === 1,
    probe,
    ageMs: Math.max(0, integer(row.now) - integer(row.made_at)),
    integrationAddress: row.integration,
    notificationUrl: owner.notification_url,
    signingSecret: { keyVersion: integer(owner.signing_key_version), sealed: owner.signing_sealed },
    previousSigningSecret: previousSigningSecret(owner),
    chainId: integer(row.chain_id),
    txHash: row.tx_hash,
    version: integer(row.version),
    body: bytesOf(row.body),
  }
}
