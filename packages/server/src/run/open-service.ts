/** Opens the service for commands: nothing listens and no loop runs. @module */
import v8 from 'node:v8'
import type { QuarantinedLog } from '@payment-integration/chain-evm'
import {
  checkMasterKey,
  createService,
  createUpdateReceiver,
  type EventSink,
  parseMasterKey,
  type Service,
  systemClock,
  systemRandom,
  type UpdateReceiver,
} from '@payment-integration/core'
import { type Confirmations, loadPackage } from '@payment-integration/core/internal'
import type { Chain, Clock, Logger, RandomSource, ReceiptSource, Sender, Store } from '@payment-integration/core/ports'
import type { TriggerHandler } from '../app/streaming-routes.js'
import type { VerdictReader } from '../app/webhook-routes.js'
import type { Config } from '../config/read-config.js'
import { computeLimits } from '../identity/limited-provider.js'
import { createRangeCheck } from '../internal/address-ranges.js'
import { createPinoLogger, toErrorFields } from '../logging/log.js'
import { createLazySender } from '../sender/lazy-sender.js'
import { senderDefaults } from '../sender/sender-defaults.js'
import { openTracing } from '../tracing/payment-trace.js'
import { loadChainEvm, openChain, openChainFeed, openFulfillments } from './open-chain.js'

