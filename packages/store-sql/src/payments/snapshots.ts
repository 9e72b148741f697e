/** Stores snapshots in a short form, and puts deliveries into the outbox. Source: docs/interface.md 2.3. @module */
import type { NewSnapshot } from '@payment-integration/core/internal'
import type { BulkInsert, Connection, Parameter } from '../engine.js'
import { listColumns, runBulk, type StatementText } from '../internal/statements.js'
import { checkInteger, parseId, toHex, toNumber, toPlainBytes } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'

export interface BodyKey {
  /** Null: the body is stored whole. */
  readonly integrationAddress: string | null
  readonly chainId: number
  readonly txHash: string
  readonly version: number
}

// The first byte is the format: an ASCII digit, which needs no escape where PostgreSQL returns bytes as text.
const wholeBody = 0x30
const valuesOnly = 0x31

/**
 * The stored form of a body: its values as a JSON array, such as `["success",["Kiosk",null],null]`, if they rebuild the
 * body byte for byte; else the whole body.
 */
export function packBody(body: Uint8Array, key: BodyKey): Uint8Array {
  const values = key.integrationAddress === null ? null : parseValues(toBuffer(body).toString(), formatHead(key))
  if (values !== null) return toPlainBytes(Buffer.from(`1${values}`))
  const packed = new Uint8Array(body.length + 1)
  packed[0] = wholeBody
  packed.set(body, 1)
  return packed
}

/** @throws RangeError When this release does not know the stored form. */
export function unpackBody(packed: Uint8Array, key: BodyKey): Uint8Array {
  const [format] = packed
  if (format === wholeBody) return packed.subarray(1)
  const values = format === valuesOnly ? shortForm.exec(toBuffer(packed).toString('utf8', 1)) : null
  if (values === null) throw new RangeError(`Unknown format ${format} of a stored body: from a newer release?`)
  return toPlainBytes(Buffer.from(formatHead(key) + formatTail(values)))
}

// The templates of format 1 never change: they rebuild stored bodies.

const formatHead = ({ integrationAddress, chainId, txHash, version }: BodyKey): string =>
  `{"integrationAddress":"${integrationAddress}","chainId":"${chainId}","txHash":"${txHash}","version":${version},`

