/**
 * The floor: the same SQL and the same JSON in a bare handler on the same HTTP library, without authentication,
 * validation, cursor, ports and error table. It answers the same bytes as the product, except for `nextCursor`.
 *
 * @module
 */
import { serve } from '@hono/node-server'
import { DatabaseSync } from '@photostructure/sqlite'
import { type Context, Hono } from 'hono'
import pg from 'pg'
import { formatUnits } from '../../../packages/core/src/payments/units.js'
import { hexBytes, hexOf } from '../../../packages/store-sql/src/internal/hex.js'
import { answerParent } from './child.js'
import { chainId, integrationAddress, wallet } from './dataset.js'

type Row = Readonly<Record<string, string> & Record<Bytes, Uint8Array>>
type Bytes = 'tx_hash' | 'sender' | 'receiver' | 'memo' | 'source_tx_hash' | 'token_in_address' | 'token_out_address'
type Read = (name: string, sql: string, parameters: readonly unknown[]) => Promise<Row[]>

const order = 'block_timestamp desc, chain_id desc, tx_hash desc'
const place = '(payments.block_timestamp, chain_id, tx_hash)'
const mine = 'integration = $1 and is_primary = 1'
const moves = '(select seq from page_epochs where integration = $1) as as_of'
const columns = 'payments.*, version, state, recipient, invoice'
const withStatus = 'left join statuses on statuses.payment_id = payments.id'
const own = `from payments ${withStatus} where ${mine}`
const newest = 'payments.block_timestamp desc, chain_id desc, tx_hash desc'
const side = (column: string, within: string) =>
  `select * from (select id, block_timestamp, chain_id, tx_hash from payments where ${mine} and ${column} >= $2 and
   ${within} order by ${column} desc, ${order} limit 51) as ${column}`
const walletPage = (sender: string, receiver: string) =>
  `select ${columns}, ${moves} from
    (select * from (${sender} union ${receiver}) as found order by ${order} limit 51) as keys
    join payments on payments.id = keys.id ${withStatus}
    order by keys.block_timestamp desc, keys.chain_id desc, keys.tx_hash desc`
const behind = (column: string) => `(${column}, block_timestamp, chain_id, tx_hash) < ($2, $3, $4, $5)`
const queries = {
  page: `select ${columns}, ${moves} ${own} order by ${newest} limit 51`,
  deepPage: `select ${columns}, ${moves} ${own} and ${place} < ($2, $3, $4) order by ${newest} limit 51`,
  walletPage: walletPage(side('sender', 'sender <= $2'), side('receiver', 'receiver <= $2')),
  deepWalletPage: walletPage(side('sender', behind('sender')), side('receiver', behind('receiver'))),
  single: `select ${columns} from payments ${withStatus}
    where tx_hash = $2 and integration = $1 and coalesce(is_primary, 0) = 1 order by chain_id limit 2`,
  transaction: `select payments.*, chain.indexed_to from
    (select max(block_number) as indexed_to from checkpoints where chain_id = $1) as chain
    left join payments on payments.chain_id = $1 and payments.tx_hash = $2 order by payments.ordinal`,
} as const

const integration = hexBytes(integrationAddress)
const walletBytes = hexBytes(wallet)
const read = await openDatabase(process.env['PI_DATABASE_URL'] ?? '')
const app = new Hono()
app.get('/api/v1/integration/payments', async (c) => {
  const [time, chain, hash] = c.req.query('cursor')?.split('.') ?? []
  const rows =
    time === undefined
      ? await read('page', queries.page, [integration])
      : await read('deepPage', queries.deepPage, [integration, Number(time), Number(chain), hexBytes(hash ?? '0x')])
  return page(c, rows)
})
app.get('/api/v1/integration/wallet/:address/payments', async (c) => {
  const [time, chain, hash] = c.req.query('cursor')?.split('.') ?? []
  const rows =
    time === undefined
      ? await read('walletPage', queries.walletPage, [integration, walletBytes])
      : await read('deepWalletPage', queries.deepWalletPage, [
          integration,
          walletBytes,
          Number(time),
          Number(chain),
          hexBytes(hash ?? '0x'),
        ])
  return page(c, rows)
})
app.get('/api/v1/integration/payments/:txHash', async (c) => {
  const [row] = await read('single', queries.single, [integration, hexBytes(c.req.param('txHash'))])
  return row === undefined ? c.notFound() : json(c, payment(row))
})
app.get('/api/v1/tx/:chainId/:txHash', async (c) => {
  const rows = await read('transaction', queries.transaction, [chainId, hexBytes(c.req.param('txHash'))])
  return json(c, { chainId, txHash: c.req.param('txHash'), payments: rows.map(legacyPayment) })
})

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  answerParent(`http://127.0.0.1:${port}`, () => new Promise((resolve) => server.close(resolve))),
)

