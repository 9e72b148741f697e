/** `payment-integration audit …`: prints and verifies the audit log. @module */
import type { AuditQueries, AuditRecord, AuditVerdict } from '@payment-integration/core'
import { type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf } from '../command.js'
import { InterruptedError } from '../errors.js'
import { grouped, momentText, plain } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type KeptRecord, parseKeptRecord, wholeNumber } from '../parse.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Adds the group and its commands. */
export function addAudit(program: Command, io: Io, finish: Finish): void {
  const verify = `audit verify --expect 12:${'9f2c'.repeat(16)}`
  const add = addGroup(
    program,
    'audit',
    'read and check the log of who changed secrets, URLs, deliveries and verifications',
    'audit list',
    verify,
  )

  add('list', 'print the newest records, in their order')
    .option('--limit <number>', 'most that are printed (default 50)', wholeNumber(1, 1_000_000))
    .option('--after <number>', 'the records behind this one', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .addOption(new Option('--all', 'print every record').conflicts('limit'))
    .addHelpText('after', examples('audit list', 'audit list --after 100 --limit 20', 'audit list --all --json'))
    .action(async (_options, command) => finish(await listAudit(optionsOf<ListAuditOptions>(command), io)))
  add('head', 'print the newest record, as number:hash with its time, to be kept outside the database')
    .addHelpText('after', examples('audit head', 'audit head --json'))
    .action(async (_options, command) => finish(await auditHead(optionsOf<OperateOptions>(command), io)))
  add('verify', 'check that no record was altered, taken out or put in; ends 1 and says where when one was')
    .option('--expect <number:hash>', 'a record that was kept elsewhere, which must be there', parseKeptRecord)
    .addHelpText('after', examples('audit verify', verify))
    .action(async (_options, command) => finish(await verifyAudit(optionsOf<VerifyAuditOptions>(command), io)))
}

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

/**
 * Prints the newest record of the audit log: number, time and hash. Kept elsewhere, `audit verify --expect` finds it
 * again.
 */
export function auditHead(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ audit }, report) => {
    const head = await audit.head()
    report({ event: 'audit.head', head }, () =>
      head === null ? ['The audit log is empty.'] : [`${head.seq}:${head.hash}  ${momentText(head.at)}`],
    )
  })
}

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

/** One line about a record. */
export function auditLine({ seq, at, actor, action, subject, details }: AuditRecord): string {
  const facts = Object.entries(details).map(([name, value]) => `${name}=${plain(String(value))}`)
  return [String(seq).padStart(6), momentText(at), plain(actor), action, plain(subject), ...facts].join('  ')
}
