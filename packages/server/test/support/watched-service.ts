/** A whole service whose output is recorded: log, events, answers and commands. */
import { randomBytes } from 'node:crypto'
import type { ServiceEvent } from '@payment-integration/core'
import { vi } from 'vitest'
import { runCli } from '../../../cli/src/run-cli.js'
import { testIo } from '../../../cli/test/test-io.js'
import { readConfig } from '../../src/config/read-config.js'
import { createPinoLogger } from '../../src/logging/log.js'
import { startServer } from '../../src/run/start-server.js'
import type { Canary, CanaryKind, Sink } from './canaries.js'

/** How a command is watched. */
export interface CommandWatch {
  /** Fields of its JSON that are secrets, issued by it and shown this once. */
  readonly issues?: readonly string[]
  /** Other values that it may show. */
  readonly allows?: readonly CanaryKind[]
}

/** Records all output. `env` is for server and commands. */
export function watchService(env: Record<string, string>) {
  const sinks: Sink[] = []
  const canaries: Canary[] = []
  const events: ServiceEvent[] = []
  const variables = { ...env }
  let crashes = 0

  const watched = {
    sinks,
    canaries,
    events,
    env: variables,
    /** Creates a canary, with its own text unless one is given. */
    canary(name: string, kind: CanaryKind = 'secret', value = `CANARY${randomBytes(12).toString('hex')}`): string {
      canaries.push({ name, kind, value })
      return value
    },
    say(where: string, text: string, allows?: readonly CanaryKind[]): void {
      sinks.push({ where, text, allows })
    },
    /** Runs a command of `payment-integration`. */
    async command(args: readonly string[], { issues = [], allows }: CommandWatch = {}) {
      const io = testIo({ env: variables })
      const exitCode = await runCli(args, io)
      let out = io.lines.join('\n')
      const issued: Record<string, string> = {}
      for (const field of issues) {
        const value = String((JSON.parse(io.lines[0] ?? '{}') as Record<string, unknown>)[field])
        if (out.split(value).length !== 2) throw new Error(`${field} is not printed once by ${args.join(' ')}`)
        issued[field] = watched.canary(`${field} of ${args.slice(0, 2).join(' ')}`, 'secret', value)
        out = out.replace(value, '')
      }
      watched.say(`output of ${args.join(' ')}`, out, allows)
      watched.say(`errors of ${args.join(' ')}`, io.errors.join('\n'))
      return { exitCode, out, err: io.errors.join('\n'), issued }
    },
    /** Starts the server. Its event sink throws at every tenth event, with a secret in the message. */
    async start(crashMessage: string) {
      const write = (line: string) => watched.say('log', line)
      return startServer(readConfig(variables), {
        logger: await createPinoLogger({ level: 'debug', destination: { write } }),
        onEvent(event) {
          events.push(event)
          watched.say('event', JSON.stringify(event))
          crashes += 1
          if (crashes % 10 === 1) throw new Error(crashMessage)
        },
      })
    },
    /** Sends an HTTP request and records the whole answer. */
    async ask(url: string, init: RequestInit = {}) {
      const answer = await fetch(url, init)
      const text = await answer.text()
      const where = `answer ${answer.status} of ${new URL(url).pathname}`
      watched.say(where, `${JSON.stringify([...answer.headers])}\n${text}`)
      return { status: answer.status, text }
    },
    /** Waits for so many events of a type in all. */
    async seen(type: ServiceEvent['type'], count: number): Promise<void> {
      const has = () => events.filter((event) => event.type === type).length
      await vi.waitFor(() => has() >= count || Promise.reject(new Error(`${has()} of ${count} ${type}`)), {
        timeout: 300_000,
        interval: 20,
      })
    },
  }
  return watched
}

export type WatchedService = ReturnType<typeof watchService>
