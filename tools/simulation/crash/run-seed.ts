/** Runs a seed: processes die on one database, then all faults end and the result is judged. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { createService } from '@payment-integration/core'
import { createDraws, simulatedMasterKey } from '../random.js'
import { type ChildExit, type CrashChild, startCrashChild } from './child.js'
import type { SeedDatabase } from './database.js'
import { findGivenUpTooEarly, judgeCrash } from './judge.js'
import type { Point } from './probes.js'
import type { CrashConfig, CrashLine } from './process-config.js'
import { type CrashReceiver, openReceiver } from './receiver.js'
import type { CrashPlan } from './run-deaths.js'
import { type Script, writeScript } from './script.js'

/** Fast milliseconds per millisecond: a lease of 10 s lasts half a second. */
export const speed = 20
/** The lead of the last process's clock, in milliseconds: every planned retry is due by then. */
const aheadMs = 72 * 3_600_000
/** Longest time to deliver everything after all faults have ended, in milliseconds. */
const finishMs = 300_000
export interface CrashReport {
  readonly seed: number
  readonly engine: CrashPlan['engine']
  /** Empty when everything is correct. */
  readonly flaws: readonly string[]
  /** Kills by point; `outside`: the parent killed the process. */
  readonly kills: ReadonlyMap<Point | 'outside', number>
  readonly freezes: number
  /** Cuts and restarts of the database. */
  readonly outages: number
  /** Late answers of dispatchers that had lost their leases. */
  readonly lostLeases: number
  readonly payments: number
  readonly posts: number
  /** POSTs before all faults ended. */
  readonly postsDuringFaults: number
  readonly attempts: number
  /** Deliveries that were given up and replayed. */
  readonly replayed: number
  /** How often an endpoint was blocked. */
  readonly blocks: number
  readonly seconds: number
}

/** A running seed: its parts, the confirmations of its processes, and their exits. */
export interface CrashRun {
  readonly plan: Pick<CrashPlan, 'seed' | 'engine' | 'size'>
  readonly script: Script
  readonly receiver: CrashReceiver
  readonly flaws: string[]
  readonly accepted: Set<number>
  /** `<hash> <version>` of each delivery that a process confirmed. */
  readonly delivered: ReadonlySet<string>
  readonly kills: Map<Point | 'outside', number>
  freezes: number
  outages: number
  /** Starts a process; `onLine` gets its reports, besides the journal. */
  start(
    config: Pick<CrashConfig, 'roles' | 'horizon' | 'minedBlocks' | 'death' | 'isPatient'>,
    onLine?: (line: CrashLine) => void,
  ): CrashChild
  /** The first unconfirmed update. */
  firstUpdate(): number
  /** The part of the script that may run at this share of the seed. */
  horizon(share: number): CrashConfig['horizon']
}

