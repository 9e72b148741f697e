/** `payment-integration init`: writes a receiver, its tables and a test into a project. @module */
import { resolve } from 'node:path'
import { Argument, Option } from 'commander'
import { addCommand, type Cli, type Options } from '../command.js'
import { UsageError } from '../errors.js'
import { type DatabaseName, type FrameworkName, frameworkNames } from '../init/layout.js'
import { type Plan, planInit, unifiedDiff, writePlan } from '../init/plan.js'
import { readProject } from '../init/project.js'
import { canAsk, confirm } from '../input.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, createStyle, type Reporter, type Style } from '../output.js'

type InitOptions = Options<'path' | 'from', string> &
  Options<'database', DatabaseName> &
  Options<'yes' | 'dryRun' | 'json'> & { readonly dir: string }

export function addInit(cli: Cli): void {
  const databaseHelp = 'where versions are stored (default: postgres if pg is a dependency)'
  addCommand(cli, 'init', init, 'init express', 'init next --path /hooks/payments --dry-run', 'init koa --yes')
    .description('add a receiver of notifications, its tables and a test to a project; shows the diff first')
    .addArgument(new Argument('<framework>', 'the framework of the project').choices(frameworkNames))
    .option('--dir <folder>', 'the folder with the package.json of the project', '.')
    .addOption(new Option('--database <name>', databaseHelp).choices(['sqlite', 'postgres']))
    .option('--path <path>', 'the path of the webhook (default: /webhook; /api/webhook in the pages router of Next)')
    .option(
      '--from <folder>',
      'take the @payment-integration packages from the tarballs that `npm run pack` wrote there',
    )
    .option('--yes', 'write without asking')
    .option('--dry-run', 'only print the diff')
}

/**
 * Prints the diff, asks, and writes. A file with other content is not changed; the lines to add by hand are printed.
 * @returns 0 when all was written or nothing was missing; 1 when a file needs changes by hand, or the answer was no.
 */
async function init(framework: FrameworkName, options: InitOptions, io: Io): Promise<ExitCode> {
  const { json = false, yes = false, dryRun = false, database, path, from } = options
  const project = await readProject(resolve(options.dir))
  const plan = await planInit(project, { framework, database, path, from })
  const report = createReporter(io, json)
  const hasConflicts = plan.conflicts.length > 0
  if (plan.files.length === 0 && !hasConflicts) {
    report({ event: 'init.unchanged' }, () => ['There is nothing to change.'])
    return 0
  }
  showPlan(plan, report, createStyle(io.color))
  if (dryRun || plan.files.length === 0) return hasConflicts ? 1 : 0
  if (!yes) {
    if (json || !canAsk(io)) throw new UsageError('Nothing was written: pass --yes to write these files, or --dry-run.')
    const count = plan.files.length
    if (!(await confirm(`Write ${count === 1 ? 'this file' : `these ${count} files`}?`, io))) {
      io.out('Nothing was written.')
      return 1
    }
  }
  await writePlan(project.folder, plan.files)
  const written = plan.files.map((file) => file.path)
  report({ event: 'init.written', files: written, steps: plan.steps }, ({ steps }) => [
    `Wrote ${written.length === 1 ? '1 file' : `${written.length} files`}. Next:`,
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
  ])
  return hasConflicts ? 1 : 0
}

function showPlan({ files, conflicts }: Plan, report: Reporter, style: Style): void {
  for (const { path, before, after } of files) {
    const action = before === null ? 'create' : 'change'
    const diff = unifiedDiff(path, before, after)
    report({ event: 'init.file', action, path, diff }, () => diff.map((line, index) => colorLine(line, index, style)))
  }
  for (const conflict of conflicts)
    report({ event: 'init.conflict', ...conflict }, ({ path, add }) => [
      style.yellow(
        add.length === 0
          ? `${path} has additional lines, so it was not changed.`
          : `${path} has other content, so it was not changed. Add by hand:`,
      ),
      ...add.map((line) => `  ${line}`),
    ])
}

function colorLine(line: string, index: number, style: Style): string {
  // The first two lines name the files. A removed SQL comment begins with `---`, too.
  if (index < 2) return style.bold(line)
  if (line.startsWith('+')) return style.green(line)
  if (line.startsWith('-')) return style.red(line)
  return line.startsWith('@@') ? style.cyan(line) : line
}
