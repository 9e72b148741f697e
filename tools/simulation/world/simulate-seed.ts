/** Runs one seed: faults happen, the faults stop, and the verdict compares the store with the chain. @module */
import { createEvmChain } from '@payment-integration/chain-evm'
import { UpdateConflictError } from '@payment-integration/core'
import type { Clock, Store } from '@payment-integration/core/ports'
import { custom } from 'viem'
import { createFakeChain } from '../chain/fake-chain.js'
import { fixtures } from '../chain/transaction.js'
import type { Call } from '../node/calls.js'
import { answerFrom } from '../node/fake-node.js'
import type { FaultName } from '../node/fault-names.js'
import { createDraws, type Draws } from '../random.js'
import { type ChainDriver, createChainDriver } from './chain-driver.js'
import { openNodes } from './nodes.js'
import { drawPlan, type Plan } from './plan.js'
import { repairAsAdvised, type Shared, type SimulatedProcess, startProcess } from './process.js'
import { afterPause } from './process-control.js'
import { createReceiver } from './receiver.js'
import { openStore } from './stores.js'
import { collectPayments, createLastingFactsLookup, findMalformed } from './truth.js'
import { judge, openWatch, type Verdict } from './verdict.js'
import { installVirtualNetwork } from './virtual-network.js'
import { installVirtualTime, type VirtualTime } from './virtual-time.js'

export interface SeedReport {
  readonly plan: Plan
  readonly verdict: Verdict
  /** How often each fault happened. */
  readonly faults: ReadonlyMap<FaultName, number>
  readonly forks: number
  readonly reorgs: number
  readonly kills: number
  readonly clockJumps: number
  readonly repairs: number
  readonly virtualMs: number
}

const startMs = Date.UTC(2026, 0, 1)
/** Longest catch-up once everything is healed, in milliseconds of virtual time. */
const healMs = 30 * 60_000
/** Errors of a clock, in milliseconds. The largest are longer than healing may take. */
const clockErrors = [-21_600_000, -120_000, -5_000, 0, 5_000, 120_000, 21_600_000]
/** Port of the operator's requests; those of processes are higher. */
const operatorPort = 8_000
/** Longest pause of a process, in milliseconds: several times as long as a lease. */
const longestPauseMs = 20_000

/** Runs a seed. It rejects only for a bug of the simulation itself. */
export async function simulateSeed(seed: number, store: Plan['store'] = 'quick'): Promise<SeedReport> {
  await warmUp()
  const draws = createDraws(seed)
  const { stackTraceLimit } = Error
  // Nothing reads the stacks of aborted requests, which took a tenth of the time.
  Error.stackTraceLimit = 0
  const time = installVirtualTime(startMs)
  const clocks = openClocks(time)
  const opened = await openStore(store, clocks.database)
  const world = openWorld(drawPlan(seed, draws.fork('plan'), store), draws, time, { ...opened, clocks })
  const restoreNetwork = installVirtualNetwork(world.route)
  try {
    return await world.run()
  } finally {
    restoreNetwork()
    time.uninstall()
    Error.stackTraceLimit = stackTraceLimit
    await opened.close()
  }
}

/** The clocks of the service and of the database, each with an error in milliseconds. */
function openClocks(time: VirtualTime) {
  const errorMs = { service: 0, database: 0 }
  const makeClock = (of: keyof typeof errorMs): Clock => ({ now: () => time.now() + errorMs[of], sleep: time.sleep })
  return { errorMs, service: makeClock('service'), database: makeClock('database') }
}

