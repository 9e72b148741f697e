/** Stops the parts of a demo run and removes its folder. @module */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from '../io.js'

/** Parts to close at the end. */
export interface Closers {
  /** Adds a part with its close function, and returns the part. */
  add<T>(part: T, close: (part: T) => unknown): T
  /** Closes all, newest first, also after a failure. Rejects with the first failure. Later calls share the result. */
  close(): Promise<void>
}

/** Creates an empty list. */
export function createClosers(): Closers {
  const pending: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  async function closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (let close = pending.pop(); close; close = pending.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
  return {
    add(part, close) {
      pending.push(() => close(part))
      return part
    },
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}

/** The folder of a run. */
export interface DemoFolder {
  readonly path: string
  /** Removes it with its files, unless `keep` is set. */
  close(): Promise<void>
}

/** Creates a folder that only this user can enter. It is removed whenever the process ends, unless `keep` is set. */
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
