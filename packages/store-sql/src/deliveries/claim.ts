/**
 * Claiming due deliveries. Source: DESIGN section 3 (retries).
 *
 * A claim moves `due_at` to the end of its lease, so a lease that ends unsettled makes the delivery due again by itself.
 * `attempted` counts the attempts that were logged, and numbers them. A claim whose dispatcher died is none: it may have
 * sent nothing. So it uses up no attempt of the schedule, and lets no newer version supersede an older one, since every
 * snapshot is owed one real attempt. It does leave the lane of first attempts: what takes its dispatchers down with it
 * comes behind what nobody has tried.
 * @module
 */
import type { ClaimedDelivery, ClaimRequest, DeliveryStore, Ids } from '@payment-integration/core/ports'
import type { Connection, Differences, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { run, runKept, type StatementText } from '../internal/statement.js'
import { bytes, integer } from '../internal/values.js'
import type { Integer } from '../schema/tables.js'
import { type Candidate, giveBack, type Moment, type Room, readCandidates, roomOf, take } from './candidates.js'
import { tokenOf } from './claim-token.js'
import { takeProbes } from './endpoint-rows.js'
import { isPending } from './pending.js'

// How often one call looks for others in place of overtaken or contended deliveries; the next call goes on from there.
const mostPages = 100

/** Claims due deliveries by lane, each in the order they became due, as far as the request has room for them. */
export function createClaim({ transaction, differences }: Engine, ids: Ids): DeliveryStore['claim'] {
  return async (request) => {
    checkRequest(request)
    const claimToken = ids.next()
    const claimNow = (db: Connection) => {
      const lease = { leaseMs: request.leaseMs, claimToken, now: differences.moment() }
      return claim(db, differences, roomOf(request), lease)
    }
    return transaction(claimNow, { durable: false })
  }
}

function checkRequest({ limit, leaseMs, again, perEndpoint, held }: ClaimRequest): void {
  checkInteger(limit, 'limit', 1)
  checkInteger(leaseMs, 'leaseMs', 1)
  if (again !== undefined) checkInteger(again, 'again')
  if (perEndpoint !== undefined) checkInteger(perEndpoint, 'perEndpoint', 1)
  for (const count of held?.values() ?? []) checkInteger(count, 'held')
}

interface Lease {
  readonly leaseMs: number
  readonly claimToken: string
  /** When it begins. */
  readonly now: Moment
}

interface HeldRow {
  id: Integer
  version: Integer
  attempted: Integer
  schedule_from: Integer
  made_at: Integer
  now: Integer
  overtaken: Integer
  integration: string
  notification_url: string
  signing_key_version: Integer
  signing_sealed: string
  endpoint_epoch: Integer
  chain_id: Integer
  tx_hash: string
  body: Uint8Array
}

async function claim(db: Connection, differences: Differences, room: Room, lease: Lease): Promise<ClaimedDelivery[]> {
  const claimed: ClaimedDelivery[] = []
  const without: number[] = []
  let pages = 0
  for (const lanes of differences.lanesAtOnce)
    for (let more = true; more && room.left > 0 && pages < mostPages; pages += 1) {
      const { candidates, cut } = await readCandidates(db, differences, room, { lanes, without, now: lease.now })
      const taken = take(candidates, room)
      if (taken.length === 0) break
      const { own, contended, overtaken } = await claimTaken(db, differences, taken, lease)
      for (const candidate of [...contended, ...overtaken]) giveBack(candidate, room)
      without.push(...contended.map(({ id }) => id))
      claimed.push(...own)
      // What was claimed or settled is not due any more, so the next page begins where this one ended.
      more = cut || contended.length > 0 || overtaken.length > 0
    }
  return claimed
}

/** Claims what was taken, as far as it is to be had, and settles what a newer version has overtaken. */
async function claimTaken(db: Connection, differences: Differences, taken: readonly Candidate[], lease: Lease) {
  const held = await hold(db, differences, taken, lease.now)
  const contended = taken.filter(({ id }) => !held.has(id))
  const overtaken = taken.filter(({ id }) => integer(held.get(id)?.overtaken ?? 0) === 1)
  await supersede(db, differences, overtaken)
  const free = taken.filter(({ id }) => integer(held.get(id)?.overtaken ?? 1) === 0)
  const kept = await keepProbes(db, differences, free, lease)
  await setLeases(db, differences, kept, lease)
  const own = kept.flatMap((candidate) => {
    const row = held.get(candidate.id)
    return row === undefined ? [] : [claimedDelivery(candidate, row, lease.claimToken)]
  })
  return { own, contended, overtaken }
}

/** Locks those that nobody else holds, and reads them. */
async function hold(
  db: Connection,
  differences: Differences,
  taken: readonly Candidate[],
  now: Moment,
): Promise<Map<number, HeldRow>> {
  const rows = await runKept<HeldRow>(db, differences, holdText(differences, idsOf(taken), now))
  return new Map(rows.map((row) => [integer(row.id), row]))
}

/** The statement that does so. */
export function holdText(differences: Differences, ids: readonly number[], moment: Moment): StatementText {
  const { name, oneOf, skipLocked } = differences
  return (parameter) => {
    const now = moment(parameter)
    return `select d.id, d.version, d.attempted, d.schedule_from, coalesce(d.replayed_at, d.created_at, d.due_at) as made_at,
      ${now} as now, d.integration, i.notification_url, i.signing_key_version, i.signing_sealed, i.endpoint_epoch,
      p.chain_id, p.tx_hash, s.body,
      case when d.lane = 1 and d.attempted > 0 and exists (
        select 1 from ${name('deliveries')} n where n.payment_id = d.payment_id and n.version > d.version
      ) then 1 else 0 end as overtaken
    from ${name('deliveries')} d cross join ${name('integrations')} i cross join ${name('payments')} p
      cross join ${name('snapshots')} s
    where ${oneOf('d.id', 'integer', ids, parameter)} and ${isPending('d')} and d.due_at <= ${now}
      and i.address = d.integration and i.enabled = 1 and i.notification_url is not null
      and p.id = d.payment_id and s.payment_id = d.payment_id and s.version = d.version${skipLocked('d')}`
  }
}

async function supersede(db: Connection, differences: Differences, overtaken: readonly Candidate[]): Promise<void> {
  if (overtaken.length === 0) return
  const { name, oneOf } = differences
  await run(
    db,
    differences,
    (parameter) => `update ${name('deliveries')} set status = 'superseded', due_at = null, claim_token = null
      where ${oneOf('id', 'integer', idsOf(overtaken), parameter)}`,
  )
}

/** Leaves out the probes of endpoints that another dispatcher probes meanwhile. */
async function keepProbes(
  db: Connection,
  differences: Differences,
  free: readonly Candidate[],
  lease: Lease,
): Promise<readonly Candidate[]> {
  const probed = free.flatMap(({ probe, integration }) => (probe ? [integration] : []))
  if (probed.length === 0) return free
  const won = await takeProbes(db, differences, probed, lease)
  return free.filter(({ probe, integration }) => !probe || won.has(integration))
}

async function setLeases(
  db: Connection,
  differences: Differences,
  kept: readonly Candidate[],
  { leaseMs, claimToken, now }: Lease,
): Promise<void> {
  if (kept.length === 0) return
  const { name, oneOf } = differences
  await runKept(
    db,
    differences,
    (parameter) => `update ${name('deliveries')} set lane = case lane when 2 then 2 else 1 end,
      due_at = ${now(parameter)} + ${parameter(leaseMs)}, claim_token = ${parameter(claimToken)}
      where ${oneOf('id', 'integer', idsOf(kept), parameter)}`,
  )
}

const idsOf = (candidates: readonly Candidate[]) => candidates.map(({ id }) => id)

function claimedDelivery({ lane, probe }: Candidate, row: HeldRow, claimToken: string): ClaimedDelivery {
  const attempt = integer(row.attempted) + 1
  return {
    deliveryId: String(row.id),
    claimToken: tokenOf(claimToken, integer(row.endpoint_epoch)),
    attempt,
    step: attempt - integer(row.schedule_from),
    replay: lane === 2,
    probe,
    ageMs: Math.max(0, integer(row.now) - integer(row.made_at)),
    integrationAddress: row.integration,
    notificationUrl: row.notification_url,
    signingSecret: { keyVersion: integer(row.signing_key_version), sealed: row.signing_sealed },
    chainId: integer(row.chain_id),
    txHash: row.tx_hash,
    version: integer(row.version),
    body: bytes(row.body),
  }
}
