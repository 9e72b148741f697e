/**
 * The floor: raw fetch, JSON.parse, decoding by hand, one statement per table and range, four ranges in flight. It
 * reads blocks, and the receipts of those with transactions. It checks that headers follow each other, and writes
 * payments and outbox rows. It adapts nothing, proves nothing, retries nothing, and cannot be resumed.
 *
 * @module
 */
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { integrationAddress } from './integration.js'
import { peakKiB } from './peak.js'

const { RPC_URL: rpcUrl = '', PI_DATABASE_URL: databaseUrl = '', ROUTER: router = '' } = process.env
const from = Number(process.env['FROM'])
const to = Number(process.env['TO'])
/** Blocks per range. */
const size = Number(process.env['RANGE'])
/** Ranges in flight. */
const open = 4

type Row = readonly (string | number)[]
interface Fetched {
  readonly headers: readonly Header[]
  readonly logs: readonly Log[]
}
interface Header {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly transactions: readonly { readonly hash: string; readonly input: string }[]
}
interface Receipt {
  readonly logs: readonly Log[]
}
interface Log {
  readonly address: string
  readonly transactionHash: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly logIndex: string
  readonly topics: readonly string[]
  readonly data: string
}

const topic = '0x34597715a6a440e45ac583030622c386dc1299eb0d4fc56eaa9eba541462bbcd'
const columns = [
  'tx_hash',
  'block_number',
  'block_hash',
  'time',
  'log_index',
  'sender',
  'receiver',
  'token',
  'gross',
  'net',
  'memo',
  'integration',
]
const integers = new Set(['block_number', 'time', 'log_index'])
const write = databaseUrl.startsWith('sqlite:') ? openSqlite(databaseUrl.slice('sqlite:'.length)) : openPostgres()

let parent: string | undefined
const reading: Promise<Fetched>[] = []
let nextAt = from
for (let at = from; at <= to; at += size) {
  for (; reading.length < open && nextAt <= to; nextAt += size) reading.push(read(nextAt))
  const { headers, logs } = (await reading.shift()) as Fetched
  const times = new Map<string, number>()
  const inputs = new Map<string, string>()
  for (const { hash, parentHash, timestamp, transactions } of headers) {
    if (parent !== undefined && parent !== parentHash) throw new Error('The chain changed.')
    parent = hash
    times.set(hash, Number(timestamp) * 1_000)
    for (const { hash: txHash, input } of transactions) inputs.set(txHash, input)
  }
  const payments = logs.map((log) => decode(log, times, inputs))
  await (await write)(payments, payments.map(bodyOf))
}
process.send?.({ peakKiB: peakKiB() }, undefined, undefined, () => process.exit())

async function read(start: number): Promise<Fetched> {
  const end = Math.min(to, start + size - 1)
  const heights = Array.from({ length: end - start + 1 }, (_, n) => hex(start + n))
  const blocks = heights.map((height): Call => ['eth_getBlockByNumber', [height, true]])
  const headers = (await ask(blocks)) as Header[]
  const full = headers.filter(({ transactions }) => transactions.length > 0)
  const receipts = full.map(({ number }): Call => ['eth_getBlockReceipts', [number]])
  const logs = ((await ask(receipts)) as Receipt[][]).flat().flatMap((receipt) => receipt.logs)
  return { headers, logs: logs.filter(({ address, topics }) => address === router && topics[0] === topic) }
}

type Call = readonly [method: string, params: readonly unknown[]]

function hex(height: number): string {
  return `0x${height.toString(16)}`
}

/** Sends one request with all calls, and resolves their results in order. */
async function ask(requested: readonly Call[]): Promise<unknown[]> {
  const calls = requested.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(calls) })
  const results = JSON.parse(await answer.text()) as { id: number; result: unknown }[]
  return results.sort((a, b) => a.id - b.id).map(({ result }) => result)
}

function decode(log: Log, times: ReadonlyMap<string, number>, inputs: ReadonlyMap<string, string>): Row {
  const word = (n: number) => log.data.slice(2 + 64 * n, 66 + 64 * n)
  const gross = BigInt(`0x${word(1)}`)
  return [
    log.transactionHash,
    Number(log.blockNumber),
    log.blockHash,
    times.get(log.blockHash) ?? 0,
    Number(log.logIndex),
    `0x${log.topics[1]?.slice(26)}`,
    `0x${log.topics[2]?.slice(26)}`,
    `0x${word(0).slice(24)}`,
    String(gross),
    String(gross - BigInt(`0x${word(2)}`)),
    `0x${word(3)}`,
    named(inputs.get(log.transactionHash) ?? ''),
  ]
}

/** The address before the marker at the end of the calldata. */
function named(input: string): string {
  const end = input.length - 36
  return Buffer.from(input.slice(end - 84, end), 'hex').toString()
}

function bodyOf([txHash]: Row): string {
  return JSON.stringify({
    integrationAddress,
    chainId: '31337',
    txHash,
    version: 1,
    state: null,
    recipient: null,
    invoice: null,
  })
}

type Write = (payments: readonly Row[], bodies: readonly string[]) => Promise<void>

async function openSqlite(path: string): Promise<Write> {
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  const typed = columns.map((name) => `${name} ${integers.has(name) ? 'integer' : 'text'} not null`)
  database.exec(
    `create table payments (id integer primary key, ${typed.join(', ')}, unique (tx_hash, log_index)) strict`,
  )
  database.exec('create table outbox (payment_id integer primary key, body text not null) strict')
  const payment = database.prepare(
    `insert into payments (id, ${columns.join(', ')}) values (?${', ?'.repeat(columns.length)})`,
  )
  const outbox = database.prepare('insert into outbox values (?, ?)')
  let id = 0
  return async (payments, bodies) => {
    database.exec('begin immediate')
    for (const [nth, row] of payments.entries()) {
      id += 1
      payment.run(id, ...row)
      outbox.run(id, bodies[nth] ?? '')
    }
    database.exec('commit')
  }
}

async function openPostgres(): Promise<Write> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const type = (name: string) => (integers.has(name) ? 'bigint' : 'text')
  const typed = columns.map((name) => `${name} ${type(name)} not null`)
  await client.query(`create table payments (id bigint primary key, ${typed.join(', ')}, unique (tx_hash, log_index))`)
  await client.query('create table outbox (payment_id bigint primary key, body text not null)')
  const arrays = ['id', ...columns].map((name, nth) => `$${nth + 1}::${type(name === 'id' ? 'log_index' : name)}[]`)
  let written = 0
  return async (payments, bodies) => {
    const ids = payments.map(() => (written += 1))
    await client.query('begin')
    await client.query(`insert into payments (id, ${columns.join(', ')}) select * from unnest(${arrays.join(', ')})`, [
      ids,
      ...columns.map((_, nth) => payments.map((row) => row[nth])),
    ])
    await client.query('insert into outbox select * from unnest($1::bigint[], $2::text[])', [ids, bodies])
    await client.query('commit')
  }
}
