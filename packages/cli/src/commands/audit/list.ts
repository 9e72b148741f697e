/** `payment-integration audit list`. @module */
import type { AuditQueries } from '@payment-integration/core'
import type { AuditRecord } from '@payment-integration/core/ports'
import { InterruptedError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { grouped } from '../../output/figures.js'
import { type OperateOptions, withService } from '../with-service.js'
import { auditLine } from './text.js'

/** Options of {@link listAudit}. */
export interface ListAuditOptions extends OperateOptions {
  /** Most records that are printed. @default 50 */
  readonly limit?: number | undefined
  /** Print every record. @default false */
  readonly all?: boolean | undefined
  /** Begin behind this record. @default so that the newest ones are printed */
  readonly after?: number | undefined
}

const defaultLimit = 50
/** Records that are read at a time. */
const pageSize = 500

/** Prints records of the audit log in their order: the newest ones, or those after one. What is left out is told. */
export function listAudit(options: ListAuditOptions, io: Io): Promise<ExitCode> {
  const { all = false, limit = defaultLimit } = options
  return withService(options, io, async ({ audit }, report) => {
    const newest = (await audit.head())?.seq ?? 0
    const afterSeq = options.after ?? (all ? 0 : Math.max(0, newest - limit))
    const upTo = all ? newest : Math.min(newest, afterSeq + limit)
    let shown = 0
    for await (const record of records(audit, afterSeq, upTo)) {
      report({ event: 'audit', record }, (event) => [auditLine(event.record)])
      shown += 1
      if (io.signal.aborted) throw new InterruptedError('Interrupted; what is printed may not be all.')
    }
    if (newest === 0 && !options.json) io.out('The audit log is empty.')
    if (shown < newest && options.after === undefined)
      report({ event: 'more', shown, newest }, () => [
        `The newest ${grouped(shown)} of ${grouped(newest)} records; --all shows every one.`,
      ])
    else if (upTo < newest)
      report({ event: 'more', shown, newest, after: upTo }, () => [
        `${grouped(newest - upTo)} more follow: --after ${upTo} goes on.`,
      ])
  })
}

async function* records(audit: AuditQueries, after: number, upTo: number): AsyncGenerator<AuditRecord> {
  let afterSeq = after
  while (afterSeq < upTo) {
    const page = await audit.list({ afterSeq, limit: Math.min(pageSize, upTo - afterSeq) })
    for (const record of page) if (record.seq <= upTo) yield record
    const last = page.at(-1)
    if (last === undefined) return
    afterSeq = last.seq
  }
}
