/** Stores snapshots in packed form, and puts deliveries into the outbox. Source: docs/interface.md 2.3. @module */

import type { NewSnapshot } from '@payment-integration/core/internal'
import type { BulkInsert, Connection, Parameter, SqlDialect } from '../engine.js'
import { bulk } from '../internal/statements.js'
import { bytes, checkInteger, integer, parseId, toHex } from '../internal/values.js'
import type { Integer } from '../schema/migration.js'

export interface BodySubject {
  /** Null: the body is stored whole. */
  readonly integrationAddress: string | null
  readonly chainId: number
  readonly txHash: string
  readonly version: number
}

// The first byte is the format. As ASCII digits they need no escape where PostgreSQL returns bytes as text.
const wholeBody = 0x30
const valuesOnly = 0x31

/**
 * The stored form of a body: only its values as a JSON array, such as `["success",["Kiosk",null],null]`, if the body is
 * rebuilt of them byte for byte. Any other body is stored whole.
 */
export function packBody(body: Uint8Array, subject: BodySubject): Uint8Array {
  const values =
    subject.integrationAddress === null ? null : parseValues(toBuffer(body).toString(), formatHead(subject))
  if (values !== null) return bytes(Buffer.from(`1${values}`))
  const packed = new Uint8Array(body.length + 1)
  packed[0] = wholeBody
  packed.set(body, 1)
  return packed
}

/** RangeError: the stored form is none of this release. */
export function unpackBody(packed: Uint8Array, subject: BodySubject): Uint8Array {
  const [format] = packed
  if (format === wholeBody) return packed.subarray(1)
  const values = format === valuesOnly ? shortForm.exec(toBuffer(packed).toString('utf8', 1)) : null
  if (values === null) throw new RangeError(`A stored body has the unknown format ${format}. Is the release older?`)
  return bytes(Buffer.from(formatHead(subject) + formatTail(values)))
}

// The templates of the format 1. They are frozen: stored bodies are rebuilt by them.

const formatHead = ({ integrationAddress, chainId, txHash, version }: BodySubject): string =>
  `{"integrationAddress":"${integrationAddress}","chainId":"${chainId}","txHash":"${txHash}","version":${version},`

