/** Runs processes that die or freeze by a plan and are restarted. @module */
import { setTimeout as wait } from 'node:timers/promises'
import type { CrashChild } from './child.js'
import type { CrashGround } from './database.js'
import type { Point } from './death.js'
import type { CrashPlan, Life } from './plan.js'
import type { CrashConfig } from './process-config.js'
import { type CrashReport, type CrashRun, noteUnplanned, runSeed } from './run-seed.js'

/** How long a process stays frozen, in milliseconds: longer than its lease. */
const frozenMs = 650
/** Time for a process to reach any next point after its plan timed out, in milliseconds. */
const hurryMs = 2_000
/** How long a process runs after it was thawed, in milliseconds. */
const thawedMs = 150

/** Runs a seed whose processes die by its plan. */
export function runCrashSeed(plan: CrashPlan, ground: CrashGround, bundle: string): Promise<CrashReport> {
  return runSeed(plan, ground, bundle, async (run) => {
    await Promise.all(plan.processes.map(({ roles, lives }) => live(run, roles, lives)))
  })
}

/** Starts a process for each life in turn. A thawed one runs for a moment beside the next. */
async function live(run: CrashRun, roles: CrashConfig['roles'], lives: readonly Life[]): Promise<void> {
  const frozen: Promise<void>[] = []
  for (const [index, life] of lives.entries()) {
    const share = (nth: number) => run.horizon(nth / (lives.length + 1))
    const child = startLife(run, roles, life, { horizon: share(index + 1), minedBlocks: share(index).blocks })
    const end = await child.over
    if (end !== 'frozen') continue
    run.freezes += 1
    frozen.push(thaw(run, child.child))
  }
  await Promise.all(frozen)
}

function startLife(
  run: CrashRun,
  roles: CrashConfig['roles'],
  life: Life,
  reach: Pick<CrashConfig, 'horizon' | 'minedBlocks'>,
) {
  let point: Point | 'outside' = 'outside'
  let isFrozen = false
  let onFrozen: (how: 'frozen') => void = () => undefined
  let patience: NodeJS.Timeout | undefined
  const froze = new Promise<'frozen'>((resolve) => {
    onFrozen = resolve
  })
  const child = run.start({ ...reach, roles, death: life.death }, (line) => {
    if (line.type === 'ready') patience = setTimeout(hurry, life.patienceMs)
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
    else noteUnplanned(run, ended, 'it was to be killed')
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
  else noteUnplanned(run, ended, 'it was thawed')
}

function countKill({ kills }: CrashRun, point: Point | 'outside'): void {
  kills.set(point, (kills.get(point) ?? 0) + 1)
}
