/** Names the files of ended history. Source: docs/retention.md, the files. @module */
import type { ArchiveHeader, HistoryKind } from '@payment-integration/core/ports'

const kinds: Readonly<Record<HistoryKind, true>> = { attempts: true, deliveries: true, updates: true, audit: true }
const endOfYear9999 = 253_402_300_799_999

/** Whether a value is a kind of history. */
export function isHistoryKind(value: unknown): value is HistoryKind {
  return typeof value === 'string' && Object.hasOwn(kinds, value)
}

/** Whether a value is a time whose year has four digits, in unix milliseconds. */
export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= endOfYear9999
}

/** Whether a value may number a part of the history. */
export function isPart(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/**
 * The name of a file, such as `attempts-000012-20261126T162500Z.jsonl.zst`.
 * @throws RangeError when the header has a value that no file may have.
 */
export function archiveName({ kind, part, writtenAt }: ArchiveHeader): string {
  if (!isHistoryKind(kind)) throw new RangeError(`kind is ${JSON.stringify(kind)}; pass a kind of history.`)
  if (!isPart(part)) throw new RangeError(`part is ${part}; pass a whole number, 0 or more.`)
  if (!isTime(writtenAt)) throw new RangeError(`writtenAt is ${writtenAt}; pass unix time in whole milliseconds.`)
  const second = new Date(writtenAt).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)
  return `${kind}-${String(part).padStart(6, '0')}-${second.replace(/[-:]/g, '')}Z.jsonl.zst`
}