function openWorld(
  plan: Plan,
  draws: Draws,
  time: VirtualTime,
  opened: { readonly store: Store; readonly delivers: boolean; readonly clocks: ReturnType<typeof openClocks> },
) {
  const schedule = draws.fork('schedule')
  const receiver = createReceiver(draws.fork('receiver'))
  const quarantined = new Set<string>()
  const updates = new Map<string, (string | null)[]>()
  const running = new Map<number, SimulatedProcess>()
  const { clocks } = opened
  const clockDraws = draws.fork('clock jumps')
  let kills = 0
  let clockJumps = 0
  let repairs = 0
  let ports = 0

  const { chainId } = plan
  // The draws depend on the label: another label would change the history of every seed.
  const chainDriver: ChainDriver = createChainDriver(chainId, plan, draws.fork('nature'), startMs / 1000)
  const nodes = openNodes(plan, draws, chainDriver, time, {
    afterPause: async (port) => {
      const process = running.get(port)
      if (process !== undefined) await afterPause(process.control, time)
    },
    step: (port) => port === operatorPort || running.get(port)?.control.step() === true,
  })
  const watch = openWatch(opened.store, plan.finalityBlocks)

  const shared: Shared = {
    chainId,
    hosts: plan.nodes.map(({ name }) => name),
    store: opened.store,
    delivers: opened.delivers,
    sender: receiver,
    clock: clocks.service,
    time,
    finalityBlocks: plan.finalityBlocks,
    nearHead: plan.nearHead,
    onEvent: watch.noteEvent,
    onQuarantine: (txHash) => quarantined.add(txHash),
  }

  function start(): void {
    ports += 1
    const port = operatorPort + ports
    const onDeath = () => {
      running.delete(port)
      kills += 1
    }
    running.set(port, startProcess(shared, port, draws.fork(`process ${port}`), onDeath))
  }

  async function sendUpdate(): Promise<void> {
    const [process] = running.values()
    const candidates = [...chainDriver.chain.everMined.values()].filter(({ hash, payments, integration }) => {
      return payments.length > 0 && integration !== null && !updates.has(hash)
    })
    if (process === undefined || candidates.length === 0) return
    const { hash } = schedule.pick(candidates)
    // Until the outcome is known, both states are valid.
    updates.set(hash, [null, 'success'])
    const input = { id: `update-${hash}`, chainId: String(chainId), txHash: hash, state: 'success' as const }
    process.service.applyUpdate(input).then(
      ({ outcome }) => updates.set(hash, [outcome === 'rejected' ? null : 'success']),
      (error: unknown) => {
        if (error instanceof UpdateConflictError) throw error
      },
    )
  }

  async function takeStep(): Promise<void> {
    const draw = schedule.fraction()
    if (draw < 0.55) chainDriver.mine()
    else if (draw < 0.75) chainDriver.fork()
    else if (draw < 0.85) for (let block = 0; block < 3; block += 1) chainDriver.mine()
    else await sendUpdate()
    if (schedule.chance(plan.killChance)) {
      const [process] = schedule.shuffled([...running.values()])
      process?.control.killAfter(schedule.whole(0, 40))
    }
    if (schedule.chance(plan.pauseChance))
      for (const { control } of running.values())
        if (schedule.chance(0.5)) control.pauseUntil(time.now() + schedule.whole(1_000, longestPauseMs))
    if (clockDraws.chance(plan.clockJumpChance)) {
      clocks.errorMs[clockDraws.pick(['service', 'database'] as const)] = clockDraws.pick(clockErrors)
      clockJumps += 1
    }
    const wanted = plan.hasTwoProcesses ? 2 : 1
    if (running.size < wanted && schedule.chance(0.6)) start()
  }

  async function isCaughtUp(): Promise<boolean> {
    const checkpoint = await opened.store.payments.checkpoint(chainId)
    if (checkpoint?.blockHash !== chainDriver.chain.tip.hash) return false
    return !opened.delivers || (await opened.store.deliveries.msUntilDue()) === null
  }

  async function heal(): Promise<void> {
    receiver.heal()
    nodes.heal()
    chainDriver.finalize()
    Object.assign(clocks.errorMs, { service: 0, database: 0 })
    const end = time.now() + healMs
    while (!(await isCaughtUp())) {
      if (time.now() >= end) return
      // A process whose kill is already planned may die only now.
      if (running.size === 0) start()
      await time.advance(5_000)
      if (plan.forks !== 'deep') continue
      await repairIfStopped()
    }
  }

  /** The operator reads the status of the leading process, and trusts the first node, which is healed. */
  async function repairIfStopped(): Promise<void> {
    const message = [...running.values()].map(({ service }) => service.indexers[0]?.status().error ?? '').join()
    let isDone = false
    const repaired = repairAsAdvised(message, shared, operatorPort).then((value) => {
      isDone = true
      if (value) repairs += 1
    })
    await time.advance(healMs, () => isDone)
    await repaired
  }

  return {
    route: nodes.route,
    async run(): Promise<SeedReport> {
      start()
      if (opened.delivers) await register(running.values().next().value)
      for (let step = 0; step < plan.steps; step += 1) {
        await time.advance(schedule.pick(plan.waits))
        await takeStep()
      }
      await time.advance(5_000)
      await heal()
      const verdict = await judge({
        chainId,
        tip: chainDriver.chain.tip,
        firstBlock: 0,
        truth: collectPayments(chainDriver.chain),
        findLastingFacts: createLastingFactsLookup(chainDriver.chain),
        store: opened.store,
        finalityBlocks: plan.finalityBlocks,
        updates,
        received: opened.delivers ? receiver.received : null,
      })
      const findings = [...verdict.findings, ...(await watch.flaws())]
      const unreported = findMalformed(chainDriver.chain).filter((hash) => !quarantined.has(hash))
      if (unreported.length > 0) findings.push(`${unreported.length} malformed logs were not reported`)
      const reorgs = watch.reorgs()
      if (chainDriver.forks === 0 && reorgs > 0) findings.push(`${reorgs} reorgs of a chain that never forked`)
      if (findings.length > 0) findings.push(...[...running.values()].map(describe))
      for (const process of running.values()) await stopWithin(process, time)
      return {
        plan,
        verdict: { ...verdict, wrong: verdict.wrong + (findings.length > verdict.findings.length ? 1 : 0), findings },
        faults: nodes.faults(),
        forks: chainDriver.forks,
        reorgs,
        kills,
        clockJumps,
        repairs,
        virtualMs: time.now() - startMs,
      }
    },
  }
}

