/** Fills a day: payments with a delivered version and an update each, as statements make them. @module */
import type pg from 'pg'
import { integrations } from '../updates/payments.js'

/** Payments of a statement. */
const batch = 50_000

const packed = `1${JSON.stringify(['success', ['Kiosk an der Bruecke', 'Counter 3'], null])}`

/** Adds the payments of a day, whose versions were made at `now`. */
export async function fillDay(
  client: pg.Client,
  { now, day, payments }: { readonly now: number; readonly day: number; readonly payments: number },
): Promise<void> {
  for (let from = 0; from < payments; from += batch) {
    const first = 1_000_000_000 * (day + 1) + from
    await client.query(statement(now, first, Math.min(batch, payments - from)))
  }
}

function statement(now: number, first: number, count: number): string {
  const last = first + count - 1
  const scattered = (seed: string, bytes: number) => `substring(sha256(('${seed}' || i)::bytea) from 1 for ${bytes})`
  const integration = `decode(lpad(to_hex(i % ${integrations.length}), 40, 'c'), 'hex')`
  return `with p as (
      insert into payment_integration.payments (chain_id, tx_hash, ordinal, log_index, block_number, block_hash,
        block_timestamp, router_address, router_version, sender, receiver, memo, integration, token_in_address,
        token_in_symbol, token_in_decimals, token_in_amount, token_out_gross, token_out_net, is_primary, off_chain)
      select 10, ${scattered('t', 32)}, 0, 3, i, ${scattered('b', 32)}, ${now}, ${scattered('', 20)}, '0.8',
        ${scattered('s', 20)}, ${scattered('r', 20)}, ${scattered('m', 32)}, ${integration}, ${scattered('', 20)},
        '"USDC"', 6, '10038880', '10038880', '10018803', 1, 0 from generate_series(${first}, ${last}) n (i)
      returning id, integration),
    s as (
      insert into payment_integration.snapshots (payment_id, created_at, version, integration, body)
      select id, ${now}, 1, integration, '${packed}'::bytea from p returning id),
    u as (
      insert into payment_integration.updates (payment_id, version, id, fingerprint, outcome)
      select id, 1, 'evt_' || md5(id::text), '0123456789abcdef'::bytea, 'applied' from p)
    insert into payment_integration.attempts (delivery_id, started_at, latency_ms, number, status, replay)
    select id, ${now}, 45, 1, 204, 0 from s`
}
