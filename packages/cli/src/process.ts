/** Interprets signals, keys and write errors of the process, and keeps status lines below its output. @module */
import { randomBytes } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Io } from './io.js'

/** The signals that end a command: Ctrl-C, a supervisor's stop, a closed terminal. */
export const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

type EndSignal = (typeof endSignals)[number]

/** `stop`: shut down. `ignore`: the signal repeats the first one. `insist`: exit at once. */
type SignalMeaning = 'stop' | 'ignore' | 'insist'

/**
 * A repetition of the first signal within this time, in milliseconds, is ignored.
 * A terminal sends Ctrl-C to npm and to the command, and npm forwards it to the command.
 */
const repetitionMs = 500

/**
 * Interprets signals in their order: the first stops the command, a later one exits at once.
 * SIGHUP always means stop and never counts as the first: supervisors send it together with SIGTERM, in either order.
 * @param clock - Monotonic, in milliseconds.
 */
export function createSignalReader(clock: Pick<Io, 'now'>): (signal: EndSignal) => SignalMeaning {
  let first: { readonly signal: EndSignal; readonly at: number } | null = null
  return (signal) => {
    if (signal === 'SIGHUP') return 'stop'
    if (first === null) {
      first = { signal, at: clock.now() }
      return 'stop'
    }
    return signal === first.signal && clock.now() - first.at < repetitionMs ? 'ignore' : 'insist'
  }
}

/** A signal may arrive this long after the failure that it caused, in milliseconds: Node handles signals late. */
const signalWithinMs = 100

/** Whether a start failed only because the command was stopped, so that the error is not reported. */
export async function isStoppedEarly(signal: AbortSignal): Promise<boolean> {
  await delay(signalWithinMs, undefined, { signal }).catch(() => undefined)
  return signal.aborted
}

/** Resolves when the signal aborts, or at once if it is already aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
    if (signal.aborted) resolve()
  })
}

/** Whether a write failed because nobody reads the output any more: EPIPE from a pipe, EIO from a closed terminal. */
export function isReaderGone({ code }: NodeJS.ErrnoException, isTerminal: boolean): boolean {
  return code === 'EPIPE' || (isTerminal && code === 'EIO')
}

interface KeyInput {
  setRawMode(on: boolean): unknown
  setEncoding(encoding: 'utf8'): unknown
  on(event: 'data', listener: (text: string) => void): unknown
  off(event: 'data', listener: (text: string) => void): unknown
  resume(): unknown
  pause(): unknown
}

/** Reads single keys of a terminal. In raw mode Ctrl-C is the key U+0003, which counts as SIGINT. */
export function readKeys(input: KeyInput, onInterrupt: () => void): NonNullable<Io['keys']> {
  return (onKey) => {
    const onText = (text: string) => {
      // An arrow key sends an escape and further characters.
      if (text.startsWith('\u001b')) onKey(text)
      else for (const key of text) (key === '\u0003' ? onInterrupt : onKey)(key)
    }
    input.setRawMode(true)
    input.setEncoding('utf8')
    input.on('data', onText)
    input.resume()
    return () => {
      input.off('data', onText)
      input.setRawMode(false)
      input.pause()
    }
  }
}

export type IoBasics = ReturnType<typeof createIoBasics>

/** Creates the parts of {@link Io} that a process and a test share, with the clean-ups that `onExit` registered. */
export function createIoBasics() {
  const cleanUps = new Set<() => void>()
  return {
    cleanUps,
    onExit(cleanUp: () => void) {
      cleanUps.add(cleanUp)
      return () => void cleanUps.delete(cleanUp)
    },
    now: () => Date.now(),
    sleep: (ms: number, signal?: AbortSignal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => {}),
    randomBytes,
    userName,
    temporaryFolder: tmpdir(),
  }
}

function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container may run under a user id without a name.
    return null
  }
}

interface ScreenStream {
  write(text: string): unknown
  readonly columns?: number | undefined
}

/** The most status lines; every terminal has more rows. */
const maxLines = 12
const defaultWidth = 80

export function createScreen(stream: ScreenStream) {
  let statusLines: readonly string[] = []

  function erase(): void {
    // Moves up to the first status line and clears everything below.
    if (statusLines.length > 0) stream.write(`\u001b[${statusLines.length}A\u001b[0J`)
  }
  function paint(): void {
    // A wrapped line would take two rows, and `erase` counts one.
    const width = (stream.columns || defaultWidth) - 1
    if (statusLines.length > 0) stream.write(statusLines.map((line) => `${line.slice(0, width)}\n`).join(''))
  }
  return {
    /** Runs `write`, which prints whole lines, above the status lines. */
    above(write: () => void) {
      erase()
      write()
      paint()
    },
    /** Replaces the status lines. */
    live(lines: readonly string[]) {
      erase()
      statusLines = lines.slice(0, maxLines)
      paint()
    },
  }
}
