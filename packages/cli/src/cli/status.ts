/** `status` on the command line. @module */
import type { Command } from 'commander'
import { type StatusOptions, showStatus } from '../commands/status.js'
import type { Io } from '../io.js'
import { parseServerUrl } from '../status/server-url.js'
import { examples, type Finish, optionsOf } from './finish.js'

/** Adds the command. */
export function addStatus(program: Command, io: Io, finish: Finish): void {
  program
    .command('status')
    .description('show how a running server and its chains are doing; ends 1 unless all is well')
    .option('--url <url>', 'base address of the server (default: where PI_HOST and PI_PORT say)', parseServerUrl)
    .option('--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL), for how blocks were proven')
    .addHelpText('after', examples('status', 'status --url https://payments.example --json'))
    .action(async (_options, command) => finish(await showStatus(optionsOf<StatusOptions>(command), io)))
}