/** Runs a seed. @param runFaults - The phase with faults: it starts processes and leaves none running. */
export async function runSeed(
  plan: CrashRun['plan'],
  seedDatabase: SeedDatabase,
  bundle: string,
  runFaults: (run: CrashRun) => Promise<void>,
): Promise<CrashReport> {
  const startedAt = performance.now()
  const script = writeScript(plan.seed, plan.size)
  const receiver = await openReceiver(createDraws(plan.seed).fork('receiver'), script.integrations)
  const time = { since: Date.now(), speed }
  const indexed = new Set<string>()
  const delivered = new Set<string>()
  const sums = { lostLeases: 0, replayed: 0, blocks: 0 }
  let onFinished: ((line: CrashLine & { readonly type: 'finished' }) => void) | undefined

  function recordLine(line: CrashLine): void {
    if (line.type === 'accepted') run.accepted.add(line.index)
    if (line.type === 'indexed') indexed.add(line.txHash)
    if (line.type === 'delivered') delivered.add(`${line.txHash} ${line.version}`)
    if (line.type === 'lease lost') sums.lostLeases += 1
    if (line.type === 'endpoint' && line.failing) sums.blocks += 1
    if (line.type === 'finished') onFinished?.(line)
  }

  function startProcess(
    config: Pick<CrashConfig, 'roles' | 'horizon' | 'minedBlocks' | 'death' | 'aheadMs' | 'mustFinish' | 'isPatient'>,
    onLine?: (line: CrashLine) => void,
  ): CrashChild {
    const { seed, size } = plan
    const fullConfig = { ...config, seed, size, database: seedDatabase.database, time, firstUpdate: run.firstUpdate() }
    return startCrashChild(bundle, fullConfig, (line) => {
      recordLine(line)
      onLine?.(line)
    })
  }

  const run: CrashRun = {
    plan,
    script,
    receiver,
    flaws: [],
    accepted: new Set(),
    delivered,
    kills: new Map(),
    freezes: 0,
    outages: 0,
    start: (config, onLine) => startProcess({ ...config, aheadMs: 0, mustFinish: false }, onLine),
    firstUpdate() {
      let index = 0
      while (run.accepted.has(index)) index += 1
      return index
    },
    horizon: (share) => ({
      blocks: Math.ceil(script.blocks.length * share),
      updates: Math.ceil(script.updates.length * share),
    }),
  }

  /** One process delivers everything, and exits on request. */
  async function finish(): Promise<void> {
    const allDelivered = new Promise<CrashLine & { readonly type: 'finished' }>((resolve) => {
      onFinished = resolve
    })
    const roles = ['server', 'dispatcher'] as const
    const horizon = run.horizon(1)
    const child = startProcess({ roles, horizon, minedBlocks: horizon.blocks, death: null, aheadMs, mustFinish: true })
    const timer = new AbortController()
    const end = await Promise.race([allDelivered, child.ended, wait(finishMs, null, { signal: timer.signal })])
    timer.abort()
    if (end === null)
      run.flaws.push(`missing: not everything is delivered ${finishMs / 1_000} s after all faults had ended`)
    else if ('type' in end) {
      sums.replayed = end.replayed
      if (end.brokenAt !== null) run.flaws.push(`wrong: the audit log is broken at record ${end.brokenAt}`)
    }
    child.signal('SIGTERM')
    const kill = setTimeout(() => child.signal('SIGKILL'), 10_000)
    recordUnexpectedExit(run, await child.ended, 'it was asked to exit')
    clearTimeout(kill)
  }

  const secrets = await register(seedDatabase, receiver, script)
  try {
    await runFaults(run)
    receiver.heal()
    const postsDuringFaults = receiver.captured.length
    const store = seedDatabase.open()
    run.flaws.push(...findGivenUpTooEarly(await store.deliveries.list({ status: 'exhausted', limit: 100_000 })))
    await finish()
    const attempts = await seedDatabase.attempts()
    const { captured } = receiver
    const kills = [...run.kills.values()].reduce((sum, count) => sum + count, 0)
    const interruptions = kills + run.freezes + run.outages + sums.lostLeases
    const journal = { accepted: run.accepted, indexed, delivered }
    run.flaws.push(...(await judgeCrash({ script, store, attempts, captured, secrets, journal, interruptions })))
    await store.close()
    return {
      seed: plan.seed,
      engine: plan.engine,
      flaws: run.flaws,
      kills: run.kills,
      freezes: run.freezes,
      outages: run.outages,
      ...sums,
      payments: script.expected.length,
      posts: captured.length,
      postsDuringFaults,
      attempts: attempts.length,
      seconds: (performance.now() - startedAt) / 1_000,
    }
  } finally {
    await receiver.close()
  }
}

/** Registers the script's integrations. Resolves their signing secrets. */
async function register(seedDatabase: SeedDatabase, { getUrl }: CrashReceiver, { integrations }: Script) {
  const store = seedDatabase.open()
  await store.migrate()
  const sender = { post: () => Promise.reject(new Error('Nothing is sent here.')) }
  const service = createService({ store, sender, masterKey: simulatedMasterKey, allowLoopbackHttp: true })
  const secrets = new Map<string, string>()
  for (const address of integrations) {
    const { signingSecret } = await service.integrations.create({ address, notificationUrl: getUrl(address) })
    secrets.set(address, signingSecret)
  }
  await store.close()
  return secrets
}

/** Records an unexpected exit of a process. */
export function recordUnexpectedExit(
  run: Pick<CrashRun, 'flaws'>,
  { code, signal, errorOutput }: ChildExit,
  expected: string,
): void {
  if (code === 0 && signal === null) return
  run.flaws.push(
    `wrong: a process ended with code ${code}, signal ${signal}, although ${expected}: ${errorOutput.slice(-600)}`,
  )
}
