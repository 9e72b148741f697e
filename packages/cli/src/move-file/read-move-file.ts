/** Reads the file that carries an integration to another cell. Source: docs/decisions/cells.md. @module */
import { createHash } from 'node:crypto'
import { ArchiveError } from '@payment-integration/core'
import type { IntegrationRecord, MoveReader, MoveRow, MoveSummary } from '@payment-integration/core/ports'
import { damaged, incomplete } from '../archive/file-faults.js'
import { isPlainObject } from '../archive/format-lines.js'
import { parseObject, readLines } from '../archive/read-archive.js'
import { moveFormat } from './write-move-file.js'

/**
 * Reads the first line. Each call of `check` and `rows` reads the file from its start.
 * @throws ArchiveError `ERR_ARCHIVE` for a damaged or incomplete file, or one of another format.
 */
export async function readMoveFile(path: string): Promise<MoveReader> {
  for await (const [first = ''] of readLines(path)) {
    const integration = parseHeader(first, path)
    return { integration, check: () => check(path), rows: () => readRows(path) }
  }
  throw incomplete(path, 'byte 0', 'it is empty')
}

function parseHeader(line: string, path: string): IntegrationRecord {
  const { format, integration } = parseObject(line, 1, path)
  if (format === moveFormat && isPlainObject(integration)) return integration as unknown as IntegrationRecord
  throw new ArchiveError(
    path,
    `${path} is no integration of format ${moveFormat}. Pass a file of integrations export, with its release.`,
  )
}

async function check(path: string): Promise<MoveSummary> {
  const hash = createHash('sha256')
  let rows = -1
  let last: string | undefined
  for await (const lines of readLines(path))
    for (const line of lines) {
      if (last !== undefined) {
        hash.update(`${last}\n`)
        rows += 1
      }
      last = line
    }
  const sha256 = hash.digest('hex')
  const footer = last === undefined || rows < 0 ? null : parseObject(last, rows + 2, path)
  if (typeof footer?.['sha256'] !== 'string') throw incomplete(path, 'its last line', 'it has no digest')
  if (footer['sha256'] === sha256 && footer['rows'] === rows) return { sha256, rows }
  throw damaged(path, 'its last line', 'its content has another digest')
}

/** The rows between the first line and the last. */
async function* readRows(path: string): AsyncGenerator<readonly MoveRow[]> {
  let number = 0
  let last: string | undefined
  for await (const lines of readLines(path)) {
    const rows: MoveRow[] = []
    for (const line of lines) {
      if (last !== undefined && number > 1) rows.push(parseObject(last, number, path) as unknown as MoveRow)
      last = line
      number += 1
    }
    if (rows.length > 0) yield rows
  }
}
