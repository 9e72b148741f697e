/** The process that crash tests kill: the real service with probes on a fast clock. @module */
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { createService, type Service, type ServiceEvent, StoreError, silentLogger } from '@payment-integration/core'
import type { Logger, Store } from '@payment-integration/core/ports'
import { createPostgresStore } from '@payment-integration/store-sql/postgres'
import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
import { createUndiciSender } from '../../../packages/server/src/sender/undici-sender.js'
import { scriptedChain } from '../../../packages/store-sql/test/support/scripted-chain.js'
import { simulatedMasterKey } from '../random.js'
import { probeSqlite } from './probed-sqlite.js'
import { createCrossing, probePostgres, probeSender, probeStore, writeLine } from './probes.js'
import { type CrashConfig, type CrashLine, createFastClock, type Horizon } from './process-config.js'
import { chainId, writeScript } from './script.js'

/** The shortest lease that a dispatcher takes, in milliseconds of the fast clock. */
const leaseMs = 10_000
/** The lease of the last process, which is never killed and has everything to deliver at once. */
const longLeaseMs = 600_000
/** Pause between polls for updates and for the end, in real milliseconds. */
const pollMs = 10

const config = JSON.parse(process.argv[2] ?? '{}') as CrashConfig
const { seed, size, roles, database, death, mustFinish } = config
let { horizon } = config
const script = writeScript(seed, size)
const report = (line: CrashLine) => writeLine(line)
const { cross, hasten } = createCrossing(death)
const stop = new AbortController()
const clock = createAheadClock()

process.once('SIGTERM', () => stop.abort())
process.once('SIGUSR2', hasten)
// The pipe closes when the parent ends: then this process exits.
createInterface({ input: process.stdin })
  .on('line', (line) => {
    horizon = JSON.parse(line) as Horizon
  })
  .once('close', () => process.exit(1))

const store = probeStore(openStore(), cross)
const sender = createUndiciSender({ allowLoopbackHttp: true })
const service = createService({
  store,
  // The last process has a long time limit: a POST that fails on a slow machine would wait hours for its retry.
  sender: probeSender(sender, cross, (config.isPatient ?? mustFinish) ? 1 : config.time.speed),
  masterKey: simulatedMasterKey,
  clock,
  chains: roles.includes('server') ? [{ chain: createGrowingChain(), startBlock: 0, pollMs: 800, leaseMs: 1_000 }] : [],
  delivery: { leaseMs: mustFinish ? longLeaseMs : leaseMs },
  allowLoopbackHttp: true,
  logger: createLostLeaseLogger(),
  onEvent(event) {
    cross('event')
    reportEvent(event)
  },
})
report({ type: 'ready' })
const loops = roles.includes('dispatcher') ? service : { run: (signal: AbortSignal) => runIndexers(service, signal) }
await Promise.all([
  loops.run(stop.signal),
  ...(roles.includes('server') ? [applyUpdates()] : []),
  ...(mustFinish ? [finishAll()] : []),
])
await sender.close()
await store.close()
process.exit(0)

function openStore(): Store {
  if (database.kind === 'sqlite') {
    probeSqlite(cross)
    return createSqliteStore({ path: database.path, clock })
  }
  probePostgres(cross)
  const { connectionString, schema } = database
  return createPostgresStore({ connectionString, schema, clock })
}

function createAheadClock() {
  const { now, sleep } = createFastClock(config.time)
  return { now: () => now() + config.aheadMs, sleep }
}

/** Each poll of the head finds one more block, up to the horizon. Each poll is a kill point, also of an idle server. */
function createGrowingChain() {
  const { chain, mine } = scriptedChain(chainId)
  let mined = 0
  const mineNext = () => {
    mine(script.blocks[mined])
    mined += 1
  }
  while (mined < (config.minedBlocks ?? 0)) mineNext()
  return {
    ...chain,
    async head() {
      cross('head read')
      if (mined < horizon.blocks) mineNext()
      return chain.head()
    },
  }
}

async function runIndexers({ indexers }: Service, signal: AbortSignal): Promise<void> {
  await Promise.all(indexers.map((indexer) => indexer.run(signal)))
}

/** Applies the updates in order, each until it is accepted. */
async function applyUpdates(): Promise<void> {
  let index = config.firstUpdate
  while (!stop.signal.aborted) {
    const update = index < horizon.updates ? script.updates[index] : undefined
    try {
      if (update === undefined) {
        if (mustFinish && index >= script.updates.length) return
        await wait(pollMs)
        continue
      }
      const { outcome } = await service.applyUpdate(update)
      cross('update applied')
      report({ type: 'accepted', index, outcome })
      index += 1
      if (!mustFinish) await wait(1)
    } catch (error) {
      if (!(error instanceof StoreError && error.retryable)) throw error
      await wait(pollMs)
    }
  }
}

/** Waits until all work is done, replays exhausted deliveries, and waits again. */
async function finishAll(): Promise<void> {
  let replayed = 0
  for (;;) {
    await wait(pollMs)
    const checkpoint = await store.payments.checkpoint(chainId)
    if (checkpoint?.blockNumber !== script.blocks.length) continue
    if (await isUnsettled()) continue
    const totals = await service.deliveries.replayAll({ status: 'exhausted' })
    replayed += totals.replayed
    if (totals.replayed === 0) break
    service.dispatcher.wake()
  }
  report({ type: 'finished', replayed, brokenAt: (await service.audit.verify()).brokenAt })
}

async function isUnsettled(): Promise<boolean> {
  const waiting = await store.transaction((tx) =>
    tx.waitingUpdates(script.expected.map(({ txHash }) => ({ chainId, txHash }))),
  )
  const last = script.updates.at(-1)
  const isApplied = last === undefined || (await store.transaction((tx) => tx.findUpdates([last.id]))).length > 0
  const { pending } = await store.deliveries.backlog({ atMost: 1 })
  return waiting.length > 0 || !isApplied || pending > 0
}

function reportEvent(event: ServiceEvent): void {
  if (event.type === 'payment.indexed') report({ type: 'indexed', txHash: event.txHash })
  if (event.type === 'delivery.attempted' && event.outcome === 'delivered')
    report({ type: 'delivered', txHash: event.txHash, version: event.version })
  if (event.type === 'endpoint.failing' || event.type === 'endpoint.recovered')
    report({ type: 'endpoint', failing: event.type === 'endpoint.failing' })
}

function createLostLeaseLogger(): Logger {
  return {
    ...silentLogger,
    warn(_, message) {
      if (message.startsWith('lease lost')) report({ type: 'lease lost' })
    },
  }
}
