/** Formats the lines of a file of ended history. Source: docs/retention.md, the files. @module */
import type { ArchiveHeader, HistoryRow } from '@payment-integration/core/ports'

/** The format that this release writes and reads. */
export const archiveFormat = 1
/** Longest line, in bytes: it bounds the memory of a reader. No row of the service comes near it. */
export const maxLineBytes = 67_108_864

/** The first line. */
export function formatHeader({ kind, part, writtenAt }: ArchiveHeader): Buffer {
  return Buffer.from(`${JSON.stringify({ format: archiveFormat, kind, part, writtenAt })}\n`)
}

/** The last line: it shows that no line is missing before it. */
export function formatFooter(rows: number): Buffer {
  return Buffer.from(`${JSON.stringify({ rows })}\n`)
}

/**
 * One row, as a line. JSON escapes lone surrogates, so that every text survives UTF-8.
 * @throws TypeError when JSON would change a value, such as a date, bytes or NaN.
 * @throws RangeError when the line is longer than a reader accepts.
 */
export function formatRow(row: HistoryRow): Buffer {
  if (!isPlainObject(row)) throw new TypeError('A row of history is no plain object.')
  checkMembers(row, '')
  const line = Buffer.from(`${JSON.stringify(row)}\n`)
  if (line.length > maxLineBytes)
    throw new RangeError(`A row of history has ${line.length} bytes; a line has at most ${maxLineBytes}.`)
  return line
}

/** A member without a value is left out, as JSON does. */
function checkMembers(object: Readonly<Record<string, unknown>>, path: string): void {
  for (const [key, value] of Object.entries(object))
    if (value !== undefined) checkValue(value, path === '' ? key : `${path}.${key}`)
}

function checkValue(value: unknown, path: string): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return
  if (Array.isArray(value)) for (const [index, item] of value.entries()) checkValue(item, `${path}[${index}]`)
  else if (isPlainObject(value)) checkMembers(value, path)
  else throw new TypeError(`The value of ${path} in a row of history is no JSON; convert it before it is written.`)
}

/** Whether a value is an object of JSON: neither an array nor an instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