// A group is a JSON string as it is written, or null. No other text begins with one and ends at the same place.
const shortForm =
  /^\[("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),(?:null|\[("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\]),(?:null|\[("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\])\]$/
const tail =
  /^"state":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"recipient":(?:null|\{"title":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"subtitle":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\}),"invoice":(?:null|\{"amount":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"currency":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"settlementAmount":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null),"settlementCurrency":("[^"\\]*(?:\\[\s\S][^"\\]*)*"|null)\})\}$/

/** The fields of the values, which a match of {@link shortForm} or {@link tail} has after its text. */
function formatTail([
  ,
  state,
  title,
  subtitle,
  amount,
  currency,
  settlementAmount,
  settlementCurrency,
]: Values): string {
  const recipient = title === undefined ? 'null' : `{"title":${title},"subtitle":${subtitle}}`
  const settlement = `"settlementAmount":${settlementAmount},"settlementCurrency":${settlementCurrency}`
  const invoice = amount === undefined ? 'null' : `{"amount":${amount},"currency":${currency},${settlement}}`
  return `"state":${state},"recipient":${recipient},"invoice":${invoice}}`
}

type Values = readonly (string | undefined)[]

/** The values as a JSON array; null: the body is another text than the one rebuilt of them. */
function parseValues(text: string, head: string): string | null {
  // Bytes that are no UTF-8 were read as this character; without it, equal texts are equal bytes.
  if (!text.startsWith(head) || text.includes('\ufffd')) return null
  const rest = text.slice(head.length)
  const values = tail.exec(rest)
  if (values === null || formatTail(values) !== rest) return null
  const [, state, title, subtitle, amount, currency, settlementAmount, settlementCurrency] = values
  const recipient = title === undefined ? 'null' : `[${title},${subtitle}]`
  const invoice = amount === undefined ? 'null' : `[${amount},${currency},${settlementAmount},${settlementCurrency}]`
  return `[${state},${recipient},${invoice}]`
}

/** The same memory: only a buffer decodes a part of it without a copy. */
const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

interface SubjectRow {
  readonly chain_id: Integer
  readonly tx_hash: Uint8Array | string
  readonly version: Integer
}

/** `integrationAddress`: of the payment, or of the snapshot where it is notified. */
export const toSnapshotBytes = (stored: Uint8Array, integrationAddress: string | null, row: SubjectRow): Uint8Array =>
  unpackBody(stored, {
    integrationAddress,
    chainId: integer(row.chain_id),
    txHash: toHex(row.tx_hash),
    version: integer(row.version),
  })

export const maxVersion = 2 ** 31 - 1

const snapshotColumns: BulkInsert['columns'] = [
  { name: 'payment_id', type: 'integer' },
  { name: 'version', type: 'integer' },
  { name: 'integration', type: 'hex' },
  { name: 'body', type: 'bytes' },
]

const outboxColumns: BulkInsert['columns'] = [
  { name: 'id', type: 'integer' },
  { name: 'integration', type: 'hex' },
]

const unclaimed = ['lane', 'attempted', 'schedule_from'].map((name) => ({ name, value: () => '0' }))

/**
 * A snapshot whose integration has a notification URL is a delivery too, due at once. Resolves the number of
 * deliveries. Rejects with the database's unique violation when a (payment, version) is stored already.
 */
export async function insertSnapshots(
  db: Connection,
  dialect: SqlDialect,
  snapshots: readonly NewSnapshot[],
): Promise<number> {
  if (snapshots.length === 0) return 0
  const { notified, now } = await readNotified(db, dialect, snapshots)
  const integrations = snapshots.map(({ integrationAddress: address }) =>
    address !== null && notified.has(address) ? address : null,
  )
  const { ids } = await dialect.insertNumbered(db, {
    table: 'snapshots',
    columns: snapshotColumns,
    rows: snapshots.map((snapshot, place) => [
      parseId(snapshot.paymentId, 'paymentId'),
      checkInteger(snapshot.version, 'version', 1, maxVersion),
      integrations[place],
      packBody(snapshot.body, snapshot),
    ]),
    keepsText: true,
    fixed: [{ name: 'created_at', value: now }],
  })
  if (ids === null) throw new Error('The database did not return all inserted snapshots.')
  const deliveries = ids.flatMap((id, place) => {
    const integration = integrations[place] ?? null
    return integration === null ? [] : [[id, integration]]
  })
  await dialect.insertAll(db, {
    table: 'outbox',
    columns: outboxColumns,
    rows: deliveries,
    keepsText: true,
    fixed: [{ name: 'due_at', value: now }, ...unclaimed],
  })
  return deliveries.length
}

/** The integrations that are registered with a notification URL, and one time: deliveries are due at their creation. */
async function readNotified(
  db: Connection,
  dialect: SqlDialect,
  snapshots: readonly NewSnapshot[],
): Promise<{ readonly notified: ReadonlySet<string>; now(parameter: Parameter): string }> {
  const { name, nowText } = dialect
  const named = new Set(snapshots.map(({ integrationAddress }) => integrationAddress))
  const found = await bulk<{ address: Uint8Array; now: Integer }>(
    db,
    dialect,
    [{ name: 'address', type: 'hex' }],
    [...named].flatMap((address) => (address === null ? [] : [[address]])),
    (source, parameter) =>
      `with v (address) as (${source})
       select i.address, ${nowText(parameter)} as now from v join ${name('integrations')} as i on i.address = v.address
       where i.notification_url is not null`,
  )
  const at = found[0]?.now
  return {
    notified: new Set(found.map(({ address }) => toHex(address))),
    now: (parameter) => (at === undefined ? nowText(parameter) : `cast(${parameter(at)} as bigint)`),
  }
}
