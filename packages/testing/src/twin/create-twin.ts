/** The real service in a test's process; the test controls time, chains and network. @module */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import { createService, parseMasterKey, type Service, silentLogger } from '@payment-integration/core'
import type { RandomSource } from '@payment-integration/core/ports'
import { createApp } from '@payment-integration/server'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createDraws, createFakeClock, type Draws, type FakeClock } from '../builders.js'
import { triggerIdentity } from '../identity-provider/control.js'
import { serve, toRequest } from '../serve.js'
import { buildPayment, createTwinChain, type TwinChain, type TwinPaymentInput } from './chain.js'
import { createTwinIdentity, type TwinIdentityService, twinClients } from './identity.js'
import type { ChaosPlan, TwinNetwork, TwinReceiver } from './network.js'
import { chaosDefaults, checkChaos, createTwinNetwork } from './network.js'
import { createTrigger } from './trigger.js'
import type { TriggerEvent, TriggerRequest } from './trigger-request.js'

/** One POST at a time, so that a seed determines the sequence. */
const delivery = { concurrency: 1, perEndpoint: 1, batch: 1, leaseMs: 10_000 } as const

/** The shortest lease of a chain that the core accepts, in milliseconds. */
const chainLeaseMs = 100

/** The time between two rounds of polls in milliseconds, as in the service. */
const pollMs = 30_000

/** The most turns of one `settle`, which would never end if each delivery caused a payment. */
const maxTurns = 100_000

