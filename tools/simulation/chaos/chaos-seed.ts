/** Runs one seed of chaos: a real chain, a real process, real HTTP, with injected faults. @module */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEvmChain } from '@payment-integration/chain-evm'
import { createService, type Service, systemRandom } from '@payment-integration/core'
import type { Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { cast } from '../chain/transaction.js'
import type { Answer, Reply } from '../node/calls.js'
import type { FaultName } from '../node/fault-names.js'
import { createFaultyNode, type FaultyNode } from '../node/faulty-node.js'
import { otherChain } from '../node/other-chain.js'
import { type Draws, drawsOf } from '../random.js'
import { simulatedMasterKey } from '../world/master-key.js'
import { drawPlan } from '../world/plan.js'
import { repairAsAdvised } from '../world/repair.js'
import { judge, type Verdict } from '../world/verdict.js'
import type { AnvilChain } from './anvil-chain.js'
import { createAnvilDriver } from './anvil-driver.js'
import { fastClock } from './fast-clock.js'
import type { FrontRequest, HttpFront } from './http-front.js'
import type { ProcessConfig } from './process-config.js'
import { createRealReceiver, type RealReceiver } from './real-receiver.js'
import { everSigned, realPayments } from './real-truth.js'
import { type ServiceChild, startChild } from './service-child.js'

/** The parts that a seed runs on. */
export interface ChaosGround {
  readonly chain: AnvilChain
  /** Path of the bundled process. */
  readonly processPath: string
  /** Where requests of processes and deliveries arrive. */
  readonly front: HttpFront
  /** The nodes behind the front, set while a seed runs. */
  route: (request: FrontRequest) => Promise<Reply>
}

/** Result of a seed. */
export interface ChaosReport {
  readonly seed: number
  readonly verdict: Verdict
  readonly faults: ReadonlyMap<FaultName, number>
  readonly forks: number
  readonly deepest: number
  readonly reorganisations: number
  readonly kills: number
  readonly repairs: number
  readonly seconds: number
}

/** Speed of the service's clock, relative to real time. */
const speed = 10
/** Longest catch-up after everything is healed, in milliseconds. */
const healMs = 45_000
/** Runs a seed. It rejects only for a bug of the suite itself. */
export async function runChaosSeed(seed: number, ground: ChaosGround): Promise<ChaosReport> {
  const startedAt = Date.now()
  const folder = await mkdtemp(join(tmpdir(), 'payment-chaos-'))
  const databasePath = join(folder, 'payments.db')
  const draws = drawsOf(`chaos ${seed}`)
  const plan = drawPlan(seed, draws.fork('plan'), 'sqlite')
  const { finalityBlocks } = plan
  const startBlock = await ground.chain.reset()
  const time = { since: Date.now(), speed }
  const clock = fastClock(time)
  const store = createSqliteStore({ path: databasePath, clock })
  const children = new Map<number, ServiceChild>()
  try {
    await store.migrate()
    const secrets = await register(store, `${ground.front.url}/hook`)
    const receiver = createRealReceiver(draws.fork('receiver'), secrets, () => clock.now())
    // The label is part of every seed: another one would change all histories.
    const chainDriver = createAnvilDriver(ground.chain, plan, draws.fork('nature'), startBlock)
    const nodes = plan.endpoints.map(({ rates, hasBlockReceipts }, index) =>
      openNode(ground.chain, draws.fork(`node ${index}`), rates, hasBlockReceipts),
    )
    ground.route = (request) => arrive(request, nodes, receiver)
    const { chainId, router } = ground.chain
    const config: ProcessConfig = {
      chainId,
      urls: nodes.map((_, index) => `${ground.front.url}/node/${index}`),
      routers: [router],
      databasePath,
      startBlock: startBlock + 1,
      finalityBlocks,
      nearHead: plan.nearHead,
      time,
    }
    const schedule = draws.fork('schedule')
    const wanted = plan.competing ? 2 : 1
    let reorganisations = 0
    let kills = 0
    let started = 0
    let repairs = 0
    /** Reason of a failed repair, which is retried. */
    let refusal: string | null = null
    const start = () => {
      started += 1
      children.set(started, startChild(ground.processPath, config))
    }
    const end = async (name: number, how: 'kill' | 'stop') => {
      const child = children.get(name)
      if (child === undefined) return
      await child[how]()
      children.delete(name)
      reorganisations += child.reorganisations()
      if (how === 'kill') kills += 1
    }

    while (children.size < wanted) start()
    for (let step = 0; step < plan.blocks; step += 1) {
      await pause(schedule.pick([10, 60, 150, 250]))
      const draw = schedule.fraction()
      if (draw < 0.65) await chainDriver.mine()
      else if (draw < 0.85) await chainDriver.fork()
      else for (let block = 0; block < 3; block += 1) await chainDriver.mine()
      if (schedule.chance(plan.killChance)) await end(schedule.pick([...children.keys()]), 'kill')
      while (children.size < wanted) start()
    }
    for (const node of nodes) node.heal()
    receiver.heal()
    await chainDriver.finalise(2 * finalityBlocks)
    const honestChain = () => createEvmChain({ chainId, rpcUrl: ground.chain.rpcUrl, routers: [router] })
    const deadline = Date.now() + healMs
    while (!(await isCaughtUp(ground.chain, store)) && Date.now() < deadline) {
      await pause(50)
      const failures = [...children.values()].map((child) => child.failure()).join()
      try {
        if (await repairAsAdvised(failures, { store, finalityBlocks, openChain: honestChain })) repairs += 1
      } catch (error) {
        refusal = `the last repair that failed: ${error}`
      }
    }
    const truth = await realPayments(ground.chain, startBlock + 1, chainDriver.signed)
    const tip = await headOf(ground.chain)
    const judged = await judge({
      chainId,
      tip,
      firstBlock: startBlock + 1,
      truth,
      everSeen: everSigned(chainDriver.signed),
      store,
      finalityBlocks,
      updates: new Map(),
      received: receiver.received,
    })
    const findings = [...judged.findings]
    if (receiver.refused > 0) findings.push(`${receiver.refused} deliveries had a wrong signature`)
    if (findings.length > 0 && refusal !== null) findings.push(refusal)
    for (const child of children.values()) {
      if (findings.length > 0) findings.push(await child.status())
      if (child.complaints() !== '') findings.push(child.complaints())
    }
    for (const name of [...children.keys()]) await end(name, 'stop')
    return {
      seed,
      verdict: { ...judged, findings },
      faults: sumOf(nodes),
      forks: chainDriver.forks(),
      deepest: chainDriver.deepest(),
      reorganisations,
      kills,
      repairs,
      seconds: (Date.now() - startedAt) / 1000,
    }
  } finally {
    for (const child of children.values()) await child.kill()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function openNode(
  chain: AnvilChain,
  draws: Draws,
  rates: Parameters<typeof createFaultyNode>[0]['rates'],
  hasBlockReceipts: boolean,
) {
  const honest: Answer = async (call) => {
    if (call.method === 'eth_getBlockReceipts' && !hasBlockReceipts)
      return { error: { code: -32601, message: 'no such method' } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call })
    const response = await fetch(chain.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { code: number; message: string } }
    return error === undefined ? { result } : { error }
  }
  return createFaultyNode({ honest, foreign: otherChain, draws, rates })
}

async function arrive(request: FrontRequest, nodes: readonly FaultyNode[], receiver: RealReceiver): Promise<Reply> {
  if (request.path === '/hook') return receiver.answer(request)
  const node = nodes[Number(/^\/node\/(\d+)/.exec(request.path)?.[1])]
  return node === undefined ? { kind: 'reset' } : node.handle(request.body.toString('utf8'))
}

async function register(store: Store, notificationUrl: string): Promise<string[]> {
  const service: Service = createService({
    store,
    sender: { post: () => Promise.reject(new Error('Nothing is sent from here.')) },
    masterKey: simulatedMasterKey,
    allowLoopbackHttp: true,
    random: systemRandom,
  })
  const issued = []
  for (const address of cast.integrations) issued.push(await service.integrations.create({ address, notificationUrl }))
  return issued.map(({ signingSecret }) => signingSecret)
}

async function isCaughtUp(chain: AnvilChain, store: Store): Promise<boolean> {
  const { hash } = await headOf(chain)
  const checkpoint = await store.payments.checkpoint(chain.chainId)
  return checkpoint?.blockHash === hash && (await store.deliveries.msUntilDue()) === null
}

async function headOf(chain: AnvilChain): Promise<{ readonly number: number; readonly hash: string }> {
  const { number, hash } = await chain.rpc<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false)
  return { number: Number(number), hash }
}

function sumOf(nodes: readonly FaultyNode[]): Map<FaultName, number> {
  const sums = new Map<FaultName, number>()
  for (const { done } of nodes) for (const [name, count] of done) sums.set(name, (sums.get(name) ?? 0) + count)
  return sums
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
