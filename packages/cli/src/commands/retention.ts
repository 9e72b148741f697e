/** `payment-integration retention …`: ends history, and brings it back. Source: docs/retention.md. @module */
import { stat } from 'node:fs/promises'
import type { EndedHistory, HistoryCommands, RetentionPolicy, RetentionProgress } from '@payment-integration/core'
import type { HistoryArchive, PendingDeliveries } from '@payment-integration/core/ports'
import type { Command } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../command.js'
import { InterruptedError, UsageError } from '../errors.js'
import { grouped, momentText } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import type { Reporter } from '../output.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Adds the group and its commands. */
export function addRetention(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(
    program,
    'retention',
    'write old history to files, remove it, and bring it back',
    'retention run --dry-run',
    'retention run --folder /var/lib/payments/history',
  )
  withActor(add('run', 'write history that is older than PI_RETENTION_… to files, then remove it; run it once a day'))
    .option('--dry-run', 'print what would be removed; changes nothing')
    .option('--give-up', 'end pending deliveries of that time as exhausted; without it they keep their history')
    .option('--folder <path>', 'where the files go (PI_RETENTION_FOLDER)')
    .addHelpText('after', examples('retention run --dry-run', 'retention run --folder /var/lib/payments/history'))
    .action(async (_options, command) => finish(await runRetention(optionsOf<RunOptions>(command), io)))
  const file = 'deliveries-000012-20261126T030000Z.jsonl.gz'
  withActor(add('restore', 'store the rows of a file again, until the next run'))
    .option('--folder <path>', 'where the file is (PI_RETENTION_FOLDER)')
    .argument('<file>', 'a file in PI_RETENTION_FOLDER, or a path such as ./<file>')
    .addHelpText('after', examples(`retention restore ${file}`))
    .action(async (path: string, _options, command) =>
      finish(await restoreHistory(path, optionsOf<FolderOptions>(command), io)),
    )
}

/** Options of both commands. */
interface FolderOptions extends OperateOptions {
  /** @default PI_RETENTION_FOLDER */
  readonly folder?: string | undefined
}

/** Options of {@link runRetention}. */
interface RunOptions extends FolderOptions {
  /** @default false */
  readonly dryRun?: boolean | undefined
  /** @default false */
  readonly giveUp?: boolean | undefined
}

/** At each run, long before the first file is written. */
async function checkFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null)
  if (found?.isDirectory() !== true) throw new UsageError(`${folder} is not a folder; create it, or name another one.`)
}

/** Opened when it is needed: other commands do without it. */
async function openArchive(folder: string): Promise<HistoryArchive> {
  const { createFolderArchive } = await import('../archive/folder-archive.js')
  return createFolderArchive({ folder })
}

/** @returns 1 when the audit log is broken, else 0. */
async function runRetention(options: RunOptions, io: Io): Promise<ExitCode> {
  let isBroken = false
  await withService(options, io, async ({ history }, report, { retention }) => {
    const { policy } = retention
    if (Object.values(policy).every((ms) => ms === null))
      throw new UsageError('All history is kept: set PI_RETENTION_DELIVERIES or another PI_RETENTION_… such as 90d.')
    if (options.dryRun === true) return showPlan(history, policy, report)
    const folder = options.folder || retention.folder
    if (folder === null)
      throw new UsageError('The files of removed history need a folder; pass --folder or set PI_RETENTION_FOLDER.')
    await checkFolder(folder)
    let removed = 0
    const onProgress = (progress: RetentionProgress) => {
      if (progress.event === 'removed') removed += progress.history.rows
      isBroken ||= progress.event === 'audit_broken'
      report({ ...progress, event: `retention.${progress.event}` }, () => progressText(progress))
    }
    const how = { givesUp: options.giveUp === true, onProgress, signal: io.signal }
    try {
      await history.run(policy, await openArchive(folder), how)
    } catch (error) {
      if (io.signal.aborted) throw new InterruptedError('Interrupted; what was removed is in files.', { cause: error })
      throw error
    }
    report({ event: 'retention.done', removed }, () => [
      removed === 0 ? 'Nothing was removed.' : `Removed ${rowsText(removed)} in all; their files are in ${folder}.`,
    ])
  })
  return isBroken ? 1 : 0
}

async function showPlan(history: HistoryCommands, policy: RetentionPolicy, report: Reporter): Promise<void> {
  const { ended, pending } = await history.plan(policy)
  for (const each of pending) report({ event: 'retention.kept', pending: each }, () => [keptText(each)])
  for (const each of ended) report({ event: 'retention.ended', history: each }, () => [historyText(each)])
  const rows = ended.reduce((sum, each) => sum + each.rows, 0)
  report({ event: 'retention.planned', rows }, () => [
    rows === 0 ? 'Nothing is old enough.' : `retention run would remove ${rowsText(rows)}.`,
  ])
}

function restoreHistory(path: string, options: FolderOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ history }, report, { retention }) => {
    const archive = await openArchive(options.folder || (retention.folder ?? '.'))
    const { kind, rows } = await history.restore(archive, path, { signal: io.signal })
    report({ event: 'retention.restored', kind, rows }, () => [
      `Restored ${rowsText(rows)} of ${kind}. They stay until the next retention run.`,
    ])
  })
}

function progressText(progress: RetentionProgress): string[] {
  switch (progress.event) {
    case 'begun':
      return ['New rows are in a new segment from now on.']
    case 'given_up':
      return [`Gave up ${grouped(progress.deliveries)} pending deliveries.`]
    case 'kept':
      return [keptText(progress.pending)]
    case 'audit_broken':
      return [`The audit log is broken at record ${progress.brokenAt} and stays: see audit verify.`]
    case 'removed':
      return [`${historyText(progress.history)}  ${progress.file.name}`]
  }
}

function keptText({ segment, integrationAddress, count }: PendingDeliveries): string {
  return `Segment ${segment} stays: ${grouped(count)} of its deliveries to ${integrationAddress} are pending (--give-up).`
}

function historyText({ kind, part, rows, from, to }: EndedHistory): string {
  const period = from === 0 ? `until ${momentText(to)}` : `${momentText(from)} to ${momentText(to)}`
  const name = kind === 'audit' ? `from record ${part}` : `segment ${part}`
  return `${kind.padEnd(10)}  ${name}  ${period}  ${rowsText(rows)}`
}

const rowsText = (rows: number) => `${grouped(rows)} ${rows === 1 ? 'row' : 'rows'}`
