/** Starts service processes, reads their reports, and ends them. @module */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { CrashConfig, CrashLine, Horizon } from './process-config.js'

/** How a process ended. */
export interface ChildExit {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  /** Its standard error. */
  readonly complaints: string
}

/** A running process. */
export interface CrashChild {
  readonly ended: Promise<ChildExit>
  /** Allows more of the script. */
  raise(horizon: Horizon): void
  signal(name: 'SIGKILL' | 'SIGCONT' | 'SIGTERM' | 'SIGUSR2'): void
}

/** Starts a process. @param path - The bundle. */
export function startCrashChild(path: string, config: CrashConfig, onLine: (line: CrashLine) => void): CrashChild {
  const child = spawn(process.execPath, [path, JSON.stringify(config)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] },
  })
  let complaints = ''
  createInterface({ input: child.stdout }).on('line', (line) => onLine(JSON.parse(line) as CrashLine))
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = `${complaints}${chunk.toString('utf8')}`.slice(-2_000)
  })
  // It may exit before it reads.
  child.stdin.on('error', () => undefined)
  return {
    // `close` comes after the last line was read.
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, complaints }))),
    raise: (horizon) => void child.stdin.write(`${JSON.stringify(horizon)}\n`),
    signal: (name) => void child.kill(name),
  }
}
