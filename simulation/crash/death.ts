/** Counts crossings of named points; at the n-th the process kills or freezes itself. @module */
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

/** The end of a process. */
export interface Death {
  readonly point: Point
  /** At which crossing, from 1. */
  readonly nth: number
  /** Crossings count from so many milliseconds after the start. */
  readonly afterMs: number
  /** `SIGSTOP` freezes it until another process thaws it. */
  readonly signal: 'SIGKILL' | 'SIGSTOP'
}

/** Writes a line to the parent before it returns. */
export function writeLine(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

/** Where a process crosses points. */
export interface Crossing {
  /** At the crossing of its death the process gets its signal, before this returns. */
  cross(point: Point): void
  /** Makes the next crossing of any point the last: the planned point may never come. */
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
