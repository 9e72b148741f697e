/** Plans when the processes of a seed are killed or frozen. @module */
import { drawsOf } from '../random.js'
import { type Death, type Point, points } from './death.js'
import type { ScriptSize } from './script.js'

/** The planned death of one process. */
export interface PlannedDeath {
  readonly death: Death
  /** Milliseconds until a process that has not reached its point is killed at the next point of any kind. */
  readonly patienceMs: number
}

/** A plan. */
export interface CrashPlan {
  readonly seed: number
  readonly engine: 'sqlite' | 'postgres'
  readonly size: ScriptSize
  /** The processes, which run side by side. Each is started again after each of its deaths. */
  readonly processes: readonly {
    readonly roles: readonly ('server' | 'dispatcher')[]
    readonly deaths: readonly PlannedDeath[]
  }[]
}

/** Number of planned deaths in a seed. */
export const deathsPerSeed = 10

/** Highest crossing at which a process dies, for points that are crossed often. */
const mostCrossings: Partial<Record<Point, number>> = {
  statement: 60,
  'after claim': 3,
  'before settle': 3,
  'after settle': 3,
}
const usualCrossings = 6

/** Longest time before a process's crossings count, in milliseconds. */
const mostMsBefore = 500

/**
 * Draws the plan of a seed. Every third seed has a separate dispatcher process; every fifth runs on PostgreSQL, if
 * available.
 */
export function planOf(seed: number, hasPostgres: boolean): CrashPlan {
  const draws = drawsOf(seed).fork('plan')
  const plannedDeath = (names: readonly Point[], mayFreeze: boolean): PlannedDeath => {
    const point = draws.pick(names)
    const nth = draws.whole(1, mostCrossings[point] ?? usualCrossings)
    const signal = mayFreeze && draws.chance(0.35) ? 'SIGSTOP' : 'SIGKILL'
    const afterMs = draws.chance(0.3) ? 0 : draws.whole(1, mostMsBefore)
    return { death: { point, nth, signal, afterMs }, patienceMs: afterMs + draws.whole(400, 900) }
  }
  const deaths = (count: number, names: readonly Point[], mayFreeze: boolean) =>
    Array.from({ length: count }, () => plannedDeath(names, mayFreeze))
  const apart = seed % 3 === 0
  const engine = hasPostgres && seed % 5 === 0 ? 'postgres' : 'sqlite'
  // A commit to SQLite is one call, so it is never in flight.
  const all = points.filter((point) => engine === 'postgres' || point !== 'commit sent')
  const ofServer = all.filter((point) => !/claim|post|settle/.test(point))
  const ofDispatcher = all.filter((point) => point !== 'update applied')
  return {
    seed,
    engine,
    size: { blocks: 6 * deathsPerSeed, mostPerBlock: 3 },
    processes: apart
      ? [
          { roles: ['server'], deaths: deaths(deathsPerSeed / 2, ofServer, false) },
          { roles: ['dispatcher'], deaths: deaths(deathsPerSeed / 2, ofDispatcher, true) },
        ]
      : [{ roles: ['server', 'dispatcher'], deaths: deaths(deathsPerSeed, all, false) }],
  }
}
