/** `serve` on the command line. @module */
import type { Command } from 'commander'
import { type ServeOptions, serve } from '../commands/serve.js'
import type { Io } from '../io.js'
import { wholeNumber } from '../parse/whole-number.js'
import { examples, type Finish, optionsOf } from './finish.js'

/** Adds the command. */
export function addServe(program: Command, io: Io, finish: Finish): void {
  program
    .command('serve')
    .description('run the server until Ctrl-C or SIGTERM; the configuration comes from PI_… variables')
    .option('--host <host>', 'address to listen on (PI_HOST, default 127.0.0.1)')
    .option('--port <port>', 'port to listen on, 0 for any (PI_PORT, default 4747)', wholeNumber(0, 65_535))
    .option('--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)')
    .addHelpText('after', examples('serve', 'serve --port 8080 --database sqlite:payments.db --json'))
    .action(async (_options, command) => finish(await serve(optionsOf<ServeOptions>(command), io)))
}
