#!/usr/bin/env node
/** Runs the command in this process: arguments, environment, output, signals, exit code. @module */
import type { Io } from './io.js'
import { wantsColor } from './output.js'
import { createIoBasics, createScreen, createSignalReader, endSignals, isReaderGone, readKeys } from './process.js'
import { runCli } from './run-cli.js'

/** How long open sockets and timers may delay the exit after the command has completed, in milliseconds. */
const lingerMs = 1_000

const stop = new AbortController()
const { cleanUps, ...basics } = createIoBasics()
let terminalIsGone = false
const readSignal = createSignalReader(performance)

function onSignal(signal: (typeof endSignals)[number]): void {
  const meaning = readSignal(signal)
  if (meaning === 'insist') process.exit(1)
  if (meaning === 'stop') stop.abort()
}
for (const signal of endSignals) process.on(signal, () => onSignal(signal))
process.on('exit', () => {
  for (const cleanUp of cleanUps) cleanUp()
  if (!terminalIsGone) return
  // Node aborts with a core dump when it restores a closed terminal, so SIGHUP ends the process first.
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
})
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error, stream.isTTY === true)) throw error
    // Nobody reads the output any more.
    stop.abort()
    terminalIsGone ||= stream.isTTY === true
  })

// Both streams may share one terminal, so both print above its status lines.
const screen = createScreen(process.stdout)
const isTerminal = process.stdout.isTTY === true && process.env['TERM'] !== 'dumb'

const io: Io = {
  ...basics,
  env: process.env,
  input: () => process.stdin,
  out: (line) => screen.above(() => void process.stdout.write(`${line}\n`)),
  err: (line) => screen.above(() => void process.stderr.write(`${line}\n`)),
  live: isTerminal ? screen.live : undefined,
  keys: isTerminal && process.stdin.isTTY === true ? readKeys(process.stdin, () => onSignal('SIGINT')) : undefined,
  logsToTerminal: process.stderr.isTTY === true,
  color: wantsColor(process.stdout.isTTY === true, process.env),
  signal: stop.signal,
  ownsProcess: true,
}

process.exitCode = await runCli(process.argv.slice(2), io)
setTimeout(() => process.exit(), lingerMs).unref()
// Before Node exits by itself it restores default signal handling: a repeated signal would then kill the command.
process.once('beforeExit', () => process.exit())
