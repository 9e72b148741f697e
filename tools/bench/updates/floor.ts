/** The floor: the statements of an update alone, prepared, without a rule and without a check. @module */
import { createHash } from 'node:crypto'
import pg from 'pg'
import { hexBytes } from '../../../packages/store-sql/src/internal/hex.js'
import { updateAt } from './payments.js'

const tables = (name: string) => `payment_integration.${name}`
const ofHashes = `p.tx_hash = any($1::bytea[]) and coalesce(p.is_primary, 0) = 1
  order by p.tx_hash, p.chain_id, p.ordinal`
const texts = {
  lock: `select p.id, p.integration, p.block_timestamp from ${tables('payments')} p where ${ofHashes} for update of p`,
  read: `select p.id, s.version, s.state, s.recipient, s.invoice from ${tables('payments')} p
    left join ${tables('statuses')} s on s.payment_id = p.id where ${ofHashes}`,
  find: `select id from ${tables('updates')} where id = any($1::text[])`,
  update: `insert into ${tables('updates')} (id, payment_id, fingerprint, outcome, version)
    select id, payment_id, fingerprint, 'applied', $4
    from unnest($1::text[], $2::bigint[], $3::bytea[]) as v (id, payment_id, fingerprint)`,
  status: `insert into ${tables('statuses')} (payment_id, block_timestamp, version, state, recipient, invoice)
    select id, at, $6, $3, $4, $5 from unnest($1::bigint[], $2::bigint[]) as v (id, at)
    on conflict (payment_id) do update
    set version = excluded.version, state = excluded.state, recipient = excluded.recipient, invoice = excluded.invoice`,
  settle: `delete from ${tables('unsettled')} where chain_id = 10 and payment_id = any($1::bigint[])`,
  snapshot: `with made as (
      insert into ${tables('snapshots')} (payment_id, version, integration, created_at, body)
      select id, $2, integration, $4, convert_to(body, 'UTF8')
      from unnest($1::bigint[], $3::bytea[], $5::text[]) as v (id, integration, body)
      returning id, integration, created_at)
    insert into ${tables('outbox')} (id, integration, due_at, lane, attempted, schedule_from)
    select id, integration, created_at, 0, 0, 0 from made`,
} as const

/** The values of an object as a JSON array, as the store has them. */
const arrayOf = (values: object | null | undefined) => (values ? JSON.stringify(Object.values(values)) : null)

/** Opens a connection; `apply` changes payments, so many in a transaction. */
export async function openFloor(connectionString: string, batch: number) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off; set plan_cache_mode = force_generic_plan')
  const run = (name: keyof typeof texts, values: unknown[]) => client.query({ name, text: texts[name], values })

  async function one(payments: readonly number[], round: number): Promise<void> {
    const updates = payments.map((n) => updateAt(n, round))
    const [first = 0] = payments
    const bodies = updates.map((update) => JSON.stringify(update))
    const fingerprints = bodies.map((body) => createHash('sha256').update(body).digest().subarray(0, 16))
    const {
      state,
      recipient = updateAt(first, 0).recipient,
      invoice = updateAt(first, 0).invoice,
    } = updateAt(first, round)
    const version = round + 2
    await client.query('begin')
    const hashes = updates.map(({ txHash }) => hexBytes(txHash))
    const { rows } = await run('lock', [hashes])
    await run('read', [hashes])
    const ids = rows.map(({ id }) => id)
    const times = rows.map((row) => row.block_timestamp)
    await run('find', [updates.map(({ id }) => id)])
    await run('update', [updates.map(({ id }) => id), ids, fingerprints, version])
    await run('status', [ids, times, state, arrayOf(recipient), arrayOf(invoice), version])
    if (state === 'success') await run('settle', [ids])
    await run('snapshot', [ids, version, rows.map(({ integration }) => integration), Date.now(), bodies])
    await client.query('commit')
  }

  return {
    async apply(payments: readonly number[], round: number) {
      for (let done = 0; done < payments.length; done += batch) await one(payments.slice(done, done + batch), round)
    },
    close: () => client.end(),
  }
}
