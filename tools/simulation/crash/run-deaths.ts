/** Plans when the processes of a seed are killed or frozen, and runs them. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { createDraws } from '../random.js'
import type { CrashChild } from './child.js'
import type { SeedDatabase } from './database.js'
import { type Death, type Point, points } from './probes.js'
import type { CrashConfig } from './process-config.js'
import { type CrashReport, type CrashRun, recordUnexpectedExit, runSeed } from './run-seed.js'
import type { ScriptSize } from './script.js'

/** The planned death of one process. */
export interface PlannedDeath {
  readonly death: Death
  /** Milliseconds until a process that has not reached its point is killed at the next point of any kind. */
  readonly patienceMs: number
}

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
const maxCrossings: Partial<Record<Point, number>> = {
  statement: 60,
  'after claim': 3,
  'before settle': 3,
  'after settle': 3,
}
const usualCrossings = 6

/** Longest time before a process's crossings count, in milliseconds. */
const maxMsBefore = 500

/**
 * Draws the plan of a seed. Every third seed has a separate dispatcher process; every fifth runs on PostgreSQL, if
 * available.
 */
export function drawPlan(seed: number, hasPostgres: boolean): CrashPlan {
  const draws = createDraws(seed).fork('plan')
  const drawDeath = (names: readonly Point[], mayFreeze: boolean): PlannedDeath => {
    const point = draws.pick(names)
    const nth = draws.whole(1, maxCrossings[point] ?? usualCrossings)
    const signal = mayFreeze && draws.chance(0.35) ? 'SIGSTOP' : 'SIGKILL'
    const afterMs = draws.chance(0.3) ? 0 : draws.whole(1, maxMsBefore)
    return { death: { point, nth, signal, afterMs }, patienceMs: afterMs + draws.whole(400, 900) }
  }
  const drawDeaths = (count: number, names: readonly Point[], mayFreeze: boolean) =>
    Array.from({ length: count }, () => drawDeath(names, mayFreeze))
  const isSplit = seed % 3 === 0
  const engine = hasPostgres && seed % 5 === 0 ? 'postgres' : 'sqlite'
  // A commit to SQLite is one call, so it is never in flight. Nothing is in flight at a read of the head: there a
  // process dies only when it has not reached its planned point in time.
  const unplanned: readonly Point[] = engine === 'postgres' ? ['head read'] : ['head read', 'commit sent']
  const allPoints = points.filter((point) => !unplanned.includes(point))
  const serverPoints = allPoints.filter((point) => !/claim|post|settle/.test(point))
  const dispatcherPoints = allPoints.filter((point) => point !== 'update applied')
  return {
    seed,
    engine,
    size: { blocks: 6 * deathsPerSeed, maxPerBlock: 3 },
    processes: isSplit
      ? [
          { roles: ['server'], deaths: drawDeaths(deathsPerSeed / 2, serverPoints, false) },
          { roles: ['dispatcher'], deaths: drawDeaths(deathsPerSeed / 2, dispatcherPoints, true) },
        ]
      : [{ roles: ['server', 'dispatcher'], deaths: drawDeaths(deathsPerSeed, allPoints, false) }],
  }
}

/** How long a process stays frozen, in milliseconds: longer than its lease. */
const frozenMs = 650
/** Time for a process to reach any next point after its plan timed out, in milliseconds. Then its parent kills it. */
const hurryMs = 120_000
/** Time from a start to `ready` on a quiet machine, in milliseconds. A slower process has up to four times as long. */
const usualStartMs = 400
/** How long a process runs after it was thawed, in milliseconds. */
const thawedMs = 150

/** Runs a seed whose processes die by its plan. */
export function runCrashSeed(plan: CrashPlan, seedDatabase: SeedDatabase, bundle: string): Promise<CrashReport> {
  return runSeed(plan, seedDatabase, bundle, async (run) => {
    await Promise.all(plan.processes.map(({ roles, deaths }) => runDeaths(run, roles, deaths)))
  })
}

/** Starts one process after the other, each with its planned death. A thawed one runs on for `thawedMs`. */
async function runDeaths(run: CrashRun, roles: CrashConfig['roles'], deaths: readonly PlannedDeath[]): Promise<void> {
  const frozen: Promise<void>[] = []
  for (const [index, planned] of deaths.entries()) {
    const getHorizon = (nth: number) => run.horizon(nth / (deaths.length + 1))
    const limits = { horizon: getHorizon(index + 1), minedBlocks: getHorizon(index).blocks }
    const { child, outcome } = startUntilDeath(run, roles, planned, limits)
    if ((await outcome) !== 'frozen') continue
    run.freezes += 1
    frozen.push(thaw(run, child))
  }
  await Promise.all(frozen)
}

function startUntilDeath(
  run: CrashRun,
  roles: CrashConfig['roles'],
  planned: PlannedDeath,
  limits: Pick<CrashConfig, 'horizon' | 'minedBlocks'>,
) {
  let point: Point | 'outside' = 'outside'
  let isFrozen = false
  let onFrozen: (how: 'frozen') => void = () => undefined
  let patience: NodeJS.Timeout | undefined
  const froze = new Promise<'frozen'>((resolve) => {
    onFrozen = resolve
  })
  const startedAt = performance.now()
  const child = run.start({ ...limits, roles, death: planned.death }, (line) => {
    if (line.type === 'ready')
      patience = setTimeout(
        hurry,
        planned.patienceMs * Math.min(4, Math.max(1, (performance.now() - startedAt) / usualStartMs)),
      )
    if (line.type === 'dying') point = line.point
    if (line.type !== 'frozen') return
    clearTimeout(patience)
    isFrozen = true
    onFrozen('frozen')
  })
  function hurry(): void {
    child.signal('SIGUSR2')
    patience = setTimeout(() => child.signal('SIGKILL'), hurryMs)
  }
  const died = child.ended.then((ended) => {
    clearTimeout(patience)
    // The exit of a frozen process is recorded when it is thawed.
    if (isFrozen) return 'died' as const
    if (ended.signal === 'SIGKILL') countKill(run, point)
    else recordUnexpectedExit(run, ended, 'a kill was planned')
    return 'died' as const
  })
  return { child, outcome: Promise.race([froze, died]) }
}

async function thaw(run: CrashRun, child: CrashChild): Promise<void> {
  await wait(frozenMs)
  child.signal('SIGCONT')
  await wait(thawedMs)
  child.signal('SIGKILL')
  const ended = await child.ended
  if (ended.signal === 'SIGKILL') countKill(run, 'outside')
  else recordUnexpectedExit(run, ended, 'it had been thawed and was to be killed')
}

function countKill({ kills }: CrashRun, point: Point | 'outside'): void {
  kills.set(point, (kills.get(point) ?? 0) + 1)
}