// Each group is a JSON string or null, whose end is unambiguous.
const shortForm =
  /^\[("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),(?:null|\[("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\]),(?:null|\[("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\])\]$/
const tail =
  /^"state":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"recipient":(?:null|\{"title":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"subtitle":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\}),"invoice":(?:null|\{"amount":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"currency":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"settlementAmount":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"settlementCurrency":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\})\}$/

/** Formats the end of a body from a match of {@link shortForm} or {@link tail}. */
function formatTail(values: readonly (string | undefined)[]): string {
  const [, state, title, subtitle, amount, currency, settlementAmount, settlementCurrency] = values
  const recipient = title === undefined ? 'null' : `{"title":${title},"subtitle":${subtitle}}`
  const settlement = `"settlementAmount":${settlementAmount},"settlementCurrency":${settlementCurrency}`
  const invoice = amount === undefined ? 'null' : `{"amount":${amount},"currency":${currency},${settlement}}`
  return `"state":${state},"recipient":${recipient},"invoice":${invoice}}`
}

/** The values as a JSON array; null if they do not rebuild the body. */
function parseValues(text: string, head: string): string | null {
  // Invalid UTF-8 decodes to this character; without it, equal texts have equal bytes.
  if (!text.startsWith(head) || text.includes('\ufffd')) return null
  const tailText = text.slice(head.length)
  const values = tail.exec(tailText)
  if (values === null || formatTail(values) !== tailText) return null
  const [, state, title, subtitle, amount, currency, settlementAmount, settlementCurrency] = values
  const recipient = title === undefined ? 'null' : `[${title},${subtitle}]`
  const invoice = amount === undefined ? 'null' : `[${amount},${currency},${settlementAmount},${settlementCurrency}]`
  return `[${state},${recipient},${invoice}]`
}

/** A Buffer on the same memory: its `toString` takes an offset. */
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** The columns that complete a stored body. */
export interface BodyKeyRow {
  readonly chain_id: Integer
  readonly tx_hash: Uint8Array | string
  readonly version: Integer
}

/** @param integrationAddress - The integration of the payment, or the notified one of a delivery. */
export const toSnapshotBytes = (stored: Uint8Array, integrationAddress: string | null, row: BodyKeyRow): Uint8Array =>
  unpackBody(stored, {
    integrationAddress,
    chainId: toNumber(row.chain_id),
    txHash: toHex(row.tx_hash),
    version: toNumber(row.version),
  })

export const maxVersion = 2 ** 31 - 1

const snapshotColumns: BulkInsert['columns'] = [
  ...listColumns({ payment_id: 'integer', version: 'integer', integration: 'hex' }),
  { name: 'body', type: 'bytes' },
]

const outboxColumns = listColumns({ id: 'integer', integration: 'hex' })

const unclaimedColumns = ['lane', 'attempted', 'schedule_from'].map((name) => ({ name, value: () => '0' }))

/**
 * Stores snapshots, and a due delivery for each whose integration has a notification URL. Resolves the number of
 * deliveries. Rejects with the database's unique violation when a version is stored already.
 */
export async function insertSnapshots(db: Connection, snapshots: readonly NewSnapshot[]): Promise<number> {
  if (snapshots.length === 0) return 0
  const { notified, now } = await readNotifiedIntegrations(db, snapshots)
  const integrations = snapshots.map(({ integrationAddress: address }) =>
    address !== null && notified.has(address) ? address : null,
  )
  const { ids } = await db.dialect.insertNumbered(db, {
    table: 'snapshots',
    columns: snapshotColumns,
    rows: snapshots.map((snapshot, index) => [
      parseId(snapshot.paymentId, 'paymentId'),
      checkInteger(snapshot.version, 'version', 1, maxVersion),
      integrations[index],
      packBody(snapshot.body, snapshot),
    ]),
    isPreparable: true,
    fixed: [{ name: 'created_at', value: now }],
  })
  if (ids === null) throw new Error('The database did not return all inserted snapshots.')
  const deliveries = ids.flatMap((id, index) => {
    const integration = integrations[index] ?? null
    return integration === null ? [] : [[id, integration]]
  })
  await insertDueDeliveries(db, deliveries, now)
  return deliveries.length
}

/** Puts new deliveries into the outbox. @param rows - The id and the integration of each. */
export async function insertDueDeliveries(
  db: Connection,
  rows: readonly (readonly unknown[])[],
  now: StatementText,
): Promise<void> {
  const fixed = [{ name: 'due_at', value: now }, ...unclaimedColumns]
  await db.dialect.insertAll(db, { table: 'outbox', columns: outboxColumns, rows, isPreparable: true, fixed })
}

/** Reads which integrations have a notification URL, and the time when their deliveries become due. */
async function readNotifiedIntegrations(
  db: Connection,
  snapshots: readonly NewSnapshot[],
): Promise<{ readonly notified: ReadonlySet<string>; now(parameter: Parameter): string }> {
  const { name, nowText } = db.dialect
  const named = new Set(snapshots.map(({ integrationAddress }) => integrationAddress))
  const columns = listColumns({ address: 'hex' })
  const values = [...named].flatMap((address) => (address === null ? [] : [[address]]))
  const text: StatementText = (parameter) =>
    `select i.address, ${nowText(parameter)} as now from v join ${name('integrations')} as i on i.address = v.address
     where i.notification_url is not null`
  const integrations = await runBulk<{ address: Uint8Array; now: Integer }>(db, columns, values, text)
  const at = integrations[0]?.now
  return {
    notified: new Set(integrations.map(({ address }) => toHex(address))),
    now: (parameter) => (at === undefined ? nowText(parameter) : `cast(${parameter(at)} as bigint)`),
  }
}
