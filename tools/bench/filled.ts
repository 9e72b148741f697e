/** Fills large databases for the benches of reads: the same rows in JavaScript and in SQL. @module */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packPricing } from '../../packages/store-sql/src/payments/payment-row.js'
import { type BenchDatabase, createServiceOn, type Engine, openDatabase } from './databases.js'

/** The newest block time, in unix milliseconds. */
export const newestMs = 1_760_000_000_000
/** Time from one payment to the next. */
const paymentIntervalMs = 1_000
/** Versions of each payment, with one delivery each. */
export const versionCount = 5
/** Integrations; the first has a fifth of all payments, the last very few. */
export const integrationCount = 200
/** Chains by their share; the last has one payment in 100,000. */
export const chainIds: readonly number[] = [10, 1, 137, 8453, 5]
/** A wallet that sent a quarter and received a quarter of the first integration's payments, and sent some others. */
export const hotWallet = `0x${'c3'.repeat(20)}`

/** The address of an integration, from 0. */
export const integrationAt = (n: number): string => `0x${(n + 1).toString(16).padStart(40, '0')}`

/** Hash of the transaction of a payment: ids go from 1, the oldest. */
export function txHashAt(id: number): string {
  const scattered = ((id * 2_654_435_761) % 4_294_967_296).toString(16).padStart(8, '0')
  return `0x${scattered}${id.toString(16).padStart(56, '0')}`
}

/** Block time of a payment, in unix milliseconds. @param payments - Number of all payments. */
export const timestampAt = (id: number, payments: number): number => newestMs - (payments - id) * paymentIntervalMs

export function chainAt(id: number): number {
  if (id % 100_000 === 7) return 5
  const tenth = id % 10
  return tenth < 4 ? 10 : tenth < 6 ? 1 : tenth < 8 ? 137 : 8453
}

/** How large a database is, and where it stays for the next bench. */
export interface FillOptions {
  readonly payments: number
  readonly keep: string
}

/** Payments that one transaction inserts. */
const batch = 50_000

/** Opens a database, and fills it unless a former bench did. */
export async function openFilled(engine: Engine, { payments, keep }: FillOptions): Promise<BenchDatabase> {
  const folder = join(keep, `${engine.toLowerCase()}-${payments}`)
  const database = await openDatabase(engine, folder)
  try {
    const marker = join(folder, 'filled')
    if (!existsSync(marker)) {
      await fill(database, payments)
      await writeFile(marker, '')
    }
    return database
  } catch (error) {
    await database.end()
    throw error
  }
}

async function fill(database: BenchDatabase, payments: number): Promise<void> {
  const store = database.openStore()
  await store.migrate()
  const { integrations } = createServiceOn(store)
  for (let n = 0; n < integrationCount; n += 1) {
    const about = { name: `Shop ${n}`, notificationUrl: `http://127.0.0.1:9/${n}` }
    await integrations.create({ address: integrationAt(n), ...about })
  }
  const dialect = database.engine === 'SQLite' ? sqliteDialect : postgresDialect
  const connection = await database.connect()
  const runAll = (statements: readonly string[]) => connection.run(['begin', ...statements, 'commit'].join(';\n'))
  for (let from = 1; from <= payments; from += batch)
    await runAll(buildPaymentStatements(dialect, from, Math.min(payments, from + batch - 1), payments))
  await runAll(buildOtherStatements(dialect))
  const nextId = payments * versionCount + 1
  if (database.engine === 'PostgreSQL')
    for (const [table, column] of Object.entries({ payments: 'id', snapshots: 'id', updates: 'seq' }))
      await connection.run(`select setval(pg_get_serial_sequence('${table}', '${column}'), ${nextId})`)
  await store.console.prepare()
  await store.close()
  await connection.close()
  await database.settle()
}

/** SQL expressions that differ between the two databases. */
interface FillDialect {
  /** Lowercase hexadecimal digits of a number, with zeros in front. */
  hex(number: string, width: number): string
  /** Hexadecimal digits of the bytes of a number's eight decimal digits. */
  digits(number: string): string
  bytes(text: string): string
  /** The bytes of `0x` text. */
  unhex(text: string): string
  /** A table with one column. */
  numbers(from: number, to: number, column: string): string
}