async function openDatabase(url: string): Promise<Read> {
  if (!url.startsWith('sqlite:')) {
    const pool = new pg.Pool({ connectionString: url, max: 10, options: '-c search_path=payment_integration' })
    return async (name, text, values) => (await pool.query<Row>({ name, text, values: [...values] })).rows
  }
  const database = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true })
  database.exec('pragma cache_size = -32768')
  const prepared = new Map(
    Object.entries(queries).map(([name, sql]) => [name, database.prepare(sql.replaceAll(/\$(\d)/g, '?$1'))]),
  )
  return async (name, _, values) => prepared.get(name)?.all(...(values as never[])) as unknown as Row[]
}

function page(c: Context, rows: readonly Row[]) {
  return json(c, { payments: rows.slice(0, 50).map(payment), nextCursor: 'A'.repeat(98) })
}

function json(c: Context, body: object) {
  return c.json(body, 200, { 'Cache-Control': 'private, no-store' })
}

function payment(row: Row) {
  const [title, subtitle] = parsed(row['recipient']) ?? []
  const [amount, currency, settlementAmount, settlementCurrency] = parsed(row['invoice']) ?? []
  const out = row['token_out_address'] === null ? 'in' : 'out'
  return {
    integrationAddress,
    chainId: String(row['chain_id']),
    txHash: hexOf(row['tx_hash']),
    version: Number(row['version'] ?? 1),
    state: row['state'] ?? null,
    recipient: title === undefined ? null : { title, subtitle },
    invoice: amount === undefined ? null : { amount, currency, settlementAmount, settlementCurrency },
    sender: hexOf(row['sender']),
    receiver: hexOf(row['receiver']),
    memo: memo(row),
    blockTimestamp: new Date(Number(row['block_timestamp'])).toISOString(),
    source: {
      chainId: String(row['source_chain_id'] ?? row['chain_id']),
      txHash: hexOf(row['source_tx_hash'] ?? row['tx_hash']),
    },
    tokenIn: {
      address: hexOf(row['token_in_address']),
      symbol: parsed(row['token_in_symbol']),
      amount: units(row['token_in_amount'], row['token_in_decimals']),
    },
    tokenOut: {
      address: hexOf(row[`token_${out}_address`]),
      symbol: parsed(row[`token_${out}_symbol`]),
      amountGross: units(row['token_out_gross'], row[`token_${out}_decimals`]),
      amountNet: units(row['token_out_net'], row[`token_${out}_decimals`]),
    },
  }
}

function legacyPayment(row: Row) {
  const { token_out_gross: gross = '', token_out_net: net = '' } = row
  const out = row['token_out_address'] === null ? 'in' : 'out'
  const decimals = row[`token_${out}_decimals`]
  const fees = String(BigInt(gross) - BigInt(net))
  const amount = (value: string) => ({ formatted: units(value, decimals), value })
  return {
    memo: memo(row),
    receiver: hexOf(row['receiver']),
    tokenSymbol: parsed(row[`token_${out}_symbol`]),
    tokenAmount: amount(gross),
    tokenAmountNet: amount(net),
    totalFees: amount(fees),
    fees: [{ type: 'ServiceFee', ...amount(fees) }],
    invoiceAmount: units(gross, decimals),
    invoiceCurrency: 'USD',
    conversion: '',
    priceFeeds: [],
    final: Number(row['block_number']) + 48 <= Number(row['indexed_to']),
  }
}

function memo(row: Row): string {
  return Buffer.from(row['memo']).toString('utf8').replace(/\0+$/, '')
}

function parsed(text: string | null | undefined) {
  return text == null ? null : JSON.parse(text)
}

function units(value: string | undefined, decimals: string | undefined): string {
  return formatUnits(BigInt(value ?? 0), Number(decimals))
}
