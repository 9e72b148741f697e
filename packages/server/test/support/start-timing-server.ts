/** Starts the app whose answers are timed. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The master key of the database. */
export const timingMasterKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'

/** Starts it as a separate process. @param now - The fixed time of its clock, in unix milliseconds. */
export async function startTimingServer(path: string, now: number): Promise<{ url: string; stop(): Promise<void> }> {
  const execArgv = ['--conditions=@payment-integration/source', '--import', 'tsx']
  const child = fork(fileURLToPath(new URL('./timing-server.ts', import.meta.url)), [path, String(now)], { execArgv })
  const ended = once(child, 'exit')
  const gone = ended.then(([code]) => {
    throw new Error(`The timed server ended with code ${code}.`)
  })
  gone.catch(() => undefined)
  const [url] = (await Promise.race([once(child, 'message'), gone])) as [string]
  return {
    url,
    async stop() {
      child.disconnect()
      await ended
    },
  }
}
