/** The folder that holds a demo run's files. @module */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from '../io.js'

/** A folder of this run's own. */
export interface DemoFolder {
  readonly path: string
  /** Removes it with everything inside, unless it is to be kept. */
  close(): Promise<void>
}

/** Makes an empty folder that only this user can enter. It goes when the run ends, by whatever way, unless `keep` is set. */
export async function createDemoFolder(io: Pick<Io, 'temporaryFolder' | 'onExit'>, keep: boolean): Promise<DemoFolder> {
  const path = await mkdtemp(join(io.temporaryFolder, 'payment-integration-'))
  if (keep) return { path, close: async () => {} }
  const forget = io.onExit(() => rmSync(path, { recursive: true, force: true }))
  return {
    path,
    async close() {
      await rm(path, { recursive: true, force: true, maxRetries: 3 })
      forget()
    },
  }
}
