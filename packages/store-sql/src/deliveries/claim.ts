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
import type { ClaimedDelivery, DeliveryStore, Ids } from '@payment-integration/core/ports'
import { sql } from 'kysely'
import type { Connection, Differences, DueDelivery, Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { bytes, integer } from '../internal/values.js'
import type { Integer } from '../schema/tables.js'

// How many runs of overtaken or contended deliveries one call walks past; the next call goes on from there.
const mostPages = 100

/** Claims due deliveries; first attempts go before retries, each in the order they became due. */
export function createClaim({ transaction, differences }: Engine, ids: Ids): DeliveryStore['claim'] {
  return async (options) => {
    const limit = checkInteger(options.limit, 'limit', 1)
    const leaseMs = checkInteger(options.leaseMs, 'leaseMs', 1)
    const claimToken = ids.next()
    return transaction(async (db) => {
      const held = await takeLane(db, differences, 0, limit)
      if (held.length < limit) held.push(...(await takeLane(db, differences, 1, limit - held.length)))
      await setLeases(db, differences, held, { leaseMs, claimToken })
      return held.map((row) => claimedDelivery(row, claimToken))
    })
  }
}

interface HeldRow {
  id: Integer
  version: Integer
  attempted: Integer
  due_at: Integer
  overtaken: Integer
  integration: string
  notification_url: string
  signing_key_version: Integer
  signing_sealed: string
  chain_id: Integer
  tx_hash: string
  body: Uint8Array
}

// Other dispatchers may hold some of a page, and overtaken retries are settled on the way: both are made up for by the next.
async function takeLane(db: Connection, differences: Differences, lane: 0 | 1, wanted: number): Promise<HeldRow[]> {
  const taken: HeldRow[] = []
  let after = { dueAt: -1, id: 0 }
  for (let page = 0; page < mostPages && taken.length < wanted; page += 1) {
    const limit = wanted - taken.length
    const { rows: due } = await differences.due({ lane, after, limit }).execute(db)
    const last = due.at(-1)
    if (last === undefined) break
    const held = await hold(db, differences, due)
    const overtaken = held.filter((row) => integer(row.overtaken) === 1)
    await supersede(db, overtaken)
    taken.push(...held.filter((row) => integer(row.overtaken) === 0))
    if (due.length < limit) break
    after = { dueAt: integer(last.due_at), id: integer(last.id) }
  }
  return taken
}

async function hold(db: Connection, differences: Differences, due: readonly DueDelivery[]): Promise<HeldRow[]> {
  const table = (name: string) => sql.raw(differences.name(name))
  const { rows } = await sql<HeldRow>`
    select d.id, d.version, d.attempted, d.due_at, d.integration, i.notification_url, i.signing_key_version,
      i.signing_sealed, p.chain_id, p.tx_hash, s.body,
      case when d.attempted > 0 and exists (
        select 1 from ${table('deliveries')} n where n.payment_id = d.payment_id and n.version > d.version
      ) then 1 else 0 end as overtaken
    from ${table('deliveries')} d
    join ${table('integrations')} i on i.address = d.integration
    join ${table('payments')} p on p.id = d.payment_id
    join ${table('snapshots')} s on s.payment_id = d.payment_id and s.version = d.version
    where d.id in (${sql.join(due.map(({ id }) => id))}) and d.status = 'pending' and d.due_at <= ${differences.now()}
      and i.enabled = 1 and i.notification_url is not null
    order by d.due_at, d.id ${differences.forUpdateSkipLocked}`.execute(db)
  return rows
}

async function supersede(db: Connection, rows: readonly HeldRow[]): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await db
    .updateTable('deliveries')
    .set({ status: 'superseded', due_at: null, claim_token: null })
    .where('id', 'in', ids)
    .execute()
}

async function setLeases(
  db: Connection,
  differences: Differences,
  rows: readonly HeldRow[],
  claim: { leaseMs: number; claimToken: string },
): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await db
    .updateTable('deliveries')
    .set({
      lane: 1,
      due_at: sql<number>`${differences.now()} + ${claim.leaseMs}`,
      claim_token: claim.claimToken,
    })
    .where('id', 'in', ids)
    .execute()
}

function claimedDelivery(row: HeldRow, claimToken: string): ClaimedDelivery {
  return {
    deliveryId: String(row.id),
    claimToken,
    attempt: integer(row.attempted) + 1,
    integrationAddress: row.integration,
    notificationUrl: row.notification_url,
    signingSecret: { keyVersion: integer(row.signing_key_version), sealed: row.signing_sealed },
    chainId: integer(row.chain_id),
    txHash: row.tx_hash,
    version: integer(row.version),
    body: bytes(row.body),
  }
}
