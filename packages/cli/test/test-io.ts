/** An Io for tests: real time and randomness, captured output, and a signal. */
import { Readable } from 'node:stream'
import type { Io } from '../src/io.js'
import { createIoBasics, type IoBasics } from '../src/process.js'

export interface TestIo extends Io, Pick<IoBasics, 'cleanUps'> {
  readonly lines: string[]
  readonly errors: string[]
  /** Interrupts the command, as Ctrl-C does. */
  interrupt(): void
  /** Resolves the first past or future line of output that `wanted` accepts. */
  line(wanted: (line: string) => boolean): Promise<string>
}

export function testIo(changes: Partial<Io> = {}): TestIo {
  const stop = new AbortController()
  const lines: string[] = []
  const errors: string[] = []
  const watchers = new Set<(line: string) => void>()
  return {
    ...createIoBasics(),
    env: {},
    input: () => Readable.from([]),
    out(line) {
      lines.push(line)
      for (const watcher of watchers) watcher(line)
    },
    err: (line) => void errors.push(line),
    color: false,
    signal: stop.signal,
    lines,
    errors,
    interrupt: () => stop.abort(),
    line(wanted) {
      const match = lines.find(wanted)
      if (match !== undefined) return Promise.resolve(match)
      return new Promise((resolve) => {
        const watcher = (line: string) => {
          if (!wanted(line)) return
          watchers.delete(watcher)
          resolve(line)
        }
        watchers.add(watcher)
      })
    },
    ...changes,
  }
}

/** The events of a run with `--json`; fails on a line that is not one JSON object. */
export function getEvents(io: Pick<TestIo, 'lines'>): Record<string, unknown>[] {
  return io.lines.map((line) => {
    const event: unknown = JSON.parse(line)
    if (typeof event !== 'object' || event === null || !('event' in event)) throw new Error(`not an event: ${line}`)
    return event as Record<string, unknown>
  })
}
