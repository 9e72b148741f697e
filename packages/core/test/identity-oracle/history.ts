/** Makes histories from seeds: random moves, then faults heal and everything ends. @module */
import { chooseCall, type Plan, plan } from './choose-call.js'
import { type Dice, dice as diceOf } from './dice.js'
import { type Judge, judge as judgeOf } from './judge/judge.js'
import type { SystemUnderTest } from './system-under-test.js'
import { type World, world as worldOf } from './world.js'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** When the poller runs after faults healed. */
const polls = [6_000, 2 * minute + 1, 11 * minute, 61 * minute, 61 * minute, day + minute, day + minute]
const maxSteps = 2_000

/** A history that broke a promise. */
export interface Finding {
  readonly seed: number
  readonly reason: string
  readonly lines: readonly string[]
}

export type Build = () => SystemUnderTest | Promise<SystemUnderTest>

/** Runs the history of a seed on a new system. @returns null when every promise was kept. */
export async function runHistory(seed: number, build: Build): Promise<Finding | null> {
  const dice = diceOf(`history ${seed}`)
  const chosen = plan(dice)
  const system = await build()
  const world = worldOf({ seed: `${seed}`, system, dice, findsByName: chosen.findsByName })
  const judge = judgeOf(world.provider)
  const history = { world, judge, dice, plan: chosen }
  try {
    for (let started = 0; started < chosen.processes; started += 1) await world.startProcess()
    world.provider.faultRate = chosen.faultRate
    world.provider.greenRate = chosen.greenRate
    for (let move = 0; move < chosen.moves; move += 1) await makeMove(history)
    await heal(history)
    judge.healed(await world.view())
    return null
  } catch (error) {
    const reason = error instanceof Error && error.name === 'Broken' ? error.message : `${(error as Error).stack}`
    return { seed, reason, lines: [...world.lines] }
  } finally {
    await system.close()
  }
}

interface History {
  readonly world: World
  readonly judge: Judge
  readonly dice: Dice
  readonly plan: Plan
}

const judgeStep = async ({ world, judge }: History) => judge.step(await world.view(), world.clock.now())
const running = ({ world }: History) => world.operations.filter(({ state }) => state === 'running').length

async function makeMove(history: History): Promise<void> {
  const { world, judge, dice, plan } = history
  const steps = world.steps()
  const processes = world.processes()
  const awake = processes.filter(({ frozen }) => !frozen)
  const frozen = processes.filter((process) => process.frozen)
  // A verdict that comes while a poll waits for an older one is the case that gets lost most easily.
  const isAsked = world.provider.calls.slice(-4).some(({ kind, answer }) => kind === 'review' && answer === null)
  const mayBegin = running(history) < plan.operationsAtOnce && awake.length > 0
  const move = dice.weighted({
    begin: mayBegin ? 30 : 0,
    step: steps.length > 0 ? (mayBegin ? 30 : 120) : 0,
    wait: 4,
    outlast: 1.5,
    aDay: 0.4,
    kill: processes.length > 0 ? 0.8 : 0,
    freeze: awake.length > 0 ? 1.5 : 0,
    thaw: frozen.length > 0 ? 5 : 0,
    decide: world.provider.applicants.size > 0 ? (isAsked ? 25 : 7) : 0,
    forget: judge.view.subjects.some(({ applicantId }) => applicantId !== null) ? 0.5 : 0,
  })
  if (move === 'begin') await begin(history, dice.pick(awake).number)
  else if (move === 'step') await runSome(history, steps.length)
  else if (move === 'wait') await world.jump(1 + dice.below(20_000))
  else if (move === 'outlast') await world.jump(121_000 + dice.below(900_000))
  else if (move === 'aDay') await world.jump(day + dice.below(minute))
  else if (move === 'kill') {
    await world.kill(dice.pick(processes).number)
    await judgeStep(history)
    await world.startProcess()
  } else if (move === 'freeze') world.freeze(dice.pick(awake).number, true)
  else if (move === 'thaw') world.freeze(dice.pick(frozen).number, false)
  else if (move === 'decide') await decide(history, isAsked)
  else forget(history)
  await judgeStep(history)
}

