/** Starts the bench's processes and calls them. @module */
import { type ChildProcess, fork } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

/** The calls that a process answers, by name. */
export type Answers = Readonly<Record<string, (input: never) => unknown>>

/** A running process; its calls take one value and return one. */
export interface Worker<Known extends Answers> {
  ask<Name extends keyof Known & string>(
    name: Name,
    ...input: Parameters<Known[Name]>
  ): Promise<Awaited<ReturnType<Known[Name]>>>
  stop(): Promise<void>
}

/** A call or an answer, with the same number. */
interface Message {
  readonly id: number
  readonly name?: string
  readonly value?: unknown
  readonly error?: string
}

/** Starts a bundle as a separate process. */
export function startWorker<Known extends Answers>(path: string, ...args: string[]): Worker<Known> {
  const child: ChildProcess = fork(path, args, {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let lastId = 0
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code) => {
      for (const { reject } of waiting.values()) reject(new Error(`${path} ended with code ${code}.`))
      resolve()
    })
  })
  child.on('message', ({ id, value, error }: Message) => {
    const asker = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asker?.resolve(value)
    else asker?.reject(new Error(`${path}: ${error}`))
  })
  return {
    ask(name, ...[value]) {
      lastId += 1
      const id = lastId
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
        child.send({ id, name, value } satisfies Message, (error) => {
          if (error !== null) reject(error)
        })
      })
    },
    async stop() {
      if (child.exitCode === null) child.disconnect()
      await ended
    },
  }
}

/** Answers the parent's calls until the parent exits; then calls `stop` and exits. */
export function answer<Known extends Answers>(known: Known, stop: () => Promise<unknown> = async () => {}): void {
  process.on('message', ({ id, name = '', value }: Message) => {
    const respond = known[name] as ((input: unknown) => unknown) | undefined
    Promise.resolve()
      .then(() => respond?.(value))
      .then(
        (result) => process.send?.({ id, value: result } satisfies Message),
        (error: unknown) =>
          process.send?.({
            id,
            error: error instanceof Error ? (error.stack ?? error.message) : String(error),
          } satisfies Message),
      )
  })
  process.once('disconnect', () => void stop().finally(() => process.exit(0)))
}

/** This machine's monotonic clock, which all processes share, in microseconds. */
export function steadyUs(): number {
  return Number(process.hrtime.bigint() / 1_000n)
}

/** Measures work: time in seconds, and CPU time of this process in microseconds. */
export async function timed(work: () => Promise<unknown>): Promise<{ seconds: number; cpuUs: number }> {
  const cpu = process.cpuUsage()
  const begun = performance.now()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { seconds: (performance.now() - begun) / 1_000, cpuUs: user + system }
}

/** The same; with `BENCH_PROFILE` set, also writes a profile of the work to the current folder. */
export async function timedWithProfile(
  name: string,
  work: () => Promise<unknown>,
): Promise<{ seconds: number; cpuUs: number }> {
  if (!process.env['BENCH_PROFILE']) return timed(work)
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.post('Profiler.start')
  const taken = await timed(work)
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  writeFileSync(`${name}-${Date.now()}.cpuprofile`, JSON.stringify(profile))
  return taken
}
