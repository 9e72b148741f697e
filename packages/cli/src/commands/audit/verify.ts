/** `payment-integration audit verify`. @module */
import type { AuditQueries, AuditVerdict } from '@payment-integration/core'
import type { ExitCode, Io } from '../../io.js'
import { grouped } from '../../output/figures.js'
import { momentText } from '../../output/moments.js'
import type { KeptRecord } from '../../parse/kept-record.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link verifyAudit}. */
export interface VerifyAuditOptions extends OperateOptions {
  /** A record whose number and hash were kept elsewhere: it must be there as it was. */
  readonly expect?: KeptRecord | undefined
}

/** What is printed. */
interface Verified extends AuditVerdict {
  /** Whether the record that was kept is there; null: none was named. */
  readonly expected: boolean | null
}

/**
 * Checks that no record of the audit log was altered, taken out or put in.
 * @returns 0 when all is as it was written, 1 when not; the text says where.
 */
export async function verifyAudit(options: VerifyAuditOptions, io: Io): Promise<ExitCode> {
  const { expect } = options
  let isWhole = false
  await withService(options, io, async ({ audit }, report) => {
    const verdict = await audit.verify()
    const expected = expect === undefined ? null : await isThere(audit, expect)
    isWhole = verdict.brokenAt === null && expected !== false
    report({ event: 'audit.verified', ok: isWhole, ...verdict, expected }, (event) => verdictText(event, expect))
  })
  return isWhole ? 0 : 1
}

async function isThere(audit: AuditQueries, { seq, hash }: KeptRecord): Promise<boolean> {
  const [found] = await audit.list({ afterSeq: seq - 1, limit: 1 })
  return found !== undefined && found.seq === seq && found.hash === hash
}

function verdictText({ records, last, brokenAt, expected }: Verified, kept: KeptRecord | undefined): string[] {
  const lines: string[] = []
  if (brokenAt !== null)
    lines.push(
      `The audit log is broken at record ${brokenAt}: it is missing, altered, or keyed with a master key that is not given here.`,
    )
  else if (last === null) lines.push('The audit log is empty.')
  else {
    lines.push(
      `The audit log is as it was written: ${grouped(records)} ${records === 1 ? 'record' : 'records'}, the newest of ${momentText(last.at)}.`,
    )
    lines.push(
      `Keep ${last.seq}:${last.hash} elsewhere: audit verify --expect finds out with it when the end is cut off.`,
    )
  }
  if (expected === false)
    lines.push(`Record ${kept?.seq} is not the one that was kept: the log was cut off or written anew.`)
  if (expected === true) lines.push(`Record ${kept?.seq} is the one that was kept.`)
  return lines
}
