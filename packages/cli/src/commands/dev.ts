/** `payment-integration dev`: runs a demo on this machine, with a payment every few seconds. @module */
import type { Cli, Options } from '../command.js'
import {
  addCommand,
  durationParser,
  parseDuration,
  parsePort,
  parseReceiverUrl,
  wholeNumberParser,
} from '../command.js'
import { devDefaults } from '../dev/demo-events.js'
import type { RunEnd } from '../dev/session.js'
import { randomSeed } from '../development.js'
import { DemoError, UsageError } from '../errors.js'
import type { ExitCode, Io } from '../io.js'
import { aborted, isStoppedEarly } from '../process.js'

interface DevOptions
  extends Options<'payments' | 'seed' | 'port', number>,
    Options<'untilIdle' | 'keep' | 'quiet' | 'json'> {
  /** Milliseconds. */
  readonly every?: number
  /** Milliseconds. */
  readonly deadline?: number
  readonly forwardTo?: string
  readonly env?: string | false
}

export function addDev(cli: Cli): void {
  const seedHelp = 'seed of amounts, merchants and refunds (default: random)'
  const portHelp = `port of the API (default: PI_PORT, else the first free port from ${devDefaults.port})`
  addCommand(
    cli,
    'dev',
    dev,
    'dev',
    'dev --forward-to http://localhost:3000/webhook',
    'dev --every 500ms --seed 42',
    'dev --until-idle --payments 5 --json',
  )
    .description('run a demo on this machine: server, chain, receiver, and a payment every few seconds')
    .option('--every <duration>', 'time between two payments (default 3s; 200ms with --until-idle)', parseDuration)
    .option('--payments <number>', 'number of payments to make (default: no limit)', wholeNumberParser(1, 1_000_000))
    .option('--until-idle', 'stop when all --payments are final, delivered, verified and read back')
    .option('--deadline <duration>', 'time limit of a run with --until-idle (default 60s)', durationParser('24d'))
    .option('--seed <number>', seedHelp, wholeNumberParser(0, 2 ** 32 - 1))
    .option('--port <port>', portHelp, parsePort)
    .option('--forward-to <url>', 'your receiver, which gets each delivery as it is sent', parseReceiverUrl)
    .option('--env <file>', `file for the five values of an integrator, with --forward-to (default ${devDefaults.env})`)
    .option('--no-env', 'do not write that file')
    .option('--keep', 'keep the databases and print their folder')
    .option('--quiet', 'print only the header, problems and the summary')
}

/**
 * Runs service, chain, receiver, processor and reader until `io.signal` aborts.
 * With `untilIdle` the demo ends once every payment is verified. All parts are stopped before the return.
 * @returns 0 when the signal stopped the demo or every payment is verified; 1 when something failed.
 */
async function dev(options: DevOptions, io: Io): Promise<ExitCode> {
  const { untilIdle = false, payments, keep: keepsFolder = false, json = false, quiet = false } = options
  const { deadline: deadlineMs = devDefaults.deadlineMs, seed = randomSeed(io) } = options
  const { every: everyMs = untilIdle ? devDefaults.everyMsUntilIdle : devDefaults.everyMs } = options
  if (untilIdle && payments === undefined)
    throw new UsageError('--until-idle needs the number of payments; pass it with --payments.')
  if (!untilIdle && options.deadline !== undefined)
    throw new UsageError('--deadline needs --until-idle; add it, or omit --deadline.')

  if (options.forwardTo === undefined && typeof options.env === 'string')
    throw new UsageError('--env needs --forward-to; add it, or omit --env.')
  const { forwardTo, env = devDefaults.env } = options
  const envFile = forwardTo === undefined || env === false ? null : env

  // Loaded only here: help texts need no code of the demo.
  const [
    { connectKeys },
    { createClosers },
    { createDemoPrinter, createEventOrder },
    { createNudge, judge, runSession },
  ] = await Promise.all([
    import('../dev/hotkeys.js'),
    import('../dev/machine.js'),
    import('../dev/printer.js'),
    import('../dev/session.js'),
  ])
  const startedAt = io.now()
  const keys = json || untilIdle ? undefined : io.keys
  const events = createEventOrder(createDemoPrinter(io, { json, quiet, hasKeys: keys !== undefined }), io)
  const closers = createClosers()
  const stopping = new AbortController()
  let ending: RunEnd = { kind: 'idle' }
  let isStarted = false
  function stop(reason: RunEnd): void {
    if (stopping.signal.aborted) return
    ending = reason
    stopping.abort()
  }
  const onInterrupt = () => stop({ kind: 'interrupted' })
  io.signal.addEventListener('abort', onInterrupt)
  if (io.signal.aborted) onInterrupt()
  if (untilIdle) void io.sleep(deadlineMs, stopping.signal).then(() => stop({ kind: 'deadline', limitMs: deadlineMs }))

  try {
    const { signal } = stopping
    const { startDemo } = await import('../dev/demo.js')
    const settings = { port: options.port, keepsFolder, seed, startedAt, forwardTo, envFile }
    const demo = await startDemo({ ...settings, io, closers, events, signal })
    isStarted = true
    void demo.exitReason.then((reason) => stop({ kind: 'exited', reason }))
    const nudge = createNudge()
    if (keys !== undefined)
      closers.add(connectKeys(keys, { demo, nudge, quit: onInterrupt }, events.report), (stopKeys) => stopKeys())
    const plan = { everyMs, seed, payments: payments ?? Number.POSITIVE_INFINITY, nudge }
    const result = await runSession(demo, plan, events, io, signal)
    if (!untilIdle) await aborted(signal)
    const { exitCode, reasons } = judge(ending, result, untilIdle)
    stopping.abort()
    await closers.close()
    const { payments: paymentCount, verified } = result
    const figures = { payments: paymentCount, verified, ...demo.tracker.figures(), runMs: io.now() - startedAt }
    const ok = reasons.length === 0
    events.report({ event: 'summary', ok, ...figures, reasons, folder: keepsFolder ? demo.folder : null })
    return exitCode
  } catch (error) {
    if (isStarted || !(await isStoppedEarly(stopping.signal))) throw error
    return judgeStoppedStart(ending, untilIdle, error)
  } finally {
    io.signal.removeEventListener('abort', onInterrupt)
    stopping.abort()
    await closers.close()
  }
}

/** Decides about a run that was stopped during its start: an error with `untilIdle` or after a deadline, else 0. */
function judgeStoppedStart(ending: RunEnd, untilIdle: boolean, cause: unknown): ExitCode {
  if (ending.kind === 'interrupted' && !untilIdle) return 0
  const reason =
    ending.kind === 'deadline' ? `within the deadline of ${ending.limitMs / 1000} s` : 'before it was interrupted'
  throw new DemoError(`The demo did not start ${reason}.`, { cause })
}
