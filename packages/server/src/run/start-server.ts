/** The reference server: migrate, run the loops, listen, stop cleanly. @module */
import { setMaxListeners } from 'node:events'
import { realpathSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Service } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import { createHealth } from '../app/health.js'
import type { Config } from '../config/read-config.js'
import { createRequestLimits } from '../limits/request-limits.js'
import { createEventLog, createPinoLogger, toErrorFields } from '../logging/log.js'
import { createMetrics } from '../metrics/create-metrics.js'
import { version } from '../version.js'
import { listPriceOverrides } from './open-chain.js'
import type { DevelopmentTools } from './open-pages.js'
import { emitToAll, type OpenOptions, openService } from './open-service.js'

/**
 * Warns about a SQLite file that other users may open, as earlier versions created it. The mode is not changed here,
 * because an operator may have set it for another program.
 */
function warnReadableDatabase(database: Config['database'], logger: Pick<Logger, 'warn'>): void {
  if (database.kind !== 'sqlite' || process.platform === 'win32') return
  // SQLite creates its log and index beside the target of a symbolic link.
  const path = realpathSync(database.path)
  if ((statSync(path).mode & 0o007) === 0) return
  const files = [path, `${path}-wal`, `${path}-shm`].map((file) => `'${file.replaceAll("'", `'\\''`)}'`)
  logger.warn(
    { database: 'sqlite' },
    `Other users of this machine may open the database. Unless you want that: chmod 600 ${files.join(' ')}`,
  )
}

/** A server that accepts requests. */
export interface RunningServer {
  /** Base address of APIs and pages, without a slash at the end. Empty if no role serves them. */
  readonly url: string
  /** Base address of `/live`, `/ready`, `/health` and `/metrics`, or null without an admin port. */
  readonly adminUrl: string | null
  readonly service: Service
  /**
   * Reports not ready and drains the loops. Serves requests for `drainMs` more, finishes those in flight and closes the
   * database. After another `shutdownTimeoutMs` it aborts unfinished work; nothing durable is lost. Idempotent.
   */
  stop(): Promise<void>
}

/** Parts that a host may replace, and development tools. */
export interface StartOptions extends OpenOptions {
  /** Tools of the console with `PI_ENV=development`. @default none but the trigger */
  readonly tools?: DevelopmentTools | undefined
}

/**
 * Starts a server from its configuration.
 * @throws ListenError `ERR_LISTEN` when the port cannot be used; otherwise as `openService`: StoreError (such as
 * `ERR_STORE_SCHEMA`), MissingPackageError `ERR_PACKAGE_MISSING`, MasterKeyError `ERR_MASTER_KEY_MISSING`.
 * @throws TypeError when a production configuration has simulated chains or the console without sign-in, or when
 * `simulateChains` is missing. @throws RangeError when a rate limit is no whole number from 1.
 * @example
 * import { readConfig, startServer } from '@payment-integration/server/service'
 * const { url, stop } = await startServer(readConfig(process.env))
 * process.once('SIGTERM', () => void stop())
 */
export async function startServer(config: Config, options: StartOptions = {}): Promise<RunningServer> {
  checkDevelopment(config, options)
  // Loaded here, so that commands without a server start sooner.
  const [{ createApp }, { createAdminApp }, { openListeners }, { openConsole, openPortal }] = await Promise.all([
    import('../app/create-app.js'),
    import('../app/admin-app.js'),
    import('./http-server.js'),
    import('./open-pages.js'),
  ])
  const { roles, admin } = config
  const limits = isLimiting(config.limits) ? createRequestLimits(config.limits) : undefined
  const metrics =
    admin.listen === null && admin.metricsToken === null
      ? undefined
      : await createMetrics({ callPrices: listCallPrices(config) })
  const { logger = await createPinoLogger({ level: config.logLevel }) } = options
  const onEvent = emitToAll(metrics?.onEvent, createEventLog(logger), options.onEvent)
  const opened = await openService(config, { ...options, logger, onEvent })
  const { service, store, receiveUpdate } = opened
  async function closeOnFailure<T>(step: Promise<T>): Promise<T> {
    return step.catch(async (error: unknown) => {
      await opened.close()
      throw error
    })
  }
  const indexers = service.indexers.filter(({ chainId }) => roles.indexer === 'all' || roles.indexer.includes(chainId))
  metrics?.watch({ indexers, deliveries: store.deliveries })
  const loops = new AbortController()
  // Each chain adds several listeners: Node would warn about a leak.
  setMaxListeners(0, loops.signal)
  let isRunning = true
  const health = createHealth({ store, indexers, recording: config.recording, running: () => isRunning })
  const portal = roles.console ? await closeOnFailure(openPortal(config, { service, logger, limits })) : null
  const consoleDeps = { service, logger, store, trigger: opened.trigger?.handle ?? null, tools: options.tools }
  const consolePages = config.console && roles.console ? await closeOnFailure(openConsole(config, consoleDeps)) : null
  const app = createApp({
    service,
    api: roles.api,
    console: consolePages,
    portal,
    receiveUpdate,
    readWebhook: opened.readWebhook,
    health,
    metrics,
    metricsToken: admin.listen === null ? admin.metricsToken : null,
    reference: config.reference,
    streams: config.deliveryStream ? service.deliveryStreams : null,
    trigger: opened.trigger?.handle,
    limits,
    accessLog: config.accessLog,
    logger,
  })
  const roleNames = [
    ...(['api', 'console', 'dispatcher', 'poller'] as const).filter((name) => roles[name]),
    ...indexers.map(({ chainId }) => `indexer:${chainId}`),
  ]
  const isStopping = () => loops.signal.aborted
  const adminDeps = { roles: roleNames, health, indexers, isStopping, metricsToken: admin.metricsToken }
  const apps = {
    app: roles.api || roles.console ? app : null,
    admin: metrics === undefined ? null : createAdminApp({ ...adminDeps, metrics }),
  }
  const listening = openListeners(config, { ...apps, logger, ownsProcess: options.ownsProcess })
  const listeners = await closeOnFailure(listening)
  const url = listeners.api?.url ?? ''
  const adminUrl = listeners.admin?.url ?? null
  const processFacts = { host: hostname(), pid: process.pid, release: version, roles: roleNames }
  const logFailure = (error: unknown) =>
    logger.error({ ...toErrorFields(error) }, 'The loops stopped with an error; health reports down until a restart.')
  const run = service.run(loops.signal, { roles, process: processFacts })
  const work = run.catch(logFailure).finally(() => {
    isRunning = false
  })
  const changedSettings = config.settings.filter(({ isDefault }) => !isDefault).map(({ name, value }) => [name, value])
  logger.info({ url, adminUrl: adminUrl ?? undefined, config: Object.fromEntries(changedSettings) }, 'Listening.')
  // Builds indexes while the server runs: on a large database, or during a migration, this takes long.
  if (consolePages !== null)
    store.console.prepare().catch((error: unknown) => {
      if (loops.signal.aborted) return
      logger.error(
        { ...toErrorFields(error) },
        'Indexes of the console are missing; its pages are slow until a restart.',
      )
    })
  warnReadableDatabase(config.database, logger)
  for (const override of await listPriceOverrides(config.chains))
    logger.warn({ ...override }, 'The configuration overrides a shipped token or price feed.')
  if (config.chains.length === 0 && config.simulatedChains.length === 0)
    logger.warn({}, 'No PI_RPC_URL_<chainId> is set: the server reads and delivers, and indexes nothing.')

  let stopped: Promise<void> | null = null
  async function stopAll(): Promise<void> {
    logger.info({}, 'Stopping.')
    loops.abort()
    listeners.api?.drain()
    if (url !== '') await sleep(config.drainMs)
    const deadline = AbortSignal.timeout(config.shutdownTimeoutMs)
    const timedOut = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve(), { once: true }))
    // A stream ends only when it is closed.
    service.deliveryStreams.close()
    opened.trigger?.close()
    consolePages?.close()
    portal?.close()
    await Promise.all([listeners.api?.stop(deadline), Promise.race([work, timedOut])])
    if (isRunning)
      logger.warn({}, 'Some work did not finish in time and is aborted; it is repeated after the next start.')
    await listeners.admin?.stop(deadline)
    await Promise.race([opened.close(), timedOut])
    logger.info({}, 'Stopped.')
  }
  return {
    url,
    adminUrl,
    service,
    stop() {
      stopped ??= stopAll()
      return stopped
    },
  }
}

/** Rejects development settings in production, and simulated chains without `simulateChains`. @throws TypeError */
function checkDevelopment(config: Config, options: StartOptions): void {
  const { simulatedChains, console: hasConsole, consoleUrl, environment } = config
  const hasOpenConsole = hasConsole && consoleUrl === null
  if ((hasOpenConsole || simulatedChains.length > 0) && environment !== 'development')
    throw new TypeError('Simulated chains and a console without sign-in are for development alone.')
  if (simulatedChains.length > 0 && options.simulateChains === undefined)
    throw new TypeError('PI_SIMULATED_CHAINS needs the option simulateChains, which payment-integration serve passes.')
}

function listCallPrices({ chains }: Config): ReadonlyMap<number, number> {
  return new Map(
    chains.flatMap(({ chainId, callPrice }) => (callPrice === null ? [] : [[chainId, callPrice] as const])),
  )
}

/** Whether any rate limit is on. Without one, sources are not computed. */
function isLimiting({ requestsPerSource, requestsPerCaller, failedSignInsPerSource }: Config['limits']): boolean {
  return [requestsPerSource, requestsPerCaller, failedSignInsPerSource].some((limit) => limit !== null)
}
