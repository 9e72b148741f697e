/** Declares the program and runs a command line. @module */
import { Command, CommanderError, type OutputConfiguration } from 'commander'
import type { Finish } from './command.js'
import { addAccounts } from './commands/accounts.js'
import { addAudit } from './commands/audit.js'
import { addBackup } from './commands/backup.js'
import { addDeliveries } from './commands/deliveries/deliveries.js'
import { addDev } from './commands/dev.js'
import { addDoctor } from './commands/doctor/doctor.js'
import { addExplain } from './commands/explain/explain.js'
import { addFeed } from './commands/feed.js'
import { addIdentity } from './commands/identity/identity.js'
import { addInit } from './commands/init.js'
import { addIntegrations } from './commands/integrations.js'
import { addLegacyKeys } from './commands/legacy-keys.js'
import { addListen } from './commands/listen.js'
import { addMigrate } from './commands/migrate.js'
import { addMirror } from './commands/mirror/mirror.js'
import { addOperators } from './commands/operators.js'
import { addReindex } from './commands/reindex.js'
import { addRetention } from './commands/retention.js'
import { addSecrets } from './commands/secrets.js'
import { addServe } from './commands/serve.js'
import { addStatus } from './commands/status/status.js'
import { addTrigger } from './commands/trigger/trigger.js'
import { describeError } from './errors.js'
import type { ExitCode, Io } from './io.js'
import { version } from './version.js'

/**
 * Runs the command that `args` name.
 * @param args - The arguments after the command's own name.
 * @returns 0 done, 1 failed, 2 misused. It never rejects: it prints errors as one or two sentences on standard error.
 */
export async function runCli(args: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0
  const program = createProgram(io, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return isHelpOrVersion(error) ? 0 : 2
    const described = describeError(error, args.includes('--debug'))
    for (const line of described.lines) io.err(line)
    return described.exitCode
  }
}

/** Builds the program. `finish` receives the exit code of the command that ran. */
function createProgram(io: Io, finish: Finish): Command {
  const program = new Command('payment-integration')
  program
    .description('Operate a payment integration server, and try an integration on this machine.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .option('--json', 'print one JSON object per line and nothing else')
    .option('--debug', 'print the stack of an error')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput(output(io))
    .showHelpAfterError('Add --help to list commands and options.')
  addDev(program, io, finish)
  addInit(program, io, finish)
  addDoctor(program, io, finish)
  addExplain(program, io, finish)
  addTrigger(program, io, finish)
  addListen(program, io, finish)
  addServe(program, io, finish)
  addMigrate(program, io, finish)
  addBackup(program, io, finish)
  addStatus(program, io, finish)
  addReindex(program, io, finish)
  addIntegrations(program, io, finish)
  addAccounts(program, io, finish)
  addLegacyKeys(program, io, finish)
  addOperators(program, io, finish)
  addDeliveries(program, io, finish)
  addIdentity(program, io, finish)
  addAudit(program, io, finish)
  addRetention(program, io, finish)
  addSecrets(program, io, finish)
  addFeed(program, io, finish)
  addMirror(program, io, finish)
  return program
}

/** Whether commander stopped after it printed the help or the version. */
function isHelpOrVersion(error: CommanderError): boolean {
  return ['commander.helpDisplayed', 'commander.version'].includes(error.code)
}

function output(io: Io): OutputConfiguration {
  return {
    writeOut: (text) => io.out(text.trimEnd()),
    writeErr: (text) => io.err(text.trimEnd()),
    // The rejected value may be a URL with a password: it is not repeated.
    outputError: (text, write) => write(withoutValue(text)),
    getOutHasColors: () => io.colour,
    getErrHasColors: () => io.colour,
  }
}

/** A message of commander about an invalid value, without the value. */
function withoutValue(text: string): string {
  const before = text.search(/ (?:argument|value) '/)
  const start = text.indexOf(" '", before + 1)
  const end = text.lastIndexOf("' is invalid")
  return before < 0 || end < start ? text : `${text.slice(0, start)}${text.slice(end + 1)}`
}
