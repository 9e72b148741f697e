/** What happens to the processes of a seed. @module */
import { drawsOf } from '../random.js'
import { type Death, type Point, points } from './death.js'
import type { ScriptSize } from './script.js'

/**
 * A process's life: when it has not died at its point after so many milliseconds, it dies at the next point of any
 * kind.
 */
export interface Life {
  readonly death: Death
  readonly patienceMs: number
}

/** A plan. */
export interface CrashPlan {
  readonly seed: number
  readonly engine: 'sqlite' | 'postgres'
  readonly size: ScriptSize
  /** One list per process that is killed and started again, side by side. */
  readonly processes: readonly {
    readonly roles: readonly ('server' | 'dispatcher')[]
    readonly lives: readonly Life[]
  }[]
}

/** Deaths of a seed. */
export const deathsPerSeed = 10

/** Up to which crossing a process may live, where so many come by in a short life. */
const mostCrossings: Partial<Record<Point, number>> = {
  statement: 60,
  'after claim': 3,
  'before settle': 3,
  'after settle': 3,
}
const usualCrossings = 6

/** The longest that a process works before its crossings count, in milliseconds. */
const mostMsBefore = 500

/**
 * Draws the plan of a seed. Every third has a dispatcher in a process of its own; every fifth is on PostgreSQL where
 * there is one.
 */
export function planOf(seed: number, hasPostgres: boolean): CrashPlan {
  const draws = drawsOf(seed).fork('plan')
  const life = (names: readonly Point[], mayFreeze: boolean): Life => {
    const point = draws.pick(names)
    const nth = draws.whole(1, mostCrossings[point] ?? usualCrossings)
    const signal = mayFreeze && draws.chance(0.35) ? 'SIGSTOP' : 'SIGKILL'
    const afterMs = draws.chance(0.3) ? 0 : draws.whole(1, mostMsBefore)
    return { death: { point, nth, signal, afterMs }, patienceMs: afterMs + draws.whole(400, 900) }
  }
  const lives = (count: number, names: readonly Point[], mayFreeze: boolean) =>
    Array.from({ length: count }, () => life(names, mayFreeze))
  const apart = seed % 3 === 0
  const engine = hasPostgres && seed % 5 === 0 ? 'postgres' : 'sqlite'
  // A commit to SQLite is one call: it is never under way.
  const all = points.filter((point) => engine === 'postgres' || point !== 'commit sent')
  const ofServer = all.filter((point) => !/claim|post|settle/.test(point))
  const ofDispatcher = all.filter((point) => point !== 'update applied')
  return {
    seed,
    engine,
    size: { blocks: 6 * deathsPerSeed, mostPerBlock: 3 },
    processes: apart
      ? [
          { roles: ['server'], lives: lives(deathsPerSeed / 2, ofServer, false) },
          { roles: ['dispatcher'], lives: lives(deathsPerSeed / 2, ofDispatcher, true) },
        ]
      : [{ roles: ['server', 'dispatcher'], lives: lives(deathsPerSeed, all, false) }],
  }
}
