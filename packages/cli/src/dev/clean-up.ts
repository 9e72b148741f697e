/** Removes a demo run's folder and stops its parts, newest first. @module */
import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Io } from '../io.js'

/** Things to end. */
export interface Closers {
  /** Adds one and returns the thing that it belongs to. */
  add<T>(thing: T, close: (thing: T) => unknown): T
  /** Ends all of them, newest first, also when some fail. Rejects with the first failure. Further calls share the result. */
  close(): Promise<void>
}

/** An empty list. */
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
    add(thing, close) {
      pending.push(() => close(thing))
      return thing
    },
    close: () => {
      closing ??= closeAll()
      return closing
    },
  }
}

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