async function register(process: SimulatedProcess | undefined): Promise<void> {
  for (const address of fixtures.integrations)
    await process?.service.integrations.create({ address, notificationUrl: 'https://receiver.example/hook' })
}

async function stopWithin(process: SimulatedProcess, time: VirtualTime): Promise<void> {
  let isStopped = false
  const stopping = process.stop().then(() => {
    isStopped = true
  })
  // A process whose kill is planned may die while it stops. Its `stop()` then never resolves.
  if (!(await time.advance(healMs, () => isStopped || !process.control.isAlive)))
    throw new Error('A process did not stop.')
  if (isStopped) await stopping
}

function describe({ port, service }: SimulatedProcess): string {
  const { head, indexed, leading, error } = service.indexers[0]?.status() ?? {}
  return `process ${port}: head ${head}, indexed ${indexed}, leading ${leading}, error ${error}`
}

const chainId = 31_337
let warming: Promise<void> | undefined

/** Resolves when all modules are loaded. A second call loads nothing. */
export function warmUp(): Promise<void> {
  warming ??= readOneBlock()
  return warming
}

async function readOneBlock(): Promise<void> {
  const { tip } = createFakeChain(chainId, createDraws('warm up'), 1_700_000_000)
  const transport = custom({
    async request(call: Call) {
      const outcome = answerFrom(chainId, tip, call)
      if ('error' in outcome) throw new Error(outcome.error.message)
      return outcome.result
    },
  })
  const chain = createEvmChain({ chainId, transport, routers: fixtures.routers })
  for await (const { last } of chain.ranges({ from: 0, to: 0, head: 0 }))
    if (last.hash !== tip.hash) throw new Error('The product rejects a valid block.')
  chain.close()
}
