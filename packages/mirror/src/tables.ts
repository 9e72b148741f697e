/** The tables of a mirror: names, columns, SQL, reads and writes. Source: docs/interface.md 2.1, 2.3, 6. @module */
import type { Payment, ReconcileCheckpoint } from '@payment-integration/client'
import type { PaymentKey, VersionDecision, VersionedPayment } from '@payment-integration/version-store'
import { decideVersion } from '@payment-integration/version-store'
import type { Snapshot } from '@payment-integration/webhook'
import type { Dialect, Driver, TableOptions, Value } from './database.js'
import { MirrorTableForeignError, MirrorTablesMissingError } from './errors.js'

/** Quoted names of one mirror's tables. */
export type TableNames = ReturnType<typeof quoteNames>

export const defaultPrefix = 'mirror_'

/** Checks and quotes the names. @throws {TypeError} For a name that is too long or has a forbidden character. */
export function quoteNames({ schema, prefix = defaultPrefix }: TableOptions) {
  if (typeof prefix !== 'string' || !/^[a-z_][a-z0-9_]{0,31}$/.test(prefix))
    throw new TypeError(
      `prefix is ${JSON.stringify(prefix)}; pass 1 to 32 lower-case letters, digits and underscores, not starting with a digit.`,
    )
  if (schema !== undefined && (typeof schema !== 'string' || !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)))
    throw new TypeError(
      `schema is ${JSON.stringify(schema)}; pass 1 to 63 lower-case letters, digits and underscores, not starting with a digit.`,
    )
  const inSchema = (name: string) => `${schema === undefined ? '' : `"${schema}".`}"${prefix}${name}"`
  return {
    payments: inSchema('payments'),
    state: inSchema('state'),
    /** Quotes the name of an index, which lies in the schema of its table. */
    index: (suffix: string) => `"${prefix}payments_${suffix}"`,
  }
}

/** Runs statements on a table. A missing table or column becomes an error of the mirror. */
function createQuery(driver: Driver, table: string): Driver['query'] {
  return async (sql, values) => {
    try {
      return await driver.query(sql, values)
    } catch (error) {
      const { code, message } = Object(error) as { code?: unknown; message?: unknown }
      const text = String(message)
      if (code === '42P01' || /no such table/.test(text)) throw new MirrorTablesMissingError(table, error)
      if (code === '42703' || /no such column|has no column named/.test(text))
        throw new MirrorTableForeignError(table, error)
      throw error
    }
  }
}

/** Columns by name, each with the function that gets its value from a payment. */
type Columns<Source> = Readonly<Record<string, (source: Source) => Value>>

/** The primary key of a payment. */
const keyColumns: Columns<PaymentKey> = {
  integration_address: ({ integrationAddress }) => integrationAddress,
  chain_id: ({ chainId }) => chainId,
  tx_hash: ({ txHash }) => txHash,
}

/** The other columns that a delivery carries. */
const snapshotColumns: Columns<Snapshot | Payment> = {
  version: ({ version }) => version,
  state: ({ state }) => toStorable(state),
  recipient_title: ({ recipient }) => toStorable(recipient?.title ?? null),
  recipient_subtitle: ({ recipient }) => toStorable(recipient?.subtitle ?? null),
  invoice_amount: ({ invoice }) => invoice?.amount ?? null,
  invoice_currency: ({ invoice }) => invoice?.currency ?? null,
  invoice_settlement_amount: ({ invoice }) => invoice?.settlementAmount ?? null,
  invoice_settlement_currency: ({ invoice }) => invoice?.settlementCurrency ?? null,
}

/** The columns that only the read API gives. */
const factColumns: Columns<Payment> = {
  sender: ({ sender }) => sender,
  receiver: ({ receiver }) => receiver,
  memo: ({ memo }) => toStorable(memo),
  // One format for all block times, because SQLite compares them as text.
  block_timestamp: ({ blockTimestamp }) => new Date(blockTimestamp).toISOString(),
  source_chain_id: ({ source }) => source.chainId,
  source_tx_hash: ({ source }) => source.txHash,
  token_in_address: ({ tokenIn }) => tokenIn.address,
  token_in_symbol: ({ tokenIn }) => toStorable(tokenIn.symbol),
  token_in_amount: ({ tokenIn }) => tokenIn.amount,
  token_out_address: ({ tokenOut }) => tokenOut.address,
  token_out_symbol: ({ tokenOut }) => toStorable(tokenOut.symbol),
  token_out_amount_gross: ({ tokenOut }) => tokenOut.amountGross,
  token_out_amount_net: ({ tokenOut }) => tokenOut.amountNet,
  // Unknown fields included. JSON escapes what a text column cannot hold.
  body: (payment) => JSON.stringify(payment),
  body_version: ({ version }) => version,
}

