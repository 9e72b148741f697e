/** Exports a filtered list as CSV or JSON lines, and audits the export. @module */
import type { DeliveryView } from '../notifications/delivery-store.js'
import type { Audited } from './audit-log.js'
import type { AuditEntry } from './audit-store.js'

/** `csv`: RFC 4180, with the names of the columns first. `jsonl`: a JSON object on each line. */
export type ExportFormat = 'csv' | 'jsonl'

/** A filtered list, newest row first. */
export interface Listing {
  readonly list: keyof typeof columns
  /** The filter as the audit log records it. */
  readonly filter: AuditEntry['details']
  /** At least one page; any may be empty. */
  pages(): AsyncIterable<readonly object[]>
}

/** Columns of each list, as paths of fields: a payment of docs/interface.md 2.1; a delivery with its last attempt. */
const columns = {
  payments: `blockTimestamp chainId txHash version state integrationAddress sender receiver memo
    invoice.amount invoice.currency invoice.settlementAmount invoice.settlementCurrency
    tokenOut.amountGross tokenOut.amountNet tokenOut.symbol tokenOut.address tokenIn.amount tokenIn.symbol
    tokenIn.address source.chainId source.txHash recipient.title recipient.subtitle`.split(/\s+/),
  deliveries: `createdAt deliveryId status integrationAddress chainId txHash version attempts lastAttempt.startedAt
    lastAttempt.status lastAttempt.reason lastAttempt.latencyMs nextAttemptAt`.split(/\s+/),
} as const

export function createListing<Position>(
  list: Listing['list'],
  filter: Readonly<Record<string, AuditEntry['details'][string] | undefined>>,
  read: (after: Position | undefined) => Promise<{ readonly rows: readonly object[]; readonly next: Position | null }>,
): Listing {
  const pairs = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return {
    list,
    filter: Object.fromEntries(pairs),
    async *pages() {
      for (let next: Position | null | undefined; next !== null; ) {
        const page = await read(next)
        yield page.rows
        next = page.next
      }
    },
  }
}

/** A delivery without the answers of its receiver. */
export function toDeliveryRow({ attempts, createdAt, nextAttemptAt, chainId, ...delivery }: DeliveryView): object {
  const last = attempts.at(-1)
  return {
    ...delivery,
    chainId: String(chainId),
    createdAt: new Date(createdAt).toISOString(),
    attempts: attempts.length,
    lastAttempt: last
      ? { startedAt: formatTime(last.startedAt), status: last.status, reason: last.reason, latencyMs: last.latencyMs }
      : null,
    nextAttemptAt: formatTime(nextAttemptAt),
  }
}

const formatTime = (at: number | null) => (at === null ? null : new Date(at).toISOString())

/** Puts an apostrophe before text that a spreadsheet would read as a formula. */
function formatCell(value: unknown): string {
  const text = String(value ?? '').replace(/^[=+\-@\t\r]/, "'$&")
  return /^'|[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
const formatLine = (cells: readonly unknown[]) => `${cells.map(formatCell).join(',')}\r\n`
const findField = (row: object, path: string) =>
  path.split('.').reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>> | null)?.[name], row)

interface ExportOptions {
  readonly format: ExportFormat
  /** Called before each page is returned; false stops the export. */
  readonly mayContinue: () => Promise<boolean>
}

/**
 * Yields the text of a list page by page, each with the number of rows so far. The audit log gets a record before the
 * first row is read, and one at the end: `complete`, `cut_off` (the client disconnected), `stopped` or `failed`.
 */
export type ExportRows = (listing: Listing, options: ExportOptions) => AsyncGenerator<{ text: string; rows: number }>

export const createExportRows = (audited: Audited): ExportRows =>
  async function* exportRows({ list, filter, pages }, { format, mayContinue }) {
    const subject = String(filter['integrationAddress'] ?? 'all')
    const record = (action: 'export.started' | 'export.ended', result = {}) =>
      audited(async (_tx, note) => note({ action, subject, details: { ...filter, list, format, ...result } }))
    const print = (row: object) =>
      format === 'csv' ? formatLine(columns[list].map((path) => findField(row, path))) : `${JSON.stringify(row)}\n`
    let [rows, end, header] = [0, 'failed', format === 'csv' ? formatLine(columns[list]) : '']
    await record('export.started')
    try {
      for await (const page of pages()) {
        if (!(await mayContinue())) {
          end = 'stopped'
          throw new Error('The export was stopped before its last row.')
        }
        rows += page.length
        end = 'cut_off' // The recorded end if the client disconnects while it reads this page.
        yield { text: header + page.map(print).join(''), rows }
        ;[end, header] = ['failed', '']
      }
      end = 'complete'
    } finally {
      await record('export.ended', { rows, end })
    }
  }
