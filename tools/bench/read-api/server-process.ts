/** Runs a server as a separate process, to measure its CPU and memory alone. @module */
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answer, Question } from './child.js'
import { masterKey } from './dataset.js'

/** A running server. */
export interface ServerProcess {
  readonly url: string
  /** CPU time since its start, in microseconds. */
  cpuUs(): Promise<number>
  /** Its heap after a collection, in bytes. */
  heapBytes(): Promise<number>
  stop(): Promise<void>
}

/** Starts `ours` or `floor` on a database. @param variables - Additional environment variables. */
export async function startServerProcess(
  name: 'ours' | 'floor',
  databaseUrl: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const child = fork(fileURLToPath(new URL(`./${name}.ts`, import.meta.url)), {
    execArgv: [...process.execArgv, '--expose-gc'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...process.env,
      PI_DATABASE_URL: databaseUrl,
      PI_MASTER_KEY: masterKey,
      PI_PORT: '0',
      PI_LOG_LEVEL: 'error',
      NODE_ENV: 'production',
      ...variables,
    },
  })
  const first = await answer(child)
  if (!('url' in first)) throw new Error(`The ${name} server did not say where it listens.`)
  return {
    url: first.url,
    async cpuUs() {
      ask(child, 'cpu')
      const reply = await answer(child)
      if (!('cpuUs' in reply)) throw new Error(`The ${name} server answered something else than its CPU time.`)
      return reply.cpuUs
    },
    async heapBytes() {
      ask(child, 'heap')
      const reply = await answer(child)
      if (!('heapBytes' in reply)) throw new Error(`The ${name} server answered something else than its heap.`)
      return reply.heapBytes
    },
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      ask(child, 'stop')
      await exited
    },
  }
}

function ask(child: ChildProcess, question: Question): void {
  child.send(question)
}

function answer(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`A server process ended with code ${code}.`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message as Answer)
    })
  })
}