const keyNames = Object.keys(keyColumns)
const snapshotNames = Object.keys(snapshotColumns)
const factNames = Object.keys(factColumns)

function listValues<Source>(columns: Columns<Source>, source: Source): Value[] {
  return Object.values(columns).map((getValue) => getValue(source))
}

/**
 * PostgreSQL stores no U+0000 in a text, and UTF-8 has no half of a surrogate pair. Both become U+FFFD, on SQLite too,
 * so that all mirrors agree. `body` keeps the original.
 */
function toStorable(text: string | null): string | null {
  return text?.replace(/\0|\p{Surrogate}/gu, '\ufffd') ?? null
}

/** The condition for a row whose newest version has not been read from the read API. */
const incompleteSql = '(body_version IS NULL OR body_version < version)'

/** Every column, in the order of the tables' documentation. */
const paymentNames = [...keyNames, ...snapshotNames, ...factNames, 'updated_at']

/** Statements that create tables and indexes where they are missing. */
export function buildSchema(dialect: Dialect, { payments, state, index }: TableNames): string[] {
  const types =
    dialect === 'postgres'
      ? { text: 'text', key: 'text COLLATE "C"', whole: 'bigint', time: 'timestamptz', json: 'json' }
      : { text: 'TEXT', key: 'TEXT', whole: 'INTEGER', time: 'TEXT', json: 'TEXT' }
  const getType = (column: string): string => {
    if (keyNames.includes(column)) return `${types.key} NOT NULL`
    if (column === 'version') return `${types.whole} NOT NULL`
    if (column === 'updated_at') return `${types.time} NOT NULL`
    if (column === 'body_version') return types.whole
    if (column === 'block_timestamp') return types.time
    return column === 'body' ? types.json : types.text
  }
  const columns = paymentNames.map((column) => `  ${column} ${getType(column)},\n`).join('')
  return [
    `CREATE TABLE IF NOT EXISTS ${payments} (\n${columns}  PRIMARY KEY (${keyNames.join(', ')})\n)`,
    `CREATE INDEX IF NOT EXISTS ${index('newest')} ON ${payments} (integration_address, block_timestamp)`,
    `CREATE INDEX IF NOT EXISTS ${index('incomplete')} ON ${payments} (${keyNames.join(', ')}) WHERE ${incompleteSql}`,
    `CREATE TABLE IF NOT EXISTS ${state} (
  integration_address ${types.key} NOT NULL PRIMARY KEY,
  checkpoint ${types.json},
  reconciled_at ${types.time},
  reconciled_fully_at ${types.time},
  delivered_at ${types.time}
)`,
  ]
}

/**
 * The effect of storing a payment of the read API. `added`: there was no row. `updated`: the row had an older version.
 * `completed`: a delivery had stored this version or a newer one; the read API's columns were written. `refreshed`:
 * the read API had given this version with other facts: a reorg came between. `unchanged`: nothing was written.
 */
export type WriteEffect = 'added' | 'updated' | 'completed' | 'refreshed' | 'unchanged'

const pageSize = 100

