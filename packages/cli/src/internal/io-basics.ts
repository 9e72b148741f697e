/** The parts of {@link Io} that are the same for a process and for a test: real time and randomness, and a list of clean-ups. @module */
import { randomBytes } from 'node:crypto'
import { tmpdir, userInfo } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Io } from '../io.js'

/** Those parts, with the clean-ups that `onExit` keeps. */
export interface IoBasics
  extends Pick<Io, 'onExit' | 'now' | 'sleep' | 'randomBytes' | 'userName' | 'temporaryFolder'> {
  readonly cleanUps: ReadonlySet<() => void>
}

/** A list of clean-ups of its own, and the clock, randomness and temporary folder of this machine. */
export function ioBasics(): IoBasics {
  const cleanUps = new Set<() => void>()
  return {
    cleanUps,
    onExit(cleanUp) {
      cleanUps.add(cleanUp)
      return () => void cleanUps.delete(cleanUp)
    },
    now: () => Date.now(),
    sleep: (ms, signal) => delay(ms, undefined, signal ? { signal } : {}).catch(() => {}),
    randomBytes,
    userName,
    temporaryFolder: tmpdir(),
  }
}

function userName(): string | null {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that no user has.
    return null
  }
}
