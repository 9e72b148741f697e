/** `dev` on the command line. @module */
import type { Command } from 'commander'
import { dev } from '../commands/dev.js'
import { devDefaults } from '../dev/options.js'
import type { Io } from '../io.js'
import { parseDuration } from '../parse/duration.js'
import { wholeNumber } from '../parse/whole-number.js'
import { examples, type Finish, optionsOf } from './finish.js'

interface DevFlags {
  readonly every?: number
  readonly payments?: number
  readonly untilIdle?: true
  readonly deadline?: number
  readonly seed?: number
  readonly port?: number
  readonly keep?: true
  readonly quiet?: true
}

/** Adds the command. */
export function addDev(program: Command, io: Io, finish: Finish): void {
  program
    .command('dev')
    .description('run everything on this machine: server, chain, receiver, and a payment every few seconds')
    .option('--every <duration>', 'time between payments (default 3s; 200ms with --until-idle)', parseDuration)
    .option('--payments <number>', 'how many payments to make (default: no end)', wholeNumber(1, 1_000_000))
    .option('--until-idle', 'end when all --payments are final, delivered, verified and read back')
    .option('--deadline <duration>', 'how long a run with --until-idle may take (default 60s)', parseDuration)
    .option('--seed <number>', 'decides amounts, merchants and refunds (default: random)', wholeNumber(0, 2 ** 32 - 1))
    .option(
      '--port <port>',
      `port of the API (default: PI_PORT, else the first free one from ${devDefaults.port} on)`,
      wholeNumber(0, 65_535),
    )
    .option('--keep', 'leave the databases behind and print where they are')
    .option('--quiet', 'print the header, problems and the summary only')
    .addHelpText('after', examples('dev', 'dev --every 500ms --seed 42', 'dev --until-idle --payments 5 --json'))
    .action(async (_options, command) => {
      const { every, deadline, ...options } = optionsOf<DevFlags>(command)
      finish(await dev({ ...options, everyMs: every, deadlineMs: deadline }, io))
    })
}
