/** The service in the process of a test: the real core, with time, chains and network in the test's hands. @module */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { createService, parseMasterKey, type Service, silentLogger } from '@payment-integration/core'
import type { RandomSource, Store } from '@payment-integration/core/ports'
import { createApp } from '@payment-integration/server'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createDraws, createFakeClock, type Draws, type FakeClock, fakeClockStart } from '../builders.js'
import { triggerIdentity } from '../identity-provider/control.js'
import { type ServedPort, serve, toRequest } from '../serve.js'
import { buildPayment, createTwinChain, type TwinChain, type TwinPaymentInput } from './chain.js'
import { createTwinIdentity, type TwinIdentity, type TwinIdentityParts, twinClients } from './identity.js'
import {
  type ChaosPlan,
  chaosDefaults,
  checkChaos,
  createTwinNetwork,
  type TwinArrival,
  type TwinNetwork,
  type TwinReceiver,
} from './network.js'
import { createTrigger } from './trigger.js'
import type { TriggerEvent, TriggerRequest } from './trigger-request.js'

interface TwinEngineDeps {
  readonly clock: FakeClock
  readonly draws: Draws
  readonly chains: readonly TwinChain[]
  readonly network: () => TwinNetwork
  readonly identity: TwinIdentityParts
}

/** A running service, driven by hand: no loop runs. */
interface TwinEngine {
  service(): Service
  readonly store: Store
  /** Ends the process and starts another on the same database. What was in flight is lost. */
  restart(): void
  /** Indexes all blocks, attempts every due delivery, sends every due webhook and polls every due verification. */
  settle(): Promise<void>
  /** Moves the clock to a time in unix milliseconds, or to an earlier one at which a webhook or a poll is due. */
  moveTo(ms: number): Promise<void>
  close(): Promise<void>
}

/** One POST at a time, so that a seed gives one sequence. */
const delivery = { concurrency: 1, perEndpoint: 1, batch: 1, leaseMs: 10_000 } as const

/** The shortest that the core takes. */
const chainLeaseMs = 100

/** Time between two rounds of polls, as in the service, in milliseconds. */
const pollMs = 30_000

/** Most turns of one settle: a receiver that always causes a new delivery would never end it. */
const maxTurns = 100_000

async function openTwinEngine(deps: TwinEngineDeps): Promise<TwinEngine> {
  const { clock, draws, chains, network, identity } = deps
  const folder = mkdtempSync(join(tmpdir(), 'payment-twin-'))
  const removeNow = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeNow)
  const random: RandomSource = {
    bytes: (length) => Uint8Array.from({ length }, () => draws.integer(0, 255)),
    fraction: () => draws.integer(0, 999_999) / 1_000_000,
  }
  let lastId = 0
  const ids = {
    next() {
      lastId += 1
      return `twin-${lastId}`
    },
  }
  const store = createSqliteStore({ path: join(folder, 'twin.db'), clock, ids, synced: false })
  await store.migrate()
  const masterKey = parseMasterKey(draws.hex(32).slice(2))
  let ended = createEnd()
  const start = () =>
    createService({
      store,
      ids,
      identity: { provider: identity.connect() },
      sender: { post: (post) => network().post(post) },
      masterKey,
      chains: chains.map((chain) => ({ chain, startBlock: 0, leaseMs: chainLeaseMs })),
      clock,
      random,
      logger: silentLogger,
      allowLoopbackHttp: true,
      delivery,
      // A test should not wait for a hash that takes a second.
      passphraseCost: { log2N: 4, r: 1, p: 1 },
    })
  let service = start()

  async function index(): Promise<void> {
    for (const indexer of service.indexers) {
      let isIdle = false
      while (!isIdle) isIdle = await indexer.step()
    }
  }

  async function settle(): Promise<void> {
    for (let turn = 0; turn < maxTurns; turn += 1) {
      await index()
      const attempts = await Promise.race([service.dispatcher.runOnce(), ended.promise])
      const reviews = await identity.settle(service)
      if (attempts === 0 && reviews === 0) return
    }
    throw new Error(`The twin is not idle after ${maxTurns} turns: does a receiver cause a payment for each delivery?`)
  }

  return {
    store,
    service: () => service,
    restart() {
      // A start takes a moment, in which the leases of the chains end.
      clock.advance(chainLeaseMs)
      service = start()
      ended.resolve()
      ended = createEnd()
    },
    settle,
    async moveTo(ms) {
      while (clock.now() < ms) {
        clock.set(identity.isUsed() ? Math.min(ms, clock.now() + pollMs) : ms)
        if (await identity.isDue(store)) return
      }
    },
    async close() {
      process.off('exit', removeNow)
      await store.close()
      removeNow()
    },
  }
}

