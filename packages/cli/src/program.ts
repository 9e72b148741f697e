/** The command line: names, options, help. Each command is a function of its own. @module */
import { Command, type CommanderError, type OutputConfiguration } from 'commander'
import { addAccounts } from './cli/accounts.js'
import { addAudit } from './cli/audit.js'
import { addDeliveries } from './cli/deliveries.js'
import { addDev } from './cli/dev.js'
import type { Finish } from './cli/finish.js'
import { addIdentity } from './cli/identity.js'
import { addIntegrations } from './cli/integrations.js'
import { addLegacyKeys } from './cli/legacy-keys.js'
import { addReindex } from './cli/reindex.js'
import { addSecrets } from './cli/secrets.js'
import { addServe } from './cli/serve.js'
import { addStatus } from './cli/status.js'
import type { Io } from './io.js'
import { version } from './version.js'

/** Builds the program. `finish` is given the exit code of the command that ran. */
export function createProgram(io: Io, finish: Finish): Command {
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
    .showHelpAfterError('Add --help to see what is possible.')
  addDev(program, io, finish)
  addServe(program, io, finish)
  addStatus(program, io, finish)
  addReindex(program, io, finish)
  addIntegrations(program, io, finish)
  addAccounts(program, io, finish)
  addLegacyKeys(program, io, finish)
  addDeliveries(program, io, finish)
  addIdentity(program, io, finish)
  addAudit(program, io, finish)
  addSecrets(program, io, finish)
  return program
}

/** Whether commander stopped because it printed what was asked for. */
export function isAnswer(error: CommanderError): boolean {
  return ['commander.helpDisplayed', 'commander.version'].includes(error.code)
}

function output(io: Io): OutputConfiguration {
  return {
    writeOut: (text) => io.out(text.trimEnd()),
    writeErr: (text) => io.err(text.trimEnd()),
    getOutHasColors: () => io.colour,
    getErrHasColors: () => io.colour,
  }
}