export function openPaymentsTable(driver: Driver, { payments }: TableNames, integrationAddress: string) {
  const text = driver.dialect === 'postgres' ? '::text' : ''
  const query = createQuery(driver, payments)
  const insert = (columns: readonly string[]) =>
    `INSERT INTO ${payments} AS kept (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
ON CONFLICT (${keyNames.join(', ')}) DO UPDATE SET `
  const setTo = (columns: readonly string[]) => columns.map((column) => `${column} = excluded.${column}`).join(', ')
  const setIfNewer = (columns: readonly string[]) =>
    columns
      .map((name) => `${name} = CASE WHEN excluded.version >= kept.version THEN excluded.${name} ELSE kept.${name} END`)
      .join(', ')
  const byKey = keyNames.map((column) => `${column} = ?`).join(' AND ')

  const snapshotSql = `${insert([...keyNames, ...snapshotNames, 'updated_at'])}${setTo([...snapshotNames, 'updated_at'])}
WHERE excluded.version > kept.version RETURNING version`
  const paymentSql = `${insert(paymentNames)}${setIfNewer(snapshotNames)}, ${setTo([...factNames, 'updated_at'])}
WHERE kept.body_version IS NULL OR excluded.body_version > kept.body_version
OR (excluded.body_version = kept.body_version AND excluded.body${text} <> kept.body${text}) RETURNING version`
  const readSql = `SELECT version, body_version, body${text} AS body FROM ${payments} WHERE ${byKey}`

  async function readStored(key: PaymentKey) {
    const [row] = await query(readSql, listValues(keyColumns, key))
    if (row === undefined) return null
    const bodyVersion = row['body_version'] === null ? null : Number(row['body_version'])
    return { version: Number(row['version']), bodyVersion, body: row['body'] }
  }

  return {
    /** Stores a snapshot if its version is greater. One statement compares and writes. */
    async writeSnapshot(snapshot: Snapshot, at: string): Promise<VersionDecision> {
      const values = [...listValues(keyColumns, snapshot), ...listValues(snapshotColumns, snapshot), at]
      const rows = await query(snapshotSql, values)
      if (rows.length > 0) return 'apply'
      const row = await readStored(snapshot)
      // No row: it was deleted after the first statement, which had found this version or a newer one.
      return row === null ? 'duplicate' : decideVersion(row.version, snapshot.version)
    },

    /** Stores a payment of the read API. An older version than the stored one changes no column of a snapshot. */
    async writePayment(payment: Payment, at: string): Promise<WriteEffect> {
      const before = await readStored(payment)
      const { version } = payment
      // Most payments of a run are unchanged, and cost no write.
      if (before !== null && before.bodyVersion !== null && before.bodyVersion >= version)
        if (before.bodyVersion > version || before.body === JSON.stringify(payment)) return 'unchanged'
      const snapshotValues = [...listValues(keyColumns, payment), ...listValues(snapshotColumns, payment)]
      const rows = await query(paymentSql, [...snapshotValues, ...listValues(factColumns, payment), at])
      if (rows.length === 0) return 'unchanged'
      if (before === null) return 'added'
      if (before.version < version) return 'updated'
      return before.bodyVersion === version ? 'refreshed' : 'completed'
    },

    /** Yields the keys and versions of rows in order of their key, read a page at a time. */
    async *listKeys(onlyIncomplete: boolean): AsyncGenerator<VersionedPayment, void, undefined> {
      let after = { chainId: '', txHash: '' }
      for (;;) {
        const rows = await query(
          `SELECT chain_id, tx_hash, version FROM ${payments} WHERE integration_address = ?${onlyIncomplete ? ` AND ${incompleteSql}` : ''}
AND (chain_id, tx_hash) > (?, ?) ORDER BY chain_id, tx_hash LIMIT ${pageSize}`,
          [integrationAddress, after.chainId, after.txHash],
        )
        if (rows.length === 0) return
        for (const row of rows) {
          after = { chainId: String(row['chain_id']), txHash: String(row['tx_hash']) }
          yield { integrationAddress, ...after, version: Number(row['version']) }
        }
      }
    },

    async counts() {
      const [row = {}] = await query(
        `SELECT count(*) AS total, count(CASE WHEN ${incompleteSql} THEN 1 END) AS incomplete, max(block_timestamp) AS newest
FROM ${payments} WHERE integration_address = ?`,
        [integrationAddress],
      )
      return { rows: Number(row['total']), incomplete: Number(row['incomplete']), newest: toIsoTime(row['newest']) }
    },

    /** Fails unless the table has every column. */
    async check(): Promise<void> {
      await query(`SELECT ${paymentNames.join(', ')} FROM ${payments} WHERE 1 = 0`)
    },
  }
}

/** Converts a time of the database. `pg` returns a Date unless the host set another type parser. */
function toIsoTime(value: unknown): string | null {
  return value === null || value === undefined ? null : new Date(value as string | Date).toISOString()
}

/** Opens the state of one integration's mirror. Times are ISO 8601, UTC. */
export function openStateTable(driver: Driver, { state }: TableNames, integrationAddress: string) {
  const text = driver.dialect === 'postgres' ? '::text' : ''
  const query = createQuery(driver, state)
  type Column = 'checkpoint' | 'reconciled_at' | 'reconciled_fully_at' | 'delivered_at'
  return {
    async read() {
      const [row = {}] = await query(
        `SELECT checkpoint${text} AS checkpoint, reconciled_at, reconciled_fully_at, delivered_at FROM ${state} WHERE integration_address = ?`,
        [integrationAddress],
      )
      const { checkpoint } = row
      return {
        checkpoint: typeof checkpoint === 'string' ? (JSON.parse(checkpoint) as ReconcileCheckpoint) : null,
        reconciledAt: toIsoTime(row['reconciled_at']),
        reconciledFullyAt: toIsoTime(row['reconciled_fully_at']),
        deliveredAt: toIsoTime(row['delivered_at']),
      }
    },
    async set(column: Column, value: string): Promise<void> {
      await query(
        `INSERT INTO ${state} (integration_address, ${column}) VALUES (?, ?)
ON CONFLICT (integration_address) DO UPDATE SET ${column} = excluded.${column} RETURNING integration_address`,
        [integrationAddress, value],
      )
    },
  }
}