/** The end of one process of the service. */
function createEnd(): { readonly promise: Promise<undefined>; resolve(): void } {
  let resolve = () => {}
  const promise = new Promise<undefined>((end) => {
    resolve = () => end(undefined)
  })
  return { promise, resolve: () => resolve() }
}

/** Options of a twin. */
export interface TwinOptions {
  /** The same seed and the same calls give the same bytes, faults and times. @default 1 */
  readonly seed?: number | undefined
  /** Start of its clock: unix time in milliseconds. @default 2025-01-01T00:00:00Z */
  readonly startMs?: number | undefined
  /** Its chains. @default 1, 10, 100, 137, 42161 */
  readonly chainIds?: readonly number[] | undefined
}

/** Defaults of {@link TwinOptions}. */
const twinDefaults = { seed: 1, startMs: fakeClockStart, chainIds: [1, 10, 100, 137, 42_161] } as const

/** An integration of a twin, with its secrets. */
export interface TwinIntegration {
  readonly address: string
  readonly apiSecret: string
  readonly signingSecret: string
  /** Null without a receiver. */
  readonly notificationUrl: string | null
}

/** A payment of a twin. */
export interface TwinPayment {
  readonly chainId: string
  readonly txHash: string
}

/** A twin. Every call resolves when the service is idle: blocks are indexed, due deliveries and webhooks attempted. */
export interface Twin {
  /** Its clock, for `createVerifier({ secrets, now: twin.now })`. Chaos may set it ahead for one arrival. */
  readonly now: () => number
  /** Adds an integration whose notifications go to `receive`; without one it has no notification URL. */
  addIntegration(receive?: TwinReceiver): Promise<TwinIntegration>
  /** Issues a key of the legacy API. Its accounts are `service.accounts`. */
  addLegacyKey(): Promise<string>
  /** The identity provider, and the users and reviewers at it. */
  readonly identity: TwinIdentity
  /** Makes a payment on a chain. @throws {TypeError} For an unknown field. @throws {RangeError} For a malformed one. */
  pay(input: TwinPaymentInput): Promise<TwinPayment>
  /** Applies an update of the processor. @throws {RangeError} When its form is wrong. */
  update(payment: TwinPayment, change: TwinChange): Promise<UpdateResult>
  /**
   * Causes the events of a scenario, and resolves them in their order.
   * @throws TriggerRequestError `ERR_TRIGGER_INVALID` for an unknown scenario or option, or a malformed one;
   * TriggerError `ERR_TRIGGER` when the scenario ends early, because the receiver is down for example.
   */
  trigger(request: TriggerRequest, integration: { readonly address: string }): Promise<readonly TriggerEvent[]>
  /** Mines empty blocks: what was paid before becomes final. */
  mine(chainId: number, blocks: number): Promise<void>
  /**
   * Replaces the newest blocks of a chain. Their payments are mined again in the first new block (`again`, the default)
   * or never.
   */
  reorganize(chainId: number, depth: number, payments?: 'again' | 'never'): Promise<void>
  /** Moves the clock forward; every retry happens at its time. @param ms - Whole milliseconds, 0 or more. */
  advance(ms: number): Promise<void>
  /** Makes the network faulty, by the twin's seed; null heals it. */
  chaos(plan?: ChaosPlan | null): void
  /** Ends the service and starts it again on the same database. */
  restart(): Promise<void>
  /** The HTTP API, without a port: pass it to a client as its `fetch`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** The same API on a port of 127.0.0.1, until `close`; 0, the default, is a free one. */
  listen(port?: number): Promise<{ readonly url: string }>
  /** Each arrival of a notification with the verdict that a correct receiver gives, oldest first. */
  readonly arrivals: readonly TwinArrival[]
  /** The use cases of the core, for everything else. */
  readonly service: Service
  /** Closes its ports and the database, and removes it. */
  close(): Promise<void>
}

/** A change by the processor. An absent field keeps the stored value; null clears it. */
type TwinChange = Pick<ProcessorUpdate, 'state' | 'recipient' | 'invoice'>

/** Longest jump of the clock while a delivery is due that cannot be claimed yet, in milliseconds. */
const stepMs = 60_000

/**
 * Makes a twin.
 * @throws {RangeError} When the seed is not a whole number from 0 to 4294967295.
 * @example
 * const twin = await createTwin({ seed: 7 })
 * const { address } = await twin.addIntegration(receive)
 * await twin.update(await twin.pay({ integrationAddress: address }), { state: 'success' })
 */
