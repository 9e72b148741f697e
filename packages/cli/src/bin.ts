#!/usr/bin/env node
import type { Io } from './io.js'
import { wantsColour } from './output.js'
/** Lends the process to the command: arguments, environment, output, signals, exit code. @module */
import { createSignalReader, endSignals, ioBasics, readerIsGone } from './process.js'
import { runCli } from './run-cli.js'
import { createScreen } from './screen.js'

/** After the command has ended, sockets and timers that are left get this long before the process ends anyway. */
const lingerMs = 1_000

const stop = new AbortController()
const { cleanUps, ...basics } = ioBasics()
let terminalIsGone = false
const meaningOf = createSignalReader(() => performance.now())

for (const signal of endSignals)
  process.on(signal, () => {
    const meaning = meaningOf(signal)
    if (meaning === 'insist') process.exit(1)
    if (meaning === 'stop') stop.abort()
  })
process.on('exit', () => {
  for (const cleanUp of cleanUps) cleanUp()
  if (!terminalIsGone) return
  // Node restores the terminal last of all, and aborts with a core dump when it is closed. So the signal has its usual effect.
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
})
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!readerIsGone(error, stream.isTTY === true)) throw error
    // Nothing is left to print for.
    stop.abort()
    terminalIsGone ||= stream.isTTY === true
  })

// Both streams may end on the one terminal, so both print above its kept lines.
const screen = createScreen(process.stdout)
const isWatched = process.stdout.isTTY === true && process.env['TERM'] !== 'dumb'

const io: Io = {
  ...basics,
  env: process.env,
  input: () => process.stdin,
  out: (line) => screen.above(() => void process.stdout.write(`${line}\n`)),
  err: (line) => screen.above(() => void process.stderr.write(`${line}\n`)),
  live: isWatched ? screen.live : undefined,
  colour: wantsColour(process.stdout.isTTY === true, process.env),
  signal: stop.signal,
  ownsProcess: true,
}

process.exitCode = await runCli(process.argv.slice(2), io)
setTimeout(() => process.exit(), lingerMs).unref()
// Where Node takes itself down, it gives signals their usual effect first: one that is sent twice would say that the command was killed.
process.once('beforeExit', () => process.exit())
