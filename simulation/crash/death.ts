/**
 * Where a process dies: crossings of named points are counted, and at the n-th of one the process ends or stops itself.
 * @module
 */
import { writeSync } from 'node:fs'

/** Points that a process of the service crosses; the driver's are those of SQLite or PostgreSQL itself. */
export const points = [
  'transaction begun',
  'statement',
  'before commit',
  'commit sent',
  'after commit',
  'before claim',
  'after claim',
  'before post',
  'post under way',
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
  /** Crossings count from so many milliseconds after the start on: until then it works undisturbed. */
  readonly afterMs: number
  /** `SIGSTOP` freezes it; somebody else lets it go on. */
  readonly signal: 'SIGKILL' | 'SIGSTOP'
}

/** Tells the parent something, before this returns. */
export function writeLine(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

/** Where a process crosses points. */
export interface Crossing {
  /** At the crossing of its death the process gets its signal, before this returns. */
  cross(point: Point): void
  /** Whatever the plan says, the next crossing of any point is the last: the point of the plan may never come. */
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