const sqliteDialect: FillDialect = {
  hex: (number, width) => `printf('%0${width}x', ${number})`,
  digits: (number) => `hex(printf('%08d', ${number}))`,
  bytes: (text) => `cast(${text} as blob)`,
  unhex: (text) => `unhex(substr(${text}, 3))`,
  numbers: (from, to, column) =>
    `(with recursive s(${column}) as (select ${from} union all select ${column} + 1 from s where ${column} < ${to}) select * from s)`,
}

const postgresDialect: FillDialect = {
  hex: (number, width) => `lpad(to_hex((${number})::bigint), ${width}, '0')`,
  digits: (number) => `encode(convert_to(lpad((${number})::text, 8, '0'), 'UTF8'), 'hex')`,
  bytes: (text) => `convert_to(${text}, 'UTF8')`,
  unhex: (text) => `decode(substr(${text}, 3), 'hex')`,
  numbers: (from, to, column) => `(select ${column}::bigint from generate_series(${from}, ${to}) as s(${column}))`,
}

const usdc = { address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85', symbol: '"USDC"', decimals: 6 }
const pricing = packPricing({
  listedToken: { symbol: 'USDC', currency: 'USD' },
  feeds: [],
  calledAmount: null,
  serviceFee: null,
})
const quote = (value: string) => `'${value}'`

/** Values of payment `i`. @param payments - Number of all payments. */
function buildExpressions({ hex, digits }: FillDialect, payments: number) {
  const scattered = hex('(i * 2654435761) % 4294967296', 8)
  const other = `'0x' || ${hex(`2 + (i * 7919) % ${integrationCount - 2}`, 40)}`
  return {
    time: `(${newestMs} - (${payments} - i) * ${paymentIntervalMs})`,
    chain:
      'case when i % 100000 = 7 then 5 when i % 10 < 4 then 10 when i % 10 < 6 then 1 when i % 10 < 8 then 137 else 8453 end',
    hash: `'0x' || ${scattered} || ${hex('i', 56)}`,
    source: `case when i % 33 = 5 then '0xaa' || ${scattered} || ${hex('i', 56)} end`,
    integration: `case when i % 50 = 3 then null when i % 50000 = 11 then '0x' || ${hex(`${integrationCount}`, 40)}
      when i % 5 = 0 then '0x' || ${hex('1', 40)} else ${other} end`,
    sender: `case when i % 20 in (1, 5) then ${quote(hotWallet)} else '0x' || ${hex('i % 50021', 40)} end`,
    receiver: `case when i % 20 = 15 then ${quote(hotWallet)} else '0x' || ${hex('i % 3000', 40)} end`,
    memo: `'0x6f7264657220' || ${digits('i')} || '${'0'.repeat(36)}'`,
    state: `case when i % 200 = 9 then 'failure' when i % 100 = 8 then 'pending' when i % 97 = 0 then null else 'success' end`,
  }
}

/** Conditions of the deliveries of payment `i` and version `v` that were superseded or exhausted. */
const isSuperseded = 'v = 1 and i % 20 = 3'
const isExhausted = `v = ${versionCount} and i % 200 = 13`

/** The stored body of every version. */
const packed = `1${JSON.stringify([
  'success',
  ['Kiosk an der Bruecke, Bahnhofstrasse 1, 8001 Zuerich', 'Counter 3'],
  ['12.50', 'CHF', null, null],
])}`

/** Statements that make the rows of payments `from` to `to`. @param payments - Number of all payments. */
function buildPaymentStatements(dialect: FillDialect, from: number, to: number, payments: number): string[] {
  const { bytes, unhex, numbers } = dialect
  const { time, chain, hash, source, integration, sender, receiver, memo, state } = buildExpressions(dialect, payments)
  const paymentRows = `${numbers(from, to, 'i')} n`
  const deliveryId = `(i - 1) * ${versionCount} + v`
  const createdAt = `${time} + v * ${paymentIntervalMs / versionCount}`
  const invoice = `case when i % 3 = 0 then '["' || (i % 9973) || '.50","EUR","14.02","USD"]' end`
  const isPending = `(v = ${versionCount} and i > ${payments - Math.ceil(payments / 50)})`
  const versionRows = `${paymentRows} cross join ${numbers(1, versionCount, 'v')} m`
  const attempts = `case when ${isExhausted} then 8 when ${isSuperseded} then 2 when i % 40 = 7 then 2 else 1 end`
  return [
    `insert into payments (id, chain_id, tx_hash, ordinal, log_index, block_number, block_hash, block_timestamp,
       router_address, router_version, sender, receiver, memo, integration, source_chain_id, source_tx_hash,
       token_in_address, token_in_symbol, token_in_decimals, token_in_amount, token_out_gross, token_out_net,
       is_primary, pricing, off_chain)
     select i, ${chain}, ${unhex(hash)}, 0, 3, 10000000 + i, ${unhex(`'0x' || ${dialect.hex('i / 4', 64)}`)}, ${time},
       ${unhex(quote('0x1f7c4f45c8a398381616c74269f9fb8060e3ddc9'))}, '0.8', ${unhex(sender)},
       ${unhex(receiver)}, ${unhex(memo)}, ${unhex(integration)},
       case when ${source} is null then null else 1 end, ${unhex(source)}, ${unhex(quote(usdc.address))},
       ${quote(usdc.symbol)}, 6, '10038880', '10038880', '10018803', 1, ${quote(pricing ?? '')}, 0
     from ${paymentRows}`,
    `insert into statuses (payment_id, block_timestamp, version, state, recipient, invoice)
     select i, ${time}, ${versionCount}, ${state}, '["Kiosk an der Bruecke","Counter 3"]', ${invoice}
     from ${paymentRows}`,
    `insert into snapshots (id, payment_id, version, integration, created_at, undelivered, body)
     select ${deliveryId}, i, v, ${unhex(integration)}, ${createdAt},
       case when i % 50 = 3 then null when ${isSuperseded} then 'superseded'
         when ${isExhausted} and not ${isPending} then 'exhausted' end,
       ${bytes(quote(packed))}
     from ${versionRows} order by i, v`,
    `insert into outbox (id, integration, lane, due_at, claim_token, attempted, schedule_from, replayed_at)
     select ${deliveryId}, ${unhex(integration)}, 1, ${createdAt} + 60000, null, 1, 0, null
     from ${versionRows} where i % 50 <> 3 and ${isPending} order by i, v`,
    `insert into attempts (delivery_id, number, started_at, latency_ms, status, reason, excerpt, replay)
     select ${deliveryId}, k, ${createdAt} + 20 + (k - 1) * 60000, 40 + i % 300,
       case when k = lasts and not ${isPending} and not (${isExhausted}) then 204 else 500 end,
       case when k = lasts and not ${isPending} and not (${isExhausted}) then null else '"status_500"' end,
       case when k = lasts and not ${isPending} and not (${isExhausted}) then null else '"${'internal error '.repeat(60)}"' end,
       0
     from (select i, v, k, ${attempts} as lasts from ${versionRows} cross join ${numbers(1, 8, 'k')} t
       where i % 50 <> 3) a
     where k <= lasts order by i, v, k`,
    `insert into updates (seq, payment_id, version, id, fingerprint, outcome)
     select i, i, 2, 'update-' || i, ${bytes("'0123456789abcdef'")}, 'applied'
     from ${paymentRows} where i % 5 = 0`,
  ]
}

/** Statements for the tables whose size does not depend on the payments. */
function buildOtherStatements({ hex, unhex, numbers }: FillDialect): string[] {
  return [
    `insert into endpoints (integration, failures, blocks, failing_since, blocked_until)
     select ${unhex(`'0x' || ${hex('i', 40)}`)}, 9, 0, ${newestMs - 900_000}, null from ${numbers(1, 20, 'i')} n`,
    `insert into audit (seq, at, actor, action, subject, details, key_version, hash)
     select 1000000 + i, ${newestMs} + i, '"cli:alice"', 'integration.disabled', '"0x01"', '{}', 1, 'x' || i from ${numbers(1, 10_000, 'i')} n`,
    ...chainIds.flatMap((chainId) => [
      `insert into proofs (chain_id, from_block, to_block, proof, node)
       select ${chainId}, 10000000 + i * 100, 10000000 + i * 100 + 99, 'root', '"https://node.example"' from ${numbers(1, 10_000, 'i')} n`,
      `insert into coverage (chain_id, router, from_block, to_block)
       select ${chainId}, '0x' || ${hex('i', 40)}, 10000000, null from ${numbers(1, 3, 'i')} n`,
      `insert into checkpoints (chain_id, block_number, block_hash)
       values (${chainId}, 11000000, '0x' || ${hex('1', 64)})`,
    ]),
  ]
}