/** Opens a service without loops: each step is called explicitly. */
async function openTwinEngine(deps: {
  readonly clock: FakeClock
  readonly draws: Draws
  readonly chains: readonly TwinChain[]
  readonly network: TwinNetwork
  readonly identity: TwinIdentityService
}) {
  const { clock, draws, chains, network, identity } = deps
  const folder = mkdtempSync(join(tmpdir(), 'payment-twin-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeFolder)
  const random: RandomSource = {
    bytes: (length) => Uint8Array.from({ length }, () => draws.integer(0, 255)),
    fraction: () => draws.integer(0, 999_999) / 1_000_000,
  }
  let lastId = 0
  const ids = { next: () => `twin-${++lastId}` }
  const store = createSqliteStore({ path: join(folder, 'twin.db'), clock, ids, synced: false })
  await store.migrate()
  const masterKey = parseMasterKey(draws.hex(32).slice(2))
  let processEnd = createEnd()
  const start = () =>
    createService({
      store,
      ids,
      identity: { provider: identity.reconnect() },
      sender: { post: (post) => network.post(post) },
      masterKey,
      chains: chains.map((chain) => ({ chain, startBlock: 0, leaseMs: chainLeaseMs })),
      clock,
      random,
      logger: silentLogger,
      allowLoopbackHttp: true,
      delivery,
      // A test should not wait a second for a password hash.
      passphraseCost: { log2N: 4, r: 1, p: 1 },
    })
  let service = start()

  /** Indexes all blocks, attempts every due delivery, sends every due webhook and polls every due verification. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < maxTurns; turn += 1) {
      for (const indexer of service.indexers) {
        let isIdle = false
        while (!isIdle) isIdle = await indexer.step()
      }
      const attempts = await Promise.race([service.dispatcher.runOnce(), processEnd.promise])
      const reviews = await identity.settle(service)
      if (attempts === 0 && reviews === 0) return
    }
    throw new Error(`The twin is not idle after ${maxTurns} turns: does a receiver cause a payment for each delivery?`)
  }

  return {
    store,
    service: () => service,
    /** Ends the process and starts another on the same database. Requests in flight are lost. */
    restart() {
      // Simulates the time of a start, in which the leases of the chains expire.
      clock.advance(chainLeaseMs)
      service = start()
      processEnd.resolve()
      processEnd = createEnd()
    },
    settle,
    /** Moves the clock to a time in unix milliseconds, or to an earlier time at which a webhook or a poll is due. */
    async moveTo(ms: number) {
      while (clock.now() < ms) {
        clock.set(identity.isInUse() ? Math.min(ms, clock.now() + pollMs) : ms)
        if (await identity.isDue(store)) return
      }
    },
    async close() {
      process.off('exit', removeFolder)
      await store.close()
      removeFolder()
    },
  }
}

/** A promise that `resolve` resolves when the process ends. */
function createEnd() {
  let resolve = () => {}
  const promise = new Promise<undefined>((resolvePromise) => {
    resolve = () => resolvePromise(undefined)
  })
  return { promise, resolve }
}

/** Options of a twin. */
export interface TwinOptions {
  /** The same seed and the same calls give the same bytes, faults and times. @default 1 */
  readonly seed?: number | undefined
  /** The start of the twin's clock in unix milliseconds. @default 2025-01-01T00:00:00Z */
  readonly startMs?: number | undefined
  /** Ids of the twin's chains. @default 1, 10, 100, 137, 42161 */
  readonly chainIds?: readonly number[] | undefined
}

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

/** A twin. Each call resolves once the service is idle: blocks indexed, due deliveries and webhooks attempted. */
export type Twin = Readonly<Awaited<ReturnType<typeof createTwin>>>

/** A change by the processor. An absent field keeps the stored value; null clears it. */
type TwinChange = Pick<ProcessorUpdate, 'state' | 'recipient' | 'invoice'>

/** The longest jump of the clock, in milliseconds, while a due delivery cannot be claimed yet. */
const maxJumpMs = 60_000

/**
 * Creates a twin: the whole service on chains in memory, driven by your test.
 * @throws {RangeError} When the seed is not a whole number from 0 to 4294967295.
 * @example
 * import { createTwin } from '@payment-integration/testing/twin'
 * const twin = await createTwin({ seed: 7 })
 * const { address } = await twin.addIntegration(() => new Response(null, { status: 204 }))
 * await twin.update(await twin.pay({ integrationAddress: address }), { state: 'success' })
 */
export async function createTwin(options: TwinOptions = {}) {
  const { seed = 1, startMs, chainIds = [1, 10, 100, 137, 42_161] } = options
  const draws = createDraws(seed)
  // A separate sequence, so that another plan changes no other random values.
  const chaosDraws = createDraws((seed ^ 0x5eed) >>> 0)
  const clock = createFakeClock(startMs)
  // Blocks are a second apart: a later payment counts as newer, even when the clock has not moved.
  const world = { clock, newHash: () => draws.hex(32), stepMs: 1_000 }
  const chains = new Map(chainIds.map((id) => [id, createTwinChain(id, world)]))
  const network = createTwinNetwork({ draws: chaosDraws, clock, restart: () => engine.restart() })
  const identity = createTwinIdentity(seed, clock, async (request) => app().fetch(request))
  const engine = await openTwinEngine({ clock, draws, chains: [...chains.values()], network, identity })
  const health = async () => ({ status: 'ok', database: 'ok', chains: [] }) as const
  const ports: Awaited<ReturnType<typeof serve>>[] = []
  let updateCount = 0
  let integrationCount = 0
  await engine.settle()

  let served: { readonly service: Service; readonly app: ReturnType<typeof createApp> } | null = null
  /** The HTTP API of the running process. */
  function app() {
    const service = engine.service()
    const { readWebhook } = identity
    if (served?.service !== service)
      served = { service, app: createApp({ service, receiveUpdate: null, readWebhook, health, clock }) }
    return served.app
  }
  /** Answers a request, then delivers the webhooks that it caused, such as those of a share. */
  async function answer(request: Request): Promise<Response> {
    const response = await app().fetch(request)
    await identity.deliverWebhooks()
    return response
  }
  function requireChain(id: number): TwinChain {
    const chain = chains.get(id)
    if (chain === undefined) throw new RangeError(`The twin has no chain ${id}; pass it in chainIds.`)
    return chain
  }

  return {
    /** The twin's clock, for `createVerifier({ secrets, clock: twin.clock })`. Chaos sets it ahead for one arrival. */
    clock: { now: () => clock.now() + network.skewMs(), sleep: clock.sleep },
    /** Every arrival of a notification, with the verdict of a correct receiver, oldest first. */
    arrivals: network.arrivals,
    /** The core's use cases, for anything that the twin does not offer. */
    get service(): Service {
      return engine.service()
    },
    /** Adds an integration whose notifications go to `receive`. Without it, there is no notification URL. */
    async addIntegration(receive?: TwinReceiver): Promise<TwinIntegration> {
      integrationCount += 1
      const notificationUrl = receive === undefined ? null : `https://receiver-${integrationCount}.test/webhook`
      if (receive !== undefined && notificationUrl !== null) network.connect(notificationUrl, receive)
      const issued = await engine.service().integrations.create({ address: draws.hex(20), notificationUrl })
      const { address } = issued.integration
      return { address, apiSecret: issued.apiSecret, signingSecret: issued.signingSecret, notificationUrl }
    },
    /** Issues a key for the legacy API, whose accounts are managed by `service.accounts`. */
    addLegacyKey: async () => (await engine.service().legacyKeys.create()).apiKey,
    /** The identity provider, with its users and reviewers. */
    identity: identity.createControl(() => engine.settle()),
    /** Makes a payment on a chain. @throws {TypeError} For an unknown field. @throws {RangeError} For a bad value. */
    async pay(input: TwinPaymentInput): Promise<TwinPayment> {
      const payment = buildPayment(input, draws)
      requireChain(payment.chainId).mine([payment])
      await engine.settle()
      return { chainId: String(payment.chainId), txHash: payment.txHash }
    },
    /** Applies an update of the processor. @throws {RangeError} When the update is malformed. */
    async update({ chainId, txHash }: TwinPayment, change: TwinChange): Promise<UpdateResult> {
      updateCount += 1
      const result = await engine.service().applyUpdate({ id: `twin-${updateCount}`, chainId, txHash, ...change })
      await engine.settle()
      return result
    },
    /**
     * Causes the events of a scenario, and resolves with the events in order.
     * @throws TriggerRequestError `ERR_TRIGGER_INVALID` for an unknown scenario or option, or a malformed one;
     * TriggerError `ERR_TRIGGER` when the scenario ends early, for example because the receiver is down.
     */
    async trigger(
      request: TriggerRequest,
      { address }: { readonly address: string },
    ): Promise<readonly TriggerEvent[]> {
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
    /** Mines empty blocks; with enough of them, all earlier payments are final. */
    async mine(chainId: number, blocks: number): Promise<void> {
      const chain = requireChain(chainId)
      for (let mined = 0; mined < blocks; mined += 1) chain.mine()
      await engine.settle()
    },
    /** Replaces the newest blocks. Their payments are mined `again` in the first new one (default), or `never`. */
    async reorganize(chainId: number, depth: number, payments: 'again' | 'never' = 'again'): Promise<void> {
      const chain = requireChain(chainId)
      const orphaned = chain.orphan(depth)
      chain.mine(payments === 'again' ? orphaned : [])
      // Mines a longer chain, because a node never follows a shorter one.
      for (let mined = 0; mined < depth; mined += 1) chain.mine()
      await engine.settle()
    },
    /** Moves the clock forward; every retry happens at its time. @param ms - Whole milliseconds, 0 or more. */
    async advance(ms: number): Promise<void> {
      if (!Number.isSafeInteger(ms) || ms < 0) throw new RangeError(`advance got ${ms}; pass whole milliseconds.`)
      const end = clock.now() + ms
      for (;;) {
        await engine.settle()
        await network.deliverLate()
        if (clock.now() >= end) return
        const dueInMs = await engine.store.deliveries.msUntilDue()
        const jumpMs = dueInMs === null ? ms : dueInMs > 0 ? Math.ceil(dueInMs) : maxJumpMs
        await engine.moveTo(Math.min(end, clock.now() + jumpMs))
      }
    },
    /** Makes the network faulty, by the twin's seed; null ends the faults. */
    chaos(plan: ChaosPlan | null = chaosDefaults): void {
      network.chaos = plan === null ? null : checkChaos(plan)
    },
    /** Ends the service and starts it again on the same database. */
    async restart(): Promise<void> {
      engine.restart()
      await engine.settle()
    },
    /** The HTTP API without a port: pass this function to a client as `fetch`. */
    fetch: (input: string | URL | Request, init?: RequestInit) => answer(toRequest(input, init)),
    /** Serves the same API on a port of 127.0.0.1, until `close`; 0, the default, picks a free port. */
    async listen(port = 0): Promise<{ readonly url: string }> {
      const opened = await serve(answer, port)
      ports.push(opened)
      return { url: opened.url }
    },
    /** Closes ports and database, and removes the database. */
    async close(): Promise<void> {
      await Promise.all(ports.splice(0).map((port) => port.close()))
      await engine.close()
    },
  }
}