async function begin({ world, judge, dice, plan }: History, process: number): Promise<void> {
  const call = chooseCall(world, judge, dice, plan)
  if (call !== null) judge.called(await world.begin(process, call))
}

/** One step, or so many that operations often end within a short history. */
async function runSome(history: History, most: number): Promise<void> {
  const { world, dice } = history
  const count = dice.chance(0.5) ? 1 : 1 + dice.below(12 + most)
  for (let done = 0; done < count; done += 1) {
    const steps = world.steps()
    if (steps.length === 0) return
    await world.run(dice.pick(steps))
    await judgeStep(history)
  }
}

async function decide(history: History, isAsked: boolean): Promise<void> {
  const { world, judge, dice } = history
  const applicant = dice.pick([...world.provider.applicants.values()])
  const aheadMs = dice.weighted({ none: 8, some: 1, much: 1 })
  const review = world.provider.decide(applicant, { none: 0, some: 4 * minute, much: 15 * minute }[aheadMs])
  world.log(`the provider decides on ${applicant.applicantId}: ${JSON.stringify(review)}`)
  const event = world.provider.events.at(-1)
  const awake = world.processes().filter(({ frozen }) => !frozen)
  if (event === undefined || awake.length === 0 || !dice.chance(isAsked ? 0.8 : 0.2)) return
  judge.called(await world.begin(dice.pick(awake).number, { kind: 'webhook', event }))
}

function forget({ world, judge, dice }: History): void {
  const known = dice.pick(judge.view.subjects.flatMap(({ applicantId }) => applicantId ?? []))
  const applicant = [...world.provider.applicants.values()].find(({ applicantId }) => applicantId === known)
  if (applicant === undefined) return
  applicant.deleted = true
  world.log(`the provider deletes ${applicant.applicantId}`)
}

async function heal(history: History): Promise<void> {
  const { world } = history
  world.provider.faultRate = 0
  world.log('everything heals')
  for (const { number, frozen } of world.processes()) if (frozen) world.freeze(number, false)
  await finishAll(history)
  await world.jump(16 * minute)
  for (const event of world.provider.events) await perform(history, { kind: 'webhook', event })
  for (const ms of polls) {
    await world.jump(ms)
    await judgeStep(history)
    await perform(history, { kind: 'poll' })
  }
  for (const { externalUserId, state } of (await world.view()).redemptions) {
    if (state === 'attached' || state === 'absent' || state === 'surplus') continue
    if (world.provider.findsByName) continue
    const applicantId = world.provider.applicants.get(externalUserId)?.applicantId ?? null
    await perform(history, { kind: 'operator', externalUserId, applicantId })
  }
  await world.jump(11 * minute)
  await perform(history, { kind: 'poll' })
}

async function perform(history: History, call: Parameters<World['begin']>[1]): Promise<void> {
  const { world, judge, dice } = history
  judge.called(await world.begin(dice.pick(world.processes()).number, call))
  await judgeStep(history)
  await finishAll(history)
}

async function finishAll(history: History): Promise<void> {
  const { world, dice } = history
  for (let step = 0; step < maxSteps; step += 1) {
    const steps = world.steps()
    if (steps.length === 0 && running(history) === 0) return
    if (steps.length === 0) await world.jump(minute)
    else await world.run(dice.pick(steps))
    await judgeStep(history)
  }
}

/** The seeds from 1 to `count`; the environment may ask for one, `IDENTITY_SEED`, or so many, `IDENTITY_SEEDS`. */
export function seedsAsked(count: number): number[] {
  const { IDENTITY_SEED: one, IDENTITY_SEEDS: many } = process.env
  if (one !== undefined) return [Number(one)]
  return Array.from({ length: Number(many ?? count) }, (_, index) => index + 1)
}

/** Runs the histories of the seeds, one after the other, each on a new system, until one breaks a promise. */
export async function firstFinding(seeds: Iterable<number>, build: Build): Promise<Finding | null> {
  for (const seed of seeds) {
    const finding = await runHistory(seed, build)
    if (finding !== null) return finding
  }
  return null
}

/** The finding as lines for a person; the last line of the history is the step at which it shows. */
export function report({ seed, reason, lines }: Finding): string {
  return [`IDENTITY_SEED=${seed} breaks a promise:`, reason, 'The history:', ...lines].join('\n')
}