/** Combines several optional sinks into one. Each gets every event; an exception of one is thrown after the others. */
export function emitToAll(...sinks: readonly (EventSink | undefined)[]): EventSink {
  return (event) => {
    const errors: unknown[] = []
    for (const sink of sinks) {
      try {
        sink?.(event)
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}

/** The most logs in memory: a range that is read again repeats its logs, and each log is reported once. */
const maxReportedLogs = 10_000

/**
 * Builds a listener for skipped router logs: it writes a warning and publishes `log.quarantined`, once per log. An
 * exception of `publish` is only logged: it must not stop a chain.
 */
export function createQuarantineReport(logger: Logger, publish: EventSink): (log: QuarantinedLog) => void {
  const reported = new Set<string>()
  return ({ chainId, txHash, blockNumber, logIndex, router, reason }) => {
    const key = `${chainId}:${blockNumber}:${txHash}:${logIndex}`
    if (reported.has(key)) return
    reported.add(key)
    const [oldest = ''] = reported
    if (reported.size > maxReportedLogs) reported.delete(oldest)
    const facts = { chainId, txHash, blockNumber, logIndex, reason }
    logger.warn({ ...facts, router: router.address }, 'A router log is no payment and is skipped; inspect it.')
    try {
      publish({ type: 'log.quarantined', ...facts })
    } catch (error) {
      logger.error({ eventType: 'log.quarantined', ...toErrorFields(error) }, 'An event sink threw; it is ignored.')
    }
  }
}

/** Longest time, in milliseconds, that development blocks a failing receiver: below the first retry's wait of 5 s. */
const developmentMaxBlockMs = 3_000

/**
 * Makes the chains of `PI_SIMULATED_CHAINS` and their trigger. The chains continue after their stored blocks. `close`
 * ends a scenario that waits for the service.
 */
export type SimulateChains = (world: {
  readonly store: Store
  readonly chainIds: readonly number[]
  readonly clock: Clock
}) => Promise<{ readonly chains: readonly Chain[]; trigger(service: Service): TriggerHandler; close(): void }>

/** Parts that a host may replace. */
export interface OpenOptions {
  /** Receives every event. @default nothing */
  readonly onEvent?: EventSink | undefined
  /** @default JSON lines on standard output, at the configured level */
  readonly logger?: Logger | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: RandomSource | undefined
  /** Makes the chains of `PI_SIMULATED_CHAINS`, by `createSimulatedChains` of testing. @default none are made */
  readonly simulateChains?: SimulateChains | undefined
  /** Returns the URL to post to in place of a notification URL, as for a relay on this machine. @default the same */
  readonly route?: ((notificationUrl: string) => string) | undefined
  /** Actor that the audit log records, unless the configuration names one. @default 'service' */
  readonly actor?: string | undefined
  /**
   * True for a process that does nothing else: it collects garbage sooner, and `startServer` lets the HTTP library
   * replace the global Request and Response by cheaper ones. @default false
   */
  readonly ownsProcess?: boolean | undefined
}

/** A service on its database, and the parts that a server needs. */
export interface OpenedService {
  readonly service: Service
  readonly store: Store
  /** Null when no processor secret is configured. */
  readonly receiveUpdate: UpdateReceiver | null
  /** Undefined when no identity provider is configured. */
  readonly readWebhook: VerdictReader | undefined
  /** Null where no chain is simulated. Close it before the loops stop. */
  readonly trigger: { readonly handle: TriggerHandler; close(): void } | null
  readonly logger: Logger
  /** Closes connections and the database. Stop the loops first. */
  close(): Promise<void>
}

/**
 * Opens the store, checks its schema or brings it up to date, and creates the service.
 * @throws TypeError or RangeError when a configuration that `readConfig` did not make contradicts itself; nothing stays
 * open then.
 * @throws StoreError when the database cannot be opened, such as `ERR_STORE_UNAVAILABLE`. `ERR_STORE_SCHEMA` when it
 * must be migrated first; `ERR_STORE_ENGINE` when its product or version is not one that this release knows.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` when a setting needs a package that is not installed.
 * @throws MasterKeyError `ERR_MASTER_KEY_MISSING` when the database was written with a key that is not given.
 * @example
 * import { openService, readConfig } from '@payment-integration/server/service'
 * const { service, store, close } = await openService(readConfig(process.env))
 */
export async function openService(config: Config, options: OpenOptions = {}): Promise<OpenedService> {
  const { clock = systemClock, random = systemRandom, ownsProcess = false } = options
  // The heap grows to twice its live size before a collection, not four times; V8 reads the flag at each collection.
  // Catching up a chain takes 50 MiB less, and about a tenth more time when both cores are busy.
  if (ownsProcess) v8.setFlagsFromString('--heap-growing-percent=100')
  const { logger = await createPinoLogger({ level: config.logLevel }) } = options
  const tracing = config.tracing ? await openTracing(clock) : null
  const onEvent = emitToAll(tracing?.onEvent, options.onEvent)
  const allowLoopbackHttp = config.environment === 'development'
  const masterKey = parseMasterKey(config.masterKey)
  const { processorSecrets } = config
  const receiveUpdate =
    processorSecrets.length === 0 ? null : createUpdateReceiver({ secrets: processorSecrets, clock })
  const onQuarantine = createQuarantineReport(logger, onEvent)
  const evmChains = await Promise.all(config.chains.map((each) => openChain(each, onQuarantine)))
  const feed = await openChainFeed(config.feed, { clock, logger })
  const followedChains = config.chains.map((each, index) => {
    const chain = evmChains[index] as Chain
    const { startBlock, pollMs } = each
    return { chain: feed?.wrap(chain, each) ?? chain, startBlock, pollMs, leaseMs: config.leaseMs }
  })
  const chains = new Map(followedChains.map(({ chain }) => [chain.chainId, chain]))
  const confirmations = Object.fromEntries(config.chains.map((chain) => [chain.chainId, chain.confirmations]))
  const receipts = await openReceipts(config.receipts, chains, confirmations, receiveUpdate)
  const fulfillments = await openFulfillments(config.chains, clock)
  const identity = await openIdentity(config.identity, clock)
  const { dnsServers, denied, ...delivery } = config.delivery
  const sender = createLazySender({
    allowLoopbackHttp,
    denied,
    servers: dnsServers.length === 0 ? undefined : dnsServers,
    // Aborted POSTs keep their connections for a moment.
    connectionsPerOrigin: Math.max(senderDefaults.connectionsPerOrigin, delivery.perEndpoint * 2),
  })
  const { route } = options
  const routedSender: Sender = route ? { post: (post) => sender.post({ ...post, url: route(post.url) }) } : sender
  const parts = {
    sender: tracing?.traceSender(routedSender) ?? routedSender,
    onEvent,
    masterKey,
    confirmations,
    maxExtraFeeBps: config.maxExtraFeeBps,
    recording: config.recording,
    clock,
    random,
    logger,
    allowLoopbackHttp,
    isDeniedAddress: createRangeCheck(denied),
    delivery: { ...delivery, maxBlockMs: config.environment === 'development' ? developmentMaxBlockMs : undefined },
    actor: config.actor ?? options.actor,
    ...(receipts === null ? {} : { receipts: { source: receipts } }),
    ...(identity === null ? {} : { identity: { provider: identity.provider, namespace: identity.namespace } }),
    ...(fulfillments === null ? {} : { fulfillments: { source: fulfillments } }),
  }
  // Opened last, so that a mistake in the configuration opens no database.
  const store = await openDatabase(config.database, options.clock)
  try {
    await (config.migrates ? store.migrate() : store.schema.check())
    await checkMasterKey(store, masterKey)
    const { simulatedChains: chainIds } = config
    const simulation = chainIds.length === 0 ? undefined : await options.simulateChains?.({ store, chainIds, clock })
    const simulated = (simulation?.chains ?? []).map((chain) => ({ chain, startBlock: 0, leaseMs: config.leaseMs }))
    const service = createService({ ...parts, chains: [...followedChains, ...simulated], store })
    return {
      service,
      store,
      receiveUpdate,
      readWebhook: identity?.readWebhook,
      trigger: simulation ? { handle: simulation.trigger(service), close: simulation.close } : null,
      logger,
      async close() {
        fulfillments?.close()
        for (const chain of evmChains) chain.close()
        identity?.provider.close()
        await Promise.allSettled([sender.close(), receipts?.close?.(), feed?.close()])
        await store.close()
      },
    }
  } catch (error) {
    await store.close().catch(() => undefined)
    throw error
  }
}

async function openIdentity(config: Config['identity'], clock: Clock) {
  if (config === null) return null
  const { createSumsubClient, createWebhookReader } = await loadPackage(
    '@payment-integration/identity-sumsub',
    'PI_IDENTITY_APP_TOKEN',
    () => import('@payment-integration/identity-sumsub/service'),
  )
  const { createSumsubIdentityProvider } = await import('../identity/sumsub-provider.js')
  const { url, webhookSecrets, namespace, ratePercent, ...access } = config
  const provider = createSumsubIdentityProvider(createSumsubClient, {
    ...access,
    clock,
    limits: computeLimits(ratePercent),
    ...(url === null ? {} : { baseUrl: url }),
  })
  return { provider, readWebhook: createWebhookReader({ secret: webhookSecrets }), namespace }
}

/**
 * Opens a database, and does not check its schema. It loads only that database's library: loading is slow.
 * @param database - As in `config.database`, such as `{ kind: 'sqlite', path: 'payments.db' }`.
 * @throws MissingPackageError `ERR_PACKAGE_MISSING` without store-sql; TypeError or RangeError on a wrong option.
 */
export async function openDatabase(database: Config['database'], clock?: Clock): Promise<Store> {
  const load = <T>(entry: () => Promise<T>) => loadPackage('@payment-integration/store-sql', 'PI_DATABASE_URL', entry)
  if (database.kind === 'sqlite') {
    const { createSqliteStore } = await load(() => import('@payment-integration/store-sql/sqlite'))
    return createSqliteStore({ path: database.path, clock })
  }
  const { createPostgresStore } = await load(() => import('@payment-integration/store-sql/postgres'))
  const { kind, ...options } = database
  return createPostgresStore({ ...options, clock })
}

async function openReceipts(
  config: Config['receipts'],
  chains: ReadonlyMap<number, Chain>,
  confirmations: Confirmations,
  receiveUpdate: UpdateReceiver | null,
): Promise<(ReceiptSource & { close?(): Promise<void> }) | null> {
  switch (config.kind) {
    case 'off':
      return null
    case 'chain': {
      if (chains.size === 0) return null
      const { createChainReceiptSource } = await loadChainEvm()
      return createChainReceiptSource({ chains, confirmations })
    }
    case 'http': {
      if (receiveUpdate === null)
        throw new TypeError('HTTP receipts are set without a processor secret; set one, which authenticates them.')
      const { createHttpReceiptSource } = await import('../receipts/http-receipt-source.js')
      return createHttpReceiptSource({ url: config.url, receiveUpdate })
    }
  }
}
