/** Kills or freezes the process when it crosses a named point for the n-th time. @module */
import { writeSync } from 'node:fs'

/** Points that a service process crosses; the driver's points are inside SQLite or PostgreSQL. */
export const points = [
  'transaction begun',
  'statement',
  'before commit',
  'commit sent',
  'after commit',
  'before claim',
  'after claim',
  'before post',
  'post in flight',
  'after post',
  'before settle',
  'after settle',
  'update applied',
  'event',
] as const
export type Point = (typeof points)[number]

/** The planned kill or freeze of a process. */
export interface Death {
  readonly point: Point
  /** At which crossing, from 1. */
  readonly nth: number
  /** Crossings before this time after the start, in milliseconds, do not count. */
  readonly afterMs: number
  /** `SIGSTOP` freezes it until another process thaws it. */
  readonly signal: 'SIGKILL' | 'SIGSTOP'
}

/** Writes a line to the parent before it returns. */
export function writeLine(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

/** Records the crossings of a process. */
export interface Crossing {
  /** Records a crossing. At the planned crossing the process gets its signal before this returns. */
  cross(point: Point): void
  /** Makes the next crossing of any point the planned one, because the planned point may never come. */
  hasten(): void
}

/** Counts crossings. */
export function createCrossing(death: Death | null): Crossing {
  const startedAt = performance.now()
  let left = death?.nth ?? 0
  let isHastened = false
  return {
    cross(point) {
      if (death === null) return
      if (!isHastened) {
        if (point !== death.point || performance.now() - startedAt < death.afterMs) return
        left -= 1
        if (left !== 0) return
      }
      writeLine({ type: death.signal === 'SIGKILL' ? 'dying' : 'frozen', point })
      process.kill(process.pid, death.signal)
    },
    hasten() {
      isHastened = true
    },
  }
}
