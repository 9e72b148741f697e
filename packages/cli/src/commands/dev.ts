/** `payment-integration dev`: everything on this machine, with a payment every few seconds. @module */
import type { Command } from 'commander'
import { examples, type Finish, optionsOf } from '../command.js'
import { createClosers } from '../dev/clean-up.js'
import { type DevOptions, devDefaults } from '../dev/options.js'
import { type Ending, judge } from '../dev/outcome.js'
import { createDemoPrinter } from '../dev/printer.js'
import { runSession } from '../dev/session.js'
import { createStage } from '../dev/stage.js'
import { DemoError, UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { parseDuration, wholeNumber } from '../parse.js'
import { aborted, isStoppedEarly } from '../process.js'

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

/**
 * Starts the service, a chain, a receiver, a processor and a reader, and lets them work until `io.signal` aborts, or with
 * `untilIdle` until every payment is verified. Everything is ended and removed again before it returns.
 * @returns 0 when it was ended by the signal, or reached `untilIdle`; 1 when something failed.
 * @throws UsageError `ERR_USAGE` for options that do not go together; the errors of the parts that could not start.
 */
export async function dev(options: DevOptions, io: Io): Promise<ExitCode> {
  const { untilIdle = false, payments, keep = false, json = false, quiet = false } = options
  const { deadlineMs = devDefaults.deadlineMs, seed = randomSeed(io) } = options
  const { everyMs = untilIdle ? devDefaults.everyMsUntilIdle : devDefaults.everyMs } = options
  if (untilIdle && payments === undefined)
    throw new UsageError('--until-idle waits for a number of payments; name it with --payments.')
  if (!untilIdle && options.deadlineMs !== undefined)
    throw new UsageError('--deadline bounds a run with --until-idle; add it, or leave --deadline out.')

  const startedAt = io.now()
  const stage = createStage(createDemoPrinter(io, { json, quiet }), () => io.now())
  const closers = createClosers()
  const early = new AbortController()
  let ending: Ending = { kind: 'idle' }
  let started = false
  function end(how: Ending): void {
    if (early.signal.aborted) return
    ending = how
    early.abort()
  }
  const interrupted = () => end({ kind: 'interrupted' })
  io.signal.addEventListener('abort', interrupted)
  if (io.signal.aborted) interrupted()
  if (untilIdle) void io.sleep(deadlineMs, early.signal).then(() => end({ kind: 'deadline', limitMs: deadlineMs }))

  try {
    const { signal } = early
    // Loaded when it is wanted: it brings the chain's and the server's code, which help does not need.
    const { startDemo } = await import('../dev/demo.js')
    const demo = await startDemo({ port: options.port, keep, seed, startedAt }, { io, closers, stage, signal })
    started = true
    void demo.lost.then((reason) => end({ kind: 'lost', reason }))
    const plan = { everyMs, seed, payments: payments ?? Number.POSITIVE_INFINITY }
    const result = await runSession(demo, plan, stage, io, signal)
    if (!untilIdle) await aborted(signal)
    const { exitCode, reasons } = judge(ending, result, untilIdle)
    early.abort()
    await closers.close()
    const { payments: made, verified } = result
    const figures = { payments: made, verified, ...demo.ledger.figures(), runMs: io.now() - startedAt }
    stage.report({ event: 'summary', ok: reasons.length === 0, ...figures, reasons, folder: keep ? demo.folder : null })
    return exitCode
  } catch (error) {
    if (started || !(await isStoppedEarly(early.signal, error))) throw error
    return endedAtStart(ending, untilIdle, error)
  } finally {
    io.signal.removeEventListener('abort', interrupted)
    early.abort()
    await closers.close()
  }
}

/** The run was ended while it still started: that was asked for, unless payments had to be verified first. */
function endedAtStart(ending: Ending, untilIdle: boolean, cause: unknown): ExitCode {
  if (ending.kind === 'interrupted' && !untilIdle) return 0
  const reason =
    ending.kind === 'deadline' ? `within the deadline of ${ending.limitMs / 1000} s` : 'before it was interrupted'
  throw new DemoError(`The demo did not start ${reason}.`, { cause })
}

function randomSeed(io: Pick<Io, 'randomBytes'>): number {
  return io.randomBytes(4).reduce((seed, byte) => seed * 256 + byte, 0)
}
