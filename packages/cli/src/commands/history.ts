/** `payment-integration audit …`, `retention …` and `backup`: the audit log, archives and copies. @module */
import { existsSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { RetentionPolicy } from '@payment-integration/core'
import type {
  AuditQueries,
  AuditRecord,
  AuditVerdict,
  ExpiredHistory,
  HistoryCommands,
  PendingDeliveries,
  RetentionProgress,
} from '@payment-integration/core/internal'
import { Option } from 'commander'
import { createFolderArchive } from '../archive.js'
import type { Cli, ExpectedRecord, Options } from '../command.js'
import {
  addCommand,
  addGroup,
  databaseOption,
  defaultLimit,
  limitOption,
  parseExpectedRecord,
  wholeNumberParser,
} from '../command.js'
import { asInterrupted, BackupError, InterruptedError, UsageError } from '../errors.js'
import { openSqlite, syncPath } from '../files.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, formatCount, groupDigits, momentText, type Reporter } from '../output.js'
import { findMissingDatabase, type OperateOptions, type Operation, operate, withFlags } from '../with-service.js'

export function addAudit(cli: Cli): void {
  const verify = `verify --expect 12:${'9f2c'.repeat(16)}`
  const about = 'list and verify the audit log of changes to secrets, URLs, deliveries and verifications'
  const { add } = addGroup(cli, 'audit', about, 'list', verify)
  const parseNumber = wholeNumberParser(0, Number.MAX_SAFE_INTEGER)

  add('list', listAudit, 'list', 'list --after 100 --limit 20', 'list --all --json')
    .description('list the newest records, oldest first')
    .option(...limitOption('records'))
    .option('--after <number>', 'start after the record with this number', parseNumber)
    .addOption(new Option('--all', 'print all records').conflicts('limit'))
  add('head', auditHead, 'head', 'head --json').description(
    'print the newest record as <number>:<hash>, to store outside the database',
  )
  const expected = 'a record that audit head printed before, which must still be in the log'
  add('verify', verifyAudit, 'verify', verify)
    .description('check that no record was changed, removed or inserted; exits with 1 and names the first bad record')
    .option('--expect <number:hash>', expected, parseExpectedRecord)
}

type ListAuditOptions = OperateOptions & Options<'limit' | 'after', number> & Options<'all'>

const pageSize = 500

const listAudit = operate(async ({ audit }, { report, options, io }: Operation<ListAuditOptions>) => {
  const { all = false, limit = defaultLimit } = options
  const newest = (await audit.head())?.seq ?? 0
  const oldest = (await audit.list({ limit: 1 }))[0]?.seq ?? 1
  const afterSeq = Math.max(oldest - 1, options.after ?? (all ? 0 : newest - limit))
  const upTo = all ? newest : Math.min(newest, afterSeq + limit)
  let printed = 0
  for (let last: number | undefined = afterSeq; last !== undefined && last < upTo; ) {
    const page = await audit.list({ afterSeq: last, limit: Math.min(pageSize, upTo - last) })
    const records = page.filter(({ seq }) => seq <= upTo)
    for (const record of records) report({ event: 'audit', record }, () => [auditLine(record)])
    printed += records.length
    last = page.at(-1)?.seq
    if (io.signal.aborted) throw new InterruptedError('Interrupted; more records may follow.')
  }
  if (newest === 0) report.note('The audit log is empty.')
  if (!all && afterSeq >= oldest && options.after === undefined)
    report({ event: 'more', shown: printed, newest }, () => [
      `The newest ${groupDigits(printed)} of ${groupDigits(newest - oldest + 1)} records; --all prints all.`,
    ])
  else if (upTo < newest)
    report({ event: 'more', shown: printed, newest, after: upTo }, () => [
      `${groupDigits(newest - upTo)} more follow; continue with --after ${upTo}.`,
    ])
})

const auditHead = operate(async ({ audit }, { report }) => {
  const head = await audit.head()
  report({ event: 'audit.head', head }, () =>
    head === null ? ['The audit log is empty.'] : [`${head.seq}:${head.hash}  ${momentText(head.at)}`],
  )
})

type VerifyOptions = OperateOptions & Options<'expect', ExpectedRecord>

const verifyAudit = operate(async ({ audit }, { report, options, io }: Operation<VerifyOptions>) => {
  const { expect } = options
  const verdict = await audit.verify({ signal: io.signal })
  const [first] = await audit.list({ limit: 1 })
  const isArchived = expect !== undefined && first !== undefined && expect.seq < first.seq
  const expected = expect === undefined || isArchived ? null : await contains(audit, expect)
  const isUnchanged = verdict.brokenAt === null && expected !== false
  report({ event: 'audit.verified', ok: isUnchanged, ...verdict, expected }, () => [
    ...verdictText(verdict),
    ...(expected === false
      ? [`Record ${expect?.seq} is not the expected one: the log was truncated or rewritten.`]
      : []),
    ...(expected === true ? [`Record ${expect?.seq} is the expected one.`] : []),
    ...(isArchived ? [`Record ${expect.seq} is archived: its retention has ended. Restore it to compare.`] : []),
  ])
  return isUnchanged ? 0 : 1
})

async function contains(audit: AuditQueries, { seq, hash }: ExpectedRecord): Promise<boolean> {
  const [record] = await audit.list({ afterSeq: seq - 1, limit: 1 })
  return record !== undefined && record.seq === seq && record.hash === hash
}

function verdictText({ records, last, brokenAt }: AuditVerdict): string[] {
  if (brokenAt !== null)
    return [
      `The audit log is broken at record ${brokenAt}: the record is missing, changed, or needs a master key that is not in PI_MASTER_KEY.`,
    ]
  if (last === null) return ['The audit log is empty.']
  return [
    `The audit log is unchanged: ${formatCount(records, 'record')}, the newest of ${momentText(last.at)}.`,
    `Store ${last.seq}:${last.hash} outside the database: with it, audit verify --expect detects removal of the newest records.`,
  ]
}

function auditLine({ seq, at, actor, action, subject, details }: AuditRecord): string {
  const facts = Object.entries(details).map(([name, value]) => `${name}=${String(value)}`)
  return [String(seq).padStart(6), momentText(at), actor, action, subject, ...facts].join('  ')
}

export function addRetention(cli: Cli): void {
  const runExamples = ['run --dry-run', 'run --folder /var/lib/payments/history']
  const about = 'write old history to files, remove it, and restore it'
  const { change } = addGroup(cli, 'retention', about, ...runExamples)
  change('run', runRetention, ...runExamples)
    .description('write history that is older than PI_RETENTION_… to files, then remove it; run it once a day')
    .option('--dry-run', 'print what would be removed; changes nothing')
    .option('--give-up', 'mark old pending deliveries as exhausted; otherwise their history stays')
    .option('--folder <path>', 'where the files go (PI_RETENTION_FOLDER)')
  change('restore', restoreHistory, 'restore deliveries-000012-20261126T030000Z.jsonl.gz')
    .description('restore the rows of a file; the next run removes them')
    .option('--folder <path>', 'where the file is (PI_RETENTION_FOLDER)')
    .argument('<file>', 'a file in that folder, or a path such as ./<file>')
}

type FolderOptions = OperateOptions & Options<'folder', string>
type RunOptions = FolderOptions & Options<'dryRun' | 'giveUp'>

/** @returns 1 when the audit log is broken, else 0. */
const runRetention = operate(async ({ history }, { report, config, options, io }: Operation<RunOptions>) => {
  const { policy } = config.retention
  if (Object.values(policy).every((ms) => ms === null))
    throw new UsageError(
      'Nothing expires: set PI_RETENTION_DELIVERIES or another PI_RETENTION_… to a time such as 90d.',
    )
  if (options.dryRun === true) return showPlan(history, policy, report)
  const folder = options.folder || config.retention.folder
  if (folder === null)
    throw new UsageError('The files of removed history need a folder; pass --folder or set PI_RETENTION_FOLDER.')
  // Checked at once: the first file is written much later.
  if ((await stat(folder).catch(() => null))?.isDirectory() !== true)
    throw new UsageError(`${folder} is not a folder; create it, or name another one.`)
  let [removed, isBroken] = [0, false]
  const onProgress = (progress: RetentionProgress) => {
    if (progress.event === 'removed') removed += progress.history.rows
    isBroken ||= progress.event === 'audit_broken'
    report({ ...progress, event: `retention.${progress.event}` }, () => progressText(progress))
  }
  const how = { givesUp: options.giveUp === true, onProgress, signal: io.signal }
  try {
    await history.run(policy, createFolderArchive({ folder }), how)
  } catch (error) {
    throw asInterrupted(error, io.signal, 'Interrupted; the removed rows are in files.')
  }
  report({ event: 'retention.done', removed }, () => [
    removed === 0 ? 'Nothing was removed.' : `Removed ${rowsText(removed)} in all; their files are in ${folder}.`,
  ])
  return isBroken ? 1 : 0
})

async function showPlan(history: HistoryCommands, policy: RetentionPolicy, report: Reporter): Promise<ExitCode> {
  const { expired, pending } = await history.plan(policy)
  for (const each of pending) report({ event: 'retention.kept', pending: each }, () => [keptText(each)])
  for (const each of expired) report({ event: 'retention.expired', history: each }, () => [historyText(each)])
  const rows = expired.reduce((sum, each) => sum + each.rows, 0)
  report({ event: 'retention.planned', rows }, () => [
    rows === 0 ? 'Nothing is old enough to remove.' : `retention run would remove ${rowsText(rows)}.`,
  ])
  return 0
}

const restoreHistory = operate(async ({ history }, run: Operation<FolderOptions>, path: string) => {
  const { report, config, options, io } = run
  const archive = createFolderArchive({ folder: options.folder || (config.retention.folder ?? '.') })
  const { kind, rows } = await history.restore(archive, path, { signal: io.signal })
  report({ event: 'retention.restored', kind, rows }, () => [
    `Restored ${rowsText(rows)} of ${kind}. They stay until the next retention run.`,
  ])
})

function progressText(progress: RetentionProgress): string[] {
  switch (progress.event) {
    case 'begun':
      return ['New rows go to a new segment from now on.']
    case 'given_up':
      return [`Gave up ${groupDigits(progress.deliveries)} pending deliveries.`]
    case 'kept':
      return [keptText(progress.pending)]
    case 'audit_broken':
      return [`The audit log is broken at record ${progress.brokenAt} and stays: see audit verify.`]
    case 'removed':
      return [`${historyText(progress.history)}  ${progress.file.name}`]
  }
}

function keptText({ segment, integrationAddress, count }: PendingDeliveries): string {
  return `Segment ${segment} stays: ${groupDigits(count)} of its deliveries to ${integrationAddress} are pending; --give-up marks them as exhausted.`
}

function historyText({ kind, part, rows, from, to }: ExpiredHistory): string {
  const period = from === 0 ? `until ${momentText(to)}` : `${momentText(from)} to ${momentText(to)}`
  const name = kind === 'audit' ? `from record ${part}` : `segment ${part}`
  return `${kind.padEnd(10)}  ${name}  ${period}  ${rowsText(rows)}`
}

const rowsText = (rows: number) => formatCount(rows, 'row')

export function addBackup(cli: Cli): void {
  addCommand(cli, 'backup', backUp, 'backup backups/payments-2026-01-31.db')
    .description('copy a SQLite database while the server runs; for PostgreSQL see docs/backup.md')
    .argument('<file>', 'the new file; it must not exist')
    .option(...databaseOption)
}

/**
 * Copies the database, as it is at one moment, into a new file that only its owner may read. The file gets its name
 * only when it is complete and on the disk.
 */
async function backUp(file: string, options: OperateOptions, io: Io): Promise<void> {
  const { readDatabaseConfig } = await import('@payment-integration/server/internal')
  const database = readDatabaseConfig(withFlags(io.env, options))
  if (database.kind === 'postgres')
    throw new UsageError('backup copies only SQLite files. For PostgreSQL, use pg_basebackup and archive the WAL.')
  await findMissingDatabase(database, false)
  const target = resolve(file)
  const bytes = await writeCopy(resolve(database.path), target)
  createReporter(io, options.json)({ event: 'backup', file: target, bytes }, (event) => [
    `Copied ${groupDigits(event.bytes)} bytes to ${event.file}.`,
  ])
}

async function writeCopy(source: string, target: string): Promise<number> {
  const partial = `${target}.partial`
  for (const path of [target, partial])
    if (existsSync(path)) throw new UsageError(`${path} exists. Name another file, or remove it.`)
  const created = await open(partial, 'wx', 0o600).catch((cause: unknown) => {
    throw new BackupError(target, cause)
  })
  await created.close()
  try {
    copyInto(source, partial)
    await syncPath(partial)
    const { size } = await stat(partial)
    await rename(partial, target)
    await syncPath(dirname(target))
    return size
  } catch (error) {
    await rm(partial, { force: true })
    throw new BackupError(target, error)
  }
}

/** Copies in one read transaction: the server may write meanwhile, but no later commit is in the copy. */
function copyInto(source: string, target: string): void {
  const database = openSqlite(source)
  try {
    // The copy waits up to a minute while the server holds a lock.
    database.exec('pragma busy_timeout = 60000')
    database.prepare('vacuum into ?').run(target)
  } finally {
    database.close()
  }
}
