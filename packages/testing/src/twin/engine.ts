/** The service of a twin: the real core on a database of its own, which can end and start again. @module */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, parseMasterKey, type Service, silentLogger } from '@payment-integration/core'
import type { Random, Store } from '@payment-integration/core/ports'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import type { Draws } from '../builders.js'
import type { FakeClock } from '../fake-clock.js'
import type { TwinChain } from './chain.js'
import type { TwinIdentityParts } from './identity.js'
import type { TwinNetwork } from './network.js'

export interface TwinEngineDeps {
  readonly clock: FakeClock
  readonly draws: Draws
  readonly chains: readonly TwinChain[]
  readonly network: () => TwinNetwork
  readonly identity: TwinIdentityParts
}

/** A running service, driven by hand: no loop runs. */
export interface TwinEngine {
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

export async function openTwinEngine(deps: TwinEngineDeps): Promise<TwinEngine> {
  const { clock, draws, chains, network, identity } = deps
  const folder = mkdtempSync(join(tmpdir(), 'payment-twin-'))
  const removeNow = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', removeNow)
  const random: Random = {
    bytes: (length) => Uint8Array.from({ length }, () => draws.whole(0, 255)),
    fraction: () => draws.whole(0, 999_999) / 1_000_000,
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
