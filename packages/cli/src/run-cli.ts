/** Declares the program and runs a command line. @module */
import { Command, CommanderError } from 'commander'
import type { Cli } from './command.js'
import { formatCommandError } from './errors.js'
import { version } from './files.js'
import type { ExitCode, Io } from './io.js'
import { plainOutput } from './output.js'

type AddCommand = (cli: Cli) => void

/** Loaders by a command's first word, in the order of the help. A run loads only its own command, and starts fast. */
const loaders: Readonly<Record<string, () => Promise<AddCommand>>> = {
  dev: async () => (await import('./commands/dev.js')).addDev,
  init: async () => (await import('./commands/init.js')).addInit,
  doctor: async () => (await import('./commands/doctor.js')).addDoctor,
  explain: async () => (await import('./commands/explain.js')).addExplain,
  trigger: async () => (await import('./commands/trigger.js')).addTrigger,
  listen: async () => (await import('./commands/listen.js')).addListen,
  serve: async () => (await import('./commands/serve.js')).addServe,
  migrate: async () => (await import('./commands/serve.js')).addMigrate,
  backup: async () => (await import('./commands/history.js')).addBackup,
  status: async () => (await import('./commands/status.js')).addStatus,
  reindex: async () => (await import('./commands/chains.js')).addReindex,
  integrations: async () => (await import('./commands/integrations.js')).addIntegrations,
  accounts: async () => (await import('./commands/accounts.js')).addAccounts,
  'legacy-keys': async () => (await import('./commands/access.js')).addLegacyKeys,
  operators: async () => (await import('./commands/access.js')).addOperators,
  payments: async () => (await import('./commands/payments.js')).addPayments,
  deliveries: async () => (await import('./commands/deliveries.js')).addDeliveries,
  identity: async () => (await import('./commands/identity.js')).addIdentity,
  audit: async () => (await import('./commands/history.js')).addAudit,
  retention: async () => (await import('./commands/history.js')).addRetention,
  leases: async () => (await import('./commands/chains.js')).addLeases,
  secrets: async () => (await import('./commands/access.js')).addSecrets,
  feed: async () => (await import('./commands/serve.js')).addFeed,
  mirror: async () => (await import('./commands/mirror.js')).addMirror,
}

/**
 * Runs the command that `args` name.
 * @param args - The arguments after `payment-integration`.
 * @returns 0 done, 1 failed, 2 misused. It never rejects: errors are printed on standard error.
 * @example
 * import { type ExitCode, type Io, runCli } from '@payment-integration/cli'
 * export const showStatus = (io: Io): Promise<ExitCode> => runCli(['status', '--json'], io)
 */
export async function runCli(args: readonly string[], given: Io): Promise<ExitCode> {
  const io = plainOutput(given)
  let exitCode: ExitCode = 0
  const run: Cli['run'] =
    (work) =>
    async (...actionArguments) => {
      const [, command] = actionArguments.splice(-2) as [unknown, Command]
      exitCode = (await work(...([...actionArguments, command.optsWithGlobals(), io] as never[]))) ?? 0
    }
  const program = createProgram(io)
  try {
    for (const load of chooseLoaders(args)) (await load())({ program, run, io })
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return /\.(helpDisplayed|version)$/.test(error.code) ? 0 : 2
    const described = formatCommandError(error, args.includes('--debug'))
    for (const line of described.lines) io.err(line)
    return described.exitCode
  }
}

/** Chooses the loader of the command that `args` name, or all loaders where the help or a suggestion may name any. */
function chooseLoaders(args: readonly string[]): readonly (() => Promise<AddCommand>)[] {
  const word = args.find((arg) => !arg.startsWith('-'))
  if (word !== undefined && Object.hasOwn(loaders, word)) return [loaders[word] as () => Promise<AddCommand>]
  const asksVersion = word === undefined && args.some((arg) => arg === '-V' || arg === '--version')
  return asksVersion ? [] : Object.values(loaders)
}

function createProgram(io: Io): Command {
  const program = new Command('payment-integration')
  program
    .description('Operate a payment integration server, and try an integration on this machine.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .option('--json', 'print one JSON object per line and nothing else')
    .option('--debug', 'print the stack trace of an error')
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 30 })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => text.trimEnd().split('\n').forEach(io.out),
      writeErr: (text) => text.trimEnd().split('\n').forEach(io.err),
      // The rejected value may be a URL with a password, so the message does not repeat it.
      outputError: (text, write) =>
        write(withoutValue(text.replace(/^(error: unknown option '[^'=]{1,99})=.*'/s, "$1'"))),
      getOutHasColors: () => io.color,
      getErrHasColors: () => io.color,
    })
    .showHelpAfterError('Add --help to list commands and options.')
  return program
}

/** A message of commander about an invalid value, without the value. */
function withoutValue(text: string): string {
  const before = text.search(/ (?:argument|value) '/)
  const start = text.indexOf(" '", before + 1)
  const end = text.lastIndexOf("' is invalid")
  return before < 0 || end < start ? text : `${text.slice(0, start)}${text.slice(end + 1)}`
}
