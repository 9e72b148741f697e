/** Puts the use cases together on the ports of a host. Source: DESIGN section 2. @module */
import { createAuthenticate } from './auth/authenticate.js'
import { createCursorCodec } from './cursor/cursor.js'
import type { EventSink, ServiceEvent } from './events.js'
import { createIndexer } from './indexer/indexer.js'
import { createIntegrationCommands } from './integrations/commands.js'
import { describeError } from './internal/describe-error.js'
import { createDispatcher } from './notifications/dispatcher.js'
import { createPaymentQueries } from './payments/queries.js'
import type { Chain } from './ports/chain.js'
import type { ReceiptSource } from './ports/receipt-source.js'
import type { Sender } from './ports/sender.js'
import type { Store } from './ports/store.js'
import type { Clock, Logger, Random } from './ports/world.js'
import { createReceiptPoller } from './receipts/poller.js'
import type { MasterKey } from './secrets/master-key.js'
import { openSecret } from './secrets/seal.js'
import type { Service } from './service-types.js'
import { applyUpdate } from './updates/apply-update.js'
import { silentLogger, systemClock, systemRandom } from './world/system.js'

/** A chain to follow. */
export interface FollowedChain {
  readonly chain: Chain
  /** Where to begin when nothing is indexed yet: a height, or the head at that moment. @default 'head' */
  readonly startBlock?: number | 'head' | undefined
  /** How often the head is read, in milliseconds. @default 1000 */
  readonly pollMs?: number | undefined
  /** Largest number of blocks read at once. @default 500 */
  readonly maxRange?: number | undefined
}

/** What a host brings. */
export interface ServiceDeps {
  /** A migrated store. */
  readonly store: Store
  readonly sender: Sender
  /** The key outside the database. */
  readonly masterKey: MasterKey
  /** @default none: a service that only reads and delivers */
  readonly chains?: readonly FollowedChain[] | undefined
  /** @default none: states change by processor updates alone */
  readonly receipts?: { readonly source: ReceiptSource; readonly everyMs?: number | undefined } | undefined
  /** Dev only: accept `http:` notification URLs to this machine. @default false */
  readonly allowLoopbackHttp?: boolean | undefined
  readonly onEvent?: EventSink | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: Random | undefined
  /** @default none */
  readonly logger?: Logger | undefined
}

/**
 * Builds the service. Nothing runs until `run` is called; reading, updates and commands work at once.
 * @example
 * const service = createService({ store, sender, masterKey, chains: [{ chain }] })
 * await service.run(signal)
 */
export function createService(deps: ServiceDeps): Service {
  const { store, sender, masterKey, chains = [], receipts, allowLoopbackHttp = false, onEvent } = deps
  const { clock = systemClock, random = systemRandom, logger = silentLogger } = deps

  function publish(event: ServiceEvent): void {
    if (event.type === 'payment.indexed' || event.type === 'payment.changed') dispatcher.wake()
    try {
      onEvent?.(event)
    } catch (error) {
      logger.error(
        { eventType: event.type, error: describeError(error) },
        'An event sink threw; its exception is ignored.',
      )
    }
  }

  async function applyAndPublish(update: Parameters<Service['applyUpdate']>[0]) {
    const { result, events } = await applyUpdate(store, update)
    events.forEach(publish)
    return result
  }

  const dispatcher = createDispatcher({
    store,
    sender,
    clock,
    random,
    logger,
    publish,
    openSecret: (sealed, address) => openSecret(masterKey, address, sealed),
  })
  const indexers = chains.map(({ chain, startBlock = 'head', pollMs, maxRange }) =>
    createIndexer({ store, chain, clock, random, logger, publish, options: { startBlock, pollMs, maxRange } }),
  )
  const poller =
    receipts === undefined
      ? null
      : createReceiptPoller({
          store,
          source: receipts.source,
          applyUpdate: applyAndPublish,
          clock,
          logger,
          options: { everyMs: receipts.everyMs },
        })

  return {
    store,
    authenticate: createAuthenticate({ integrations: store.integrations, keys: masterKey, clock, random }),
    payments: createPaymentQueries(store.payments, createCursorCodec(masterKey)),
    applyUpdate: applyAndPublish,
    integrations: createIntegrationCommands({
      integrations: store.integrations,
      keys: masterKey,
      clock,
      random,
      allowLoopbackHttp,
    }),
    indexers,
    dispatcher,
    receipts: poller,
    async run(signal) {
      const loops = [dispatcher, ...indexers, ...(poller === null ? [] : [poller])]
      await Promise.all(loops.map((loop) => loop.run(signal)))
    },
  }
}
