/** Runs processes that are killed or frozen by a plan, and restarts them. @module */
import { setTimeout as wait } from 'node:timers/promises'
import type { CrashChild } from './child.js'
import type { CrashGround } from './database.js'
import type { Point } from './death.js'
import type { CrashPlan, PlannedDeath } from './plan.js'
import type { CrashConfig } from './process-config.js'
import { type CrashReport, type CrashRun, recordUnexpectedExit, runSeed } from './run-seed.js'

/** How long a process stays frozen, in milliseconds: longer than its lease. */
const frozenMs = 650
/** Time for a process to reach any next point after its plan timed out, in milliseconds. */
const hurryMs = 2_000
/** How long a process runs after it was thawed, in milliseconds. */
const thawedMs = 150

/** Runs a seed whose processes die by its plan. */
export function runCrashSeed(plan: CrashPlan, ground: CrashGround, bundle: string): Promise<CrashReport> {
  return runSeed(plan, ground, bundle, async (run) => {
    await Promise.all(plan.processes.map(({ roles, deaths }) => runDeaths(run, roles, deaths)))
  })
}

/** Starts one process after the other, each with its planned death. A thawed one runs for a moment beside the next. */
async function runDeaths(run: CrashRun, roles: CrashConfig['roles'], deaths: readonly PlannedDeath[]): Promise<void> {
  const frozen: Promise<void>[] = []
  for (const [index, planned] of deaths.entries()) {
    const share = (nth: number) => run.horizon(nth / (deaths.length + 1))
    const child = startUntilDeath(run, roles, planned, { horizon: share(index + 1), minedBlocks: share(index).blocks })
    const end = await child.over
    if (end !== 'frozen') continue
    run.freezes += 1
    frozen.push(thaw(run, child.child))
  }
  await Promise.all(frozen)
}

function startUntilDeath(
  run: CrashRun,
  roles: CrashConfig['roles'],
  planned: PlannedDeath,
  reach: Pick<CrashConfig, 'horizon' | 'minedBlocks'>,
) {
  let point: Point | 'outside' = 'outside'
  let isFrozen = false
  let onFrozen: (how: 'frozen') => void = () => undefined
  let patience: NodeJS.Timeout | undefined
  const froze = new Promise<'frozen'>((resolve) => {
    onFrozen = resolve
  })
  const child = run.start({ ...reach, roles, death: planned.death }, (line) => {
    if (line.type === 'ready') patience = setTimeout(hurry, planned.patienceMs)
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
  return { child, over: Promise.race([froze, died]) }
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
