/** Writes the rows of the console's databases as SQL: a statement makes all rows of a range of payments. @module */
import { packPricing } from '../../../packages/store-sql/src/payments/pricing.js'
import { everyMs, hotWallet, integrationCount, newest, type SqlWords, versions } from './dataset.js'

const usdc = { address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85', symbol: '"USDC"', decimals: 6 }
const pricing = packPricing({
  listedToken: { symbol: 'USDC', currency: 'USD' },
  feeds: [],
  calledAmount: null,
  serviceFee: null,
})
const text = (value: string) => `'${value}'`

/** Values of payment `i`, of which there are `payments`. */
function expressions({ hex, digits }: SqlWords, payments: number) {
  const scattered = hex('(i * 2654435761) % 4294967296', 8)
  const other = `'0x' || ${hex(`2 + (i * 7919) % ${integrationCount - 2}`, 40)}`
  return {
    time: `(${newest} - (${payments} - i) * ${everyMs})`,
    chain:
      'case when i % 100000 = 7 then 5 when i % 10 < 4 then 10 when i % 10 < 6 then 1 when i % 10 < 8 then 137 else 8453 end',
    hash: `'0x' || ${scattered} || ${hex('i', 56)}`,
    source: `case when i % 33 = 5 then '0xaa' || ${scattered} || ${hex('i', 56)} end`,
    integration: `case when i % 50 = 3 then null when i % 50000 = 11 then '0x' || ${hex(`${integrationCount}`, 40)}
      when i % 5 = 0 then '0x' || ${hex('1', 40)} else ${other} end`,
    sender: `case when i % 20 = 1 then ${text(hotWallet)} else '0x' || ${hex('i % 50021', 40)} end`,
    memo: `'0x6f7264657220' || ${digits('i')} || '${'0'.repeat(36)}'`,
    state: `case when i % 200 = 9 then 'failure' when i % 100 = 8 then 'pending' when i % 97 = 0 then null else 'success' end`,
  }
}

/** Conditions of the deliveries of payment `i` and version `v` that were superseded or exhausted. */
const isSuperseded = 'v = 1 and i % 20 = 3'
const isExhausted = `v = ${versions} and i % 200 = 13`

/** The stored body of every version. */
const packed = `1${JSON.stringify([
  'success',
  ['Kiosk an der Bruecke, Bahnhofstrasse 1, 8001 Zuerich', 'Counter 3'],
  ['12.50', 'CHF', null, null],
])}`

/** Statements that make the rows of payments `from` to `to`, of so many. */
export function fillStatements(words: SqlWords, from: number, to: number, payments: number): string[] {
  const { schema, bytes, unhex, numbers } = words
  const { time, chain, hash, source, integration, sender, memo, state } = expressions(words, payments)
  const rows = `${numbers(from, to, 'i')} n`
  const deliveryId = `(i - 1) * ${versions} + v`
  const createdAt = `${time} + v * ${everyMs / versions}`
  const invoice = `case when i % 3 = 0 then '["' || (i % 9973) || '.50","EUR","14.02","USD"]' end`
  const isPending = `(v = ${versions} and i > ${payments - Math.ceil(payments / 50)})`
  const each = `${rows} cross join ${numbers(1, versions, 'v')} m`
  const attempts = `case when ${isExhausted} then 8 when ${isSuperseded} then 2 when i % 40 = 7 then 2 else 1 end`
  return [
    `insert into ${schema}payments (id, chain_id, tx_hash, ordinal, log_index, block_number, block_hash, block_timestamp,
       router_address, router_version, sender, receiver, memo, integration, source_chain_id, source_tx_hash,
       token_in_address, token_in_symbol, token_in_decimals, token_in_amount, token_out_gross, token_out_net,
       is_primary, pricing, off_chain)
     select i, ${chain}, ${unhex(hash)}, 0, 3, 10000000 + i, ${unhex(`'0x' || ${words.hex('i / 4', 64)}`)}, ${time},
       ${unhex(text('0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9'))}, '0.8', ${unhex(sender)},
       ${unhex(`'0x' || ${words.hex('i % 3000', 40)}`)}, ${unhex(memo)}, ${unhex(integration)},
       case when ${source} is null then null else 1 end, ${unhex(source)}, ${unhex(text(usdc.address))},
       ${text(usdc.symbol)}, 6, '10038880', '10038880', '10018803', 1, ${text(pricing ?? '')}, 0
     from ${rows}`,
    `insert into ${schema}statuses (payment_id, block_timestamp, version, state, recipient, invoice)
     select i, ${time}, ${versions}, ${state}, '["Kiosk an der Bruecke","Counter 3"]', ${invoice}
     from ${rows}`,
    `insert into ${schema}snapshots (id, payment_id, version, integration, created_at, undelivered, body)
     select ${deliveryId}, i, v, ${unhex(integration)}, ${createdAt},
       case when i % 50 = 3 then null when ${isSuperseded} then 'superseded'
         when ${isExhausted} and not ${isPending} then 'exhausted' end,
       ${bytes(text(packed))}
     from ${each} order by i, v`,
    `insert into ${schema}outbox (id, integration, lane, due_at, claim_token, attempted, schedule_from, replayed_at)
     select ${deliveryId}, ${unhex(integration)}, 1, ${createdAt} + 60000, null, 1, 0, null
     from ${each} where i % 50 <> 3 and ${isPending} order by i, v`,
    `insert into ${schema}attempts (delivery_id, number, started_at, latency_ms, status, reason, excerpt, replay)
     select ${deliveryId}, k, ${createdAt} + 20 + (k - 1) * 60000, 40 + i % 300,
       case when k = lasts and not ${isPending} and not (${isExhausted}) then 204 else 500 end,
       case when k = lasts and not ${isPending} and not (${isExhausted}) then null else '"status_500"' end,
       case when k = lasts and not ${isPending} and not (${isExhausted}) then null else '"${'internal error '.repeat(60)}"' end,
       0
     from (select i, v, k, ${attempts} as lasts from ${each} cross join ${numbers(1, 8, 'k')} t
       where i % 50 <> 3) a
     where k <= lasts order by i, v, k`,
    `insert into ${schema}updates (seq, payment_id, version, id, fingerprint, outcome)
     select i, i, 2, 'update-' || i, ${bytes("'0123456789abcdef'")}, 'applied'
     from ${rows} where i % 5 = 0`,
  ]
}

/** Statements for the tables whose size does not depend on the payments. */
export function fillOthers({ schema, hex, unhex, numbers }: SqlWords, chainIds: readonly number[]): string[] {
  return [
    `insert into ${schema}endpoints (integration, failures, blocks, failing_since, blocked_until)
     select ${unhex(`'0x' || ${hex('i', 40)}`)}, 9, 0, ${newest - 900_000}, null from ${numbers(1, 20, 'i')} n`,
    `insert into ${schema}audit (seq, at, actor, action, subject, details, key_version, hash)
     select 1000000 + i, ${newest} + i, '"cli:alice"', 'integration.disabled', '"0x01"', '{}', 1, 'x' || i from ${numbers(1, 10_000, 'i')} n`,
    ...chainIds.flatMap((chainId) => [
      `insert into ${schema}proofs (chain_id, from_block, to_block, proof, endpoint)
       select ${chainId}, 10000000 + i * 100, 10000000 + i * 100 + 99, 'root', '"https://node.example"' from ${numbers(1, 10_000, 'i')} n`,
      `insert into ${schema}coverage (chain_id, router, from_block, to_block)
       select ${chainId}, '0x' || ${hex('i', 40)}, 10000000, null from ${numbers(1, 3, 'i')} n`,
      `insert into ${schema}checkpoints (chain_id, block_number, block_hash)
       values (${chainId}, 11000000, '0x' || ${hex('1', 64)})`,
    ]),
  ]
}
