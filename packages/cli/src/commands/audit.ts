/** `payment-integration audit …`: prints and verifies the audit log. @module */
import type { AuditQueries, AuditVerdict } from '@payment-integration/core'
import type { AuditRecord } from '@payment-integration/core/ports'
import { type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf } from '../command.js'
import { InterruptedError } from '../errors.js'
import { grouped, momentText } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type ExpectedRecord, parseExpectedRecord, wholeNumberParser } from '../parse.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Adds the group and its commands. */
export function addAudit(program: Command, io: Io, finish: Finish): void {
  const verify = `audit verify --expect 12:${'9f2c'.repeat(16)}`
  const add = addGroup(
    program,
    'audit',
    'list and verify the audit log of changes to secrets, URLs, deliveries and verifications',
    'audit list',
    verify,
  )

  add('list', 'list the newest records, oldest first')
    .option('--limit <number>', 'print at most this many records (default 50)', wholeNumberParser(1, 1_000_000))
    .option(
      '--after <number>',
      'start after the record with this number',
      wholeNumberParser(0, Number.MAX_SAFE_INTEGER),
    )
    .addOption(new Option('--all', 'print all records').conflicts('limit'))
    .addHelpText('after', examples('audit list', 'audit list --after 100 --limit 20', 'audit list --all --json'))
    .action(async (_options, command) => finish(await listAudit(optionsOf<ListAuditOptions>(command), io)))
  add('head', 'print the newest record as <number>:<hash>, to store outside the database')
    .addHelpText('after', examples('audit head', 'audit head --json'))
    .action(async (_options, command) => finish(await auditHead(optionsOf<OperateOptions>(command), io)))
  add('verify', 'check that no record was changed, removed or inserted; exits with 1 and names the first bad record')
    .option(
      '--expect <number:hash>',
      'a record that audit head printed before, which must still be in the log',
      parseExpectedRecord,
    )
    .addHelpText('after', examples('audit verify', verify))
    .action(async (_options, command) => finish(await verifyAudit(optionsOf<VerifyAuditOptions>(command), io)))
}

/** Options of {@link listAudit}. */
interface ListAuditOptions extends OperateOptions {
  /** Limit of printed records. @default 50 */
  readonly limit?: number | undefined
  /** Print all records. @default false */
  readonly all?: boolean | undefined
  /** Start after the record with this number. @default the number that leaves the newest records */
  readonly after?: number | undefined
}

const defaultLimit = 50
/** Records of one query. */
const pageSize = 500

/** Prints records of the audit log, oldest first: the newest, or those after `after`. Reports omitted records. */
function listAudit(options: ListAuditOptions, io: Io): Promise<ExitCode> {
  const { all = false, limit = defaultLimit } = options
  return withService(options, io, async ({ audit }, report) => {
    const newest = (await audit.head())?.seq ?? 0
    const afterSeq = options.after ?? (all ? 0 : Math.max(0, newest - limit))
    const upTo = all ? newest : Math.min(newest, afterSeq + limit)
    let shown = 0
    for await (const record of records(audit, afterSeq, upTo)) {
      report({ event: 'audit', record }, (event) => [auditLine(event.record)])
      shown += 1
      if (io.signal.aborted) throw new InterruptedError('Interrupted; more records may follow.')
    }
    if (newest === 0 && !options.json) io.out('The audit log is empty.')
    if (!all && shown < newest && options.after === undefined)
      report({ event: 'more', shown, newest }, () => [
        `The newest ${grouped(shown)} of ${grouped(newest)} records; --all prints all.`,
      ])
    else if (upTo < newest)
      report({ event: 'more', shown, newest, after: upTo }, () => [
        `${grouped(newest - upTo)} more follow; continue with --after ${upTo}.`,
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

/** Prints number, hash and time of the newest record, for `audit verify --expect`. */
function auditHead(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ audit }, report) => {
    const head = await audit.head()
    report({ event: 'audit.head', head }, () =>
      head === null ? ['The audit log is empty.'] : [`${head.seq}:${head.hash}  ${momentText(head.at)}`],
    )
  })
}

/** Options of {@link verifyAudit}. */
interface VerifyAuditOptions extends OperateOptions {
  /** A record of an earlier `audit head` that the log must still contain. */
  readonly expect?: ExpectedRecord | undefined
}

/** The verdict with the check of the expected record. */
interface Verified extends AuditVerdict {
  /** Whether the log contains the expected record; null without one. */
  readonly expected: boolean | null
}

/**
 * Checks that no record of the audit log was changed, removed or inserted.
 * @returns 0 for an unchanged log, else 1.
 */
async function verifyAudit(options: VerifyAuditOptions, io: Io): Promise<ExitCode> {
  const { expect } = options
  let isUnchanged = false
  await withService(options, io, async ({ audit }, report) => {
    const verdict = await audit.verify()
    const [first] = await audit.list({ limit: 1 })
    const hasLeft = expect !== undefined && first !== undefined && expect.seq < first.seq
    const expected = expect === undefined || hasLeft ? null : await contains(audit, expect)
    isUnchanged = verdict.brokenAt === null && expected !== false
    report({ event: 'audit.verified', ok: isUnchanged, ...verdict, expected }, (event) => [
      ...verdictText(event, expect),
      ...(hasLeft ? [`Record ${expect.seq} is in a file: its retention has ended. Restore it to compare.`] : []),
    ])
  })
  return isUnchanged ? 0 : 1
}

async function contains(audit: AuditQueries, { seq, hash }: ExpectedRecord): Promise<boolean> {
  const [found] = await audit.list({ afterSeq: seq - 1, limit: 1 })
  return found !== undefined && found.seq === seq && found.hash === hash
}

function verdictText({ records, last, brokenAt, expected }: Verified, expect: ExpectedRecord | undefined): string[] {
  const lines: string[] = []
  if (brokenAt !== null)
    lines.push(
      `The audit log is broken at record ${brokenAt}: the record is missing, changed, or needs a master key that is not in PI_MASTER_KEY.`,
    )
  else if (last === null) lines.push('The audit log is empty.')
  else {
    lines.push(
      `The audit log is unchanged: ${grouped(records)} ${records === 1 ? 'record' : 'records'}, the newest of ${momentText(last.at)}.`,
    )
    lines.push(
      `Store ${last.seq}:${last.hash} outside the database: with it, audit verify --expect detects removed newest records.`,
    )
  }
  if (expected === false)
    lines.push(`Record ${expect?.seq} is not the expected one: the log was truncated or rewritten.`)
  if (expected === true) lines.push(`Record ${expect?.seq} is the expected one.`)
  return lines
}

/** One line about a record. */
function auditLine({ seq, at, actor, action, subject, details }: AuditRecord): string {
  const facts = Object.entries(details).map(([name, value]) => `${name}=${String(value)}`)
  return [String(seq).padStart(6), momentText(at), actor, action, subject, ...facts].join('  ')
}
