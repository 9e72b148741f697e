/** Starts and kills processes of the service. @module */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { ProcessConfig } from './process-config.js'

/** A running process. */
export interface ServiceChild {
  /** Kills it without any notice, as the kernel does. */
  kill(): Promise<void>
  /** Requests its exit, and resolves its exit code. */
  stop(): Promise<number | null>
  /** The last message of a failed chain, from an event or the log, or an empty text. */
  failure(): string
  /** Number of reorganisations it followed. */
  reorganisations(): number
  /** Status of its chain, as text. */
  status(): Promise<string>
  /** Its standard error. */
  complaints(): string
}

/** Longest requested exit of a process, in milliseconds. */
const stopTimeoutMs = 10_000

/** Longest wait for a process's status, in milliseconds. */
const statusTimeoutMs = 2_000

/** Starts a process. @param path - The bundle. */
export function startChild(path: string, config: ProcessConfig): ServiceChild {
  const child: ChildProcess = spawn(process.execPath, [path, JSON.stringify(config)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] },
  })
  let failure = ''
  let reorganisations = 0
  let complaints = ''
  let tellStatus: (line: string) => void = () => undefined
  if (child.stdout !== null)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as { readonly type: string; readonly message?: unknown }
      if (event.type === 'status') tellStatus(line)
      else if (event.type === 'chain.reorganised') reorganisations += 1
      else failure = String(event.message ?? '')
    })
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = `${complaints}${chunk.toString('utf8')}`.slice(-2_000)
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  return {
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      const code = await ended
      clearTimeout(force)
      return code
    },
    failure: () => failure,
    reorganisations: () => reorganisations,
    status() {
      child.kill('SIGUSR2')
      return new Promise((resolve) => {
        tellStatus = resolve
        setTimeout(() => resolve('The process does not report its status.'), statusTimeoutMs)
      })
    },
    complaints: () => complaints,
  }
}
