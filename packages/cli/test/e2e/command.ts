import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A run of the command, with its `--json` lines as they come. */
export interface Command {
  readonly child: ChildProcess
  /** The first line with this event, past or future. Rejects when the command ends without it. */
  line(event: string): Promise<Record<string, unknown>>
  /** Everything printed on standard error so far. */
  errors(): string
  /** Ends it and resolves its exit code, or null when a signal ended it. */
  kill(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts `node <bin> <args>` with exactly this environment besides the PATH. */
export function startCommand(bin: string, args: readonly string[], env: Record<string, string>): Command {
  const child = spawn(process.execPath, [bin, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: Record<string, unknown>[] = []
  const waiting = new Set<() => void>()
  let errors = ''
  let ended = false
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  createInterface({ input: child.stdout }).on('line', (text) => {
    lines.push(JSON.parse(text) as Record<string, unknown>)
    for (const look of waiting) look()
  })
  child.once('close', () => {
    ended = true
    for (const look of waiting) look()
  })
  return {
    child,
    errors: () => errors,
    line: (event) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = lines.find((line) => line['event'] === event)
          if (found === undefined && !ended) return
          waiting.delete(look)
          if (found === undefined) reject(new Error(`The command ended before "${event}": ${errors}`))
          else resolve(found)
        }
        waiting.add(look)
        look()
      }),
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        const closed = once(child, 'close')
        child.kill(signal)
        await closed
      }
      return child.exitCode
    },
  }
}

/** Runs the command to its end; resolves its `--json` lines. */
export async function runCommand(bin: string, args: readonly string[], env: Record<string, string>) {
  const command = startCommand(bin, args, env)
  const lines: Record<string, unknown>[] = []
  if (command.child.stdout === null) throw new Error('no output')
  createInterface({ input: command.child.stdout }).on('line', (text) => lines.push(JSON.parse(text)))
  await once(command.child, 'close')
  return { code: command.child.exitCode, lines, errors: command.errors() }
}