export async function createTwin(options: TwinOptions = {}): Promise<Twin> {
  const { seed = twinDefaults.seed, startMs = twinDefaults.startMs, chainIds = twinDefaults.chainIds } = options
  const draws = createDraws(seed)
  // Of its own, so that a change of the plan moves no other draw.
  const chaosDraws = createDraws((seed ^ 0x5eed) >>> 0)
  const clock = createFakeClock(startMs)
  const { now } = clock
  // While the clock stands still, a later payment is newer all the same.
  const world = { now, newHash: () => draws.hex(32), stepMs: 1_000 }
  const chains = new Map(chainIds.map((id) => [id, createTwinChain(id, world)]))
  const network = createTwinNetwork({ draws: chaosDraws, now, restart: () => engine.restart() })
  const identity = createTwinIdentity(seed, clock, async (request) => app().fetch(request))
  const engine = await openTwinEngine({ clock, draws, chains: [...chains.values()], network: () => network, identity })
  const health = async () => ({ status: 'ok', database: 'ok', chains: [] }) as const
  const ports: ServedPort[] = []
  let updates = 0
  let integrations = 0
  await engine.settle()

  let served: { readonly service: Service; readonly app: ReturnType<typeof createApp> } | null = null
  /** The HTTP API of the running process. */
  function app() {
    const service = engine.service()
    const { readWebhook } = identity
    if (served?.service !== service)
      served = { service, app: createApp({ service, receiveUpdate: null, readWebhook, health, now }) }
    return served.app
  }
  /** Webhooks of a share arrive before the next call. */
  async function answer(request: Request): Promise<Response> {
    const response = await app().fetch(request)
    await identity.deliver()
    return response
  }
  function requireChain(id: number): TwinChain {
    const chain = chains.get(id)
    if (chain === undefined) throw new RangeError(`The twin has no chain ${id}; pass it in chainIds.`)
    return chain
  }

  return {
    now: () => clock.now() + network.skewMs(),
    arrivals: network.arrivals,
    get service() {
      return engine.service()
    },
    async addIntegration(receive) {
      integrations += 1
      const notificationUrl = receive === undefined ? null : `https://receiver-${integrations}.test/webhook`
      if (receive !== undefined && notificationUrl !== null) network.connect(notificationUrl, receive)
      const issued = await engine.service().integrations.create({ address: draws.hex(20), notificationUrl })
      const { address } = issued.integration
      return { address, apiSecret: issued.apiSecret, signingSecret: issued.signingSecret, notificationUrl }
    },
    addLegacyKey: async () => (await engine.service().legacyKeys.create()).apiKey,
    identity: identity.control(() => engine.settle()),
    async pay(input) {
      const payment = buildPayment(input, draws)
      requireChain(payment.chainId).mine([payment])
      await engine.settle()
      return { chainId: String(payment.chainId), txHash: payment.txHash }
    },
    async update({ chainId, txHash }, change) {
      updates += 1
      const result = await engine.service().applyUpdate({ id: `twin-${updates}`, chainId, txHash, ...change })
      await engine.settle()
      return result
    },
    async trigger(request, { address }) {
      const trigger = createTrigger({
        service: engine.service(),
        chains: [...chains.values()],
        identity: triggerIdentity(identity.provider, twinClients),
        draws,
        async progress(turn) {
          await engine.settle()
          return turn === 0
        },
      })
      const events: TriggerEvent[] = []
      for await (const event of trigger(request, { integrationAddress: address })) events.push(event)
      await engine.settle()
      return events
    },
    async mine(chainId, blocks) {
      const chain = requireChain(chainId)
      for (let mined = 0; mined < blocks; mined += 1) chain.mine()
      await engine.settle()
    },
    async reorganize(chainId, depth, payments = 'again') {
      const chain = requireChain(chainId)
      const orphaned = chain.orphan(depth)
      chain.mine(payments === 'again' ? orphaned : [])
      // A longer branch: a node follows no shorter one.
      for (let mined = 0; mined < depth; mined += 1) chain.mine()
      await engine.settle()
    },
    async advance(ms) {
      if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`advance got ${ms}; pass whole milliseconds.`)
      const end = clock.now() + ms
      for (;;) {
        await engine.settle()
        await network.deliverLate()
        if (clock.now() >= end) return
        const dueInMs = await engine.store.deliveries.msUntilDue()
        const step = dueInMs === null ? ms : dueInMs > 0 ? Math.ceil(dueInMs) : stepMs
        await engine.moveTo(Math.min(end, clock.now() + step))
      }
    },
    chaos(plan = chaosDefaults) {
      network.chaos = plan === null ? null : checkChaos(plan)
    },
    async restart() {
      engine.restart()
      await engine.settle()
    },
    fetch: (input, init) => answer(toRequest(input, init)),
    async listen(port = 0) {
      const opened = await serve(answer, port)
      ports.push(opened)
      return { url: opened.url }
    },
    async close() {
      await Promise.all(ports.splice(0).map((port) => port.close()))
      await engine.close()
    },
  }
}
