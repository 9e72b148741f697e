/** `payment-integration audit verify`: checks the audit log. @module */
import type { AuditHead, AuditQueries, AuditVerdict } from '@payment-integration/core'
import { auditChainOf } from '@payment-integration/core/ports'
import { grouped, momentText } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import type { ExpectedRecord } from '../parse.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link verifyAudit}. */
export interface VerifyAuditOptions extends OperateOptions {
  /** Records of an earlier `audit head` that the log must still contain. @default none */
  readonly expect?: readonly ExpectedRecord[] | undefined
}

/** An expected record in the log; `archived`: its retention has ended. */
interface Found {
  readonly seq: number
  readonly state: 'present' | 'missing' | 'archived'
}

/**
 * Checks that no record of the audit log was changed, removed or inserted.
 * @returns 0 for an unchanged log, else 1.
 */
export async function verifyAudit({ expect = [], ...options }: VerifyAuditOptions, io: Io): Promise<ExitCode> {
  let isUnchanged = false
  await withService(options, io, async ({ audit }, report) => {
    const verdict = await audit.verify()
    const found: Found[] = []
    for (const each of expect) found.push({ seq: each.seq, state: await stateOf(audit, each) })
    const missing = found.filter(({ state }) => state === 'missing').map(({ seq }) => seq)
    isUnchanged = verdict.brokenAt.length === 0 && missing.length === 0
    const known = found.filter(({ state }) => state !== 'archived')
    const expected = known.length === 0 ? null : missing.length === 0
    report({ event: 'audit.verified', ok: isUnchanged, ...verdict, expected, missing }, () => [
      ...verdictText(verdict),
      ...found.map(foundText),
    ])
  })
  return isUnchanged ? 0 : 1
}

async function stateOf(audit: AuditQueries, { seq, hash }: ExpectedRecord): Promise<Found['state']> {
  const chain = auditChainOf(seq, audit.chains)
  const [first] = await audit.list({ chain, limit: 1 })
  if (first !== undefined && seq < first.seq) return 'archived'
  const [found] = await audit.list({ chain, afterSeq: seq - 1, limit: 1 })
  return found?.seq === seq && found.hash === hash ? 'present' : 'missing'
}

function verdictText({ records, heads, brokenAt }: AuditVerdict): string[] {
  if (brokenAt.length > 0)
    return brokenAt.map(
      (seq) =>
        `The audit log is broken at record ${seq}: the record is missing, changed, or needs a master key that is not in PI_MASTER_KEY.`,
    )
  const newest = heads.reduce((at, head) => Math.max(at, head.at), 0)
  if (heads.length === 0) return ['The audit log is empty.']
  return [
    `The audit log is unchanged: ${grouped(records)} ${records === 1 ? 'record' : 'records'}, the newest of ${momentText(newest)}.`,
    ...heads.map(storeText),
  ]
}

const storeText = ({ seq, hash }: AuditHead) =>
  `Store ${seq}:${hash} outside the database: with it, audit verify --expect detects removed newest records.`

function foundText({ seq, state }: Found): string {
  switch (state) {
    case 'present':
      return `Record ${seq} is the expected one.`
    case 'missing':
      return `Record ${seq} is not the expected one: the log was truncated or rewritten.`
    case 'archived':
      return `Record ${seq} is in a file: its retention has ended. Restore it to compare.`
  }
}
