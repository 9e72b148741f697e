/** Composes the use cases on the ports of a host. Source: docs/architecture.md. @module */
import type { ProcessorUpdate, UpdateResult } from '@payment-integration/contract'
import type { EventSink, ServiceEvent } from './events.js'
import type { AuditNote } from './history/audit-log.js'
import { createAudited, createAuditQueries, createHeadAnnouncer, recordNote } from './history/audit-log.js'
import type { AuditQueries } from './history/audit-store.js'
import { createExportRows, type ExportRows } from './history/export.js'
import type { HistoryCommands } from './history/history-store.js'
import { createHistoryCommands } from './history/retention.js'
import { createIdentity, type Identity, type IdentityOptions } from './identity/identity.js'
import type { IdentityActions } from './identity/operator-actions.js'
import { createFulfillmentPoller } from './indexer/fulfillments.js'
import { createIndexer, type Indexer, type IndexerOptions } from './indexer/indexer.js'
import { type ChainCommands, createChainCommands } from './indexer/reindex.js'
import type { AcceptedSecret } from './integrations/authenticate.js'
import { clearAfterChanges, createAuthenticate, createCredentialCache } from './integrations/authenticate.js'
import type { Caller, IntegrationCommands, IntegrationSessions } from './integrations/integration.js'
import { createIntegrationCommands } from './integrations/integration-commands.js'
import { createIntegrationSessions } from './integrations/integration-sessions.js'
import { createMoveCommands } from './integrations/move-commands.js'
import type { MoveCommands } from './integrations/move-store.js'
import { describeError, type Poller } from './internal/values.js'
import { type AccountCommands, createAccountCommands } from './legacy/accounts.js'
import { type Confirmations, createFinality } from './legacy/finality.js'
import type { LegacyCaller, LegacyKeyCommands } from './legacy/keys.js'
import { createAuthenticateLegacy, createLegacyKeyCommands } from './legacy/keys.js'
import { createLegacyQueries, type LegacyQueries } from './legacy/lookup-and-verify.js'
import type { DeliveryCommands, EndpointCommands } from './notifications/delivery-commands.js'
import { createDeliveryCommands, createEndpointCommands } from './notifications/delivery-commands.js'
import type { DispatcherOptions } from './notifications/dispatch-run.js'
import { createDispatcher, type Dispatcher } from './notifications/dispatcher.js'
import { createDeliveryStreams, type DeliveryStreams } from './notifications/streams.js'
import { createOperatorCommands, type OperatorCommands } from './operators/operator-commands.js'
import { createOperatorSessions, type OperatorSessions } from './operators/operator-sessions.js'
import type { ScryptCost } from './operators/passphrase.js'
import { applyUpdates, checkUpdate, type JoinedUpdate, type UpdateOutcomes } from './payments/apply-updates.js'
import { createCursorCodec } from './payments/cursor.js'
import { createReceiptPoller } from './payments/receipts.js'
import { createUpdateQueue, maxUpdatesPerCommit } from './payments/receive-updates.js'
import type { Recording } from './payments/recording.js'
import type { Chain, FulfillmentSource, ReceiptSource } from './ports/chain.js'
import type { Clock, IdSource, Logger, RandomSource, Sender } from './ports/runtime.js'
import { silentLogger, systemClock, systemIds, systemRandom } from './ports/runtime.js'
import type { Store } from './ports/store.js'
import type { LeaseCommands, LoopRoles, RunningProcess, RunOptions } from './processes/processes.js'
import { createLeaseCommands, createPresence, listProcesses, runLoops } from './processes/processes.js'
import { createQueries, type Queries } from './queries.js'
import type { MasterKey, SealedSecret } from './secrets/keys.js'
import { openSecret } from './secrets/seal.js'

/** The commands of one actor. The audit log records each under the actor's name. */
export interface ActorCommands {
  readonly integrations: IntegrationCommands
  readonly legacyKeys: LegacyKeyCommands
  readonly deliveries: DeliveryCommands
  readonly chains: ChainCommands
  readonly operators: OperatorCommands
  readonly accounts: AccountCommands
  /** Null when no identity provider was given. */
  readonly identity: IdentityActions | null
  readonly endpoints: EndpointCommands
  readonly history: HistoryCommands
  readonly moves: MoveCommands
  readonly leases: LeaseCommands
  readonly exportRows: ExportRows
  /** Adds an audit record for an action that changes no stored data. It contains no secret and no e-mail address. */
  recordAction(
    action: AuditNote & { action: 'integration.receiver_probed' | 'identity.searched' | 'job.stopped' },
  ): Promise<void>
}

/** The whole service. Commands that are called on it are recorded in the audit log under `ServiceDeps.actor`. */
export interface Service extends ActorCommands {
  readonly store: Store
  /** Resolves the caller; null for any failure. `authorization` is the header's value. Source: docs/interface.md 5. */
  authenticate(authorization: string | null | undefined): Promise<Caller | null>
  /** Reads for pages and APIs. */
  readonly queries: Queries
  /** Resolves the caller of a legacy key, bare or `Bearer <key>`; null for any failure. Source: docs/interface.md 5. */
  authenticateLegacy(authorization: string | null | undefined): Promise<LegacyCaller | null>
  readonly legacy: LegacyQueries
  /**
   * Applies a processor's update; idempotent by its id.
   * @throws UpdateConflictError `ERR_UPDATE_CONFLICT`.
   * @throws TypeError When the update does not have the contract's shape, or inside a transaction of the store.
   */
  applyUpdate(update: ProcessorUpdate): Promise<UpdateResult>
  /**
   * Applies updates in their order, at most 100 in one transaction. Resolves the outcome of each update: rejected with
   * an `UpdateConflictError` when the id was used with other content.
   * @throws TypeError As `applyUpdate`; then nothing is read or written.
   * @throws StoreError When the store fails. Earlier updates may be applied; it is safe to repeat all of them.
   */
  applyUpdates(updates: readonly ProcessorUpdate[]): Promise<readonly PromiseSettledResult<UpdateResult>[]>
  /**
   * Applies an update inside a transaction of the host, such as one from `joinPostgresTransaction` of store-sql. The
   * update, version, snapshot and delivery are committed or rolled back together with the host's own rows.
   * @throws UpdateConflictError `ERR_UPDATE_CONFLICT`.
   */
  applyUpdateIn(within: Pick<Store, 'transaction'>, update: ProcessorUpdate): Promise<JoinedUpdate>
  /** Commands of an actor, such as `operatorActor(name)`. @throws RangeError If blank or longer than 200 characters. */
  actingAs(actor: string): ActorCommands
  readonly operatorSessions: OperatorSessions
  /** Sessions of integrations at the portal. Source: docs/decisions/operators.md. */
  readonly integrationSessions: IntegrationSessions
  /** Streams of deliveries for receivers without a public address. Source: docs/decisions/trigger-and-listen.md. */
  readonly deliveryStreams: DeliveryStreams
  readonly audit: AuditQueries
  readonly indexers: readonly Indexer[]
  readonly dispatcher: Dispatcher
  /** Null when no receipt source was given. */
  readonly receipts: Poller | null
  /** Null when no fulfillment source was given. */
  readonly fulfillments: Poller | null
  /** Null when no identity provider was given. */
  readonly identity: Identity | null
  /** The processes on this database as they report themselves, the oldest first. A killed one is listed for a day. */
  readonly processes: { list(): Promise<RunningProcess[]> }
  /** Runs loops until the signal aborts, then drains them. Any number of processes may share the work. */
  run(signal: AbortSignal, options?: RunOptions): Promise<void>
}

const allLoops: LoopRoles = { dispatcher: true, poller: true, indexer: 'all' }

/** The result of the only update. @throws The reason of its rejection. */
function getResult([outcome]: UpdateOutcomes): UpdateResult {
  if (outcome?.status !== 'fulfilled') throw outcome?.reason
  return outcome.value
}

/** A chain to follow. */
export interface FollowedChain extends Pick<IndexerOptions, 'startBlock' | 'pollMs' | 'leaseMs'> {
  readonly chain: Chain
}

/** The ports and options of a host. */
export interface ServiceDeps {
  /** A migrated store. */
  readonly store: Store
  /** Posts deliveries, such as `createUndiciSender` of the server package. */
  readonly sender: Sender
  /** The key outside the database. */
  readonly masterKey: MasterKey
  /** @default none: a service that only reads and delivers */
  readonly chains?: readonly FollowedChain[] | undefined
  /** Polled for payment states every `everyMs` ms, by default 15000. @default none: only updates change them */
  readonly receipts?: { readonly source: ReceiptSource; readonly everyMs?: number | undefined } | undefined
  /** Polled for fulfillments every `everyMs` ms, by default 5000. @default none: bridge deposits wait */
  readonly fulfillments?: { readonly source: FulfillmentSource; readonly everyMs?: number | undefined } | undefined
  /** Sharing of identity verifications. @default none: the endpoint answers `not enabled` */
  readonly identity?: IdentityOptions | undefined
  /**
   * `own`: only payments that name an integration of the store are recorded, with their deposits and updates. Use it
   * for one of several cells. All processes on a database need the same value. @default 'all'
   */
  readonly recording?: Recording | undefined
  /**
   * Confirmations until a payment is final, by chain; null: never. They set the legacy flag `final` and the deepest
   * followed reorg. @default for other chains, the number of docs/interface.md 8, or never
   */
  readonly confirmations?: Confirmations | undefined
  /**
   * Largest extra fee of a payment that the legacy verify accepts, in basis points of the gross amount, 0 to 10000. The
   * payer chooses the extra fee and may also receive it. @default 100
   */
  readonly maxExtraFeeBps?: number | undefined
  /** Dev only: accept `http:` notification URLs to this machine. @default false */
  readonly allowLoopbackHttp?: boolean | undefined
  /**
   * Whether the operator denies an address as the host of a notification URL. Give the sender the same rule, because it
   * resolves host names. @default none is denied
   */
  readonly isDeniedAddress?: ((address: string) => boolean) | undefined
  /** The actor in the audit log. @default 'service' */
  readonly actor?: string | undefined
  /** Tests only: cheap hashes of operators' passphrases. @default OWASP's cost: N = 2^17, r = 8, p = 1 */
  readonly passphraseCost?: ScryptCost | undefined
  /** Limits of POSTs in flight, leases and blocks. @default those of {@link DispatcherOptions} */
  readonly delivery?: DispatcherOptions | undefined
  /** Receives every event. @default none */
  readonly onEvent?: EventSink | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default the system's */
  readonly random?: RandomSource | undefined
  /** @default random UUIDs */
  readonly ids?: IdSource | undefined
  /** @default none */
  readonly logger?: Logger | undefined
}

/**
 * Creates the service. Nothing runs until `run` is called; reading, updates and commands work at once.
 * @throws RangeError When an option is out of range. Its methods reject with a {@link CoreError}, such as
 * `ERR_STORE_UNAVAILABLE` or `ERR_INTEGRATION_NOT_FOUND`; docs/errors.md lists the codes.
 * @example
 * import { createService, parseMasterKey } from '@payment-integration/core'
 * import { createUndiciSender } from '@payment-integration/server'
 * import { createSqliteStore } from '@payment-integration/store-sql/sqlite'
 * const store = createSqliteStore({ path: './payments.db' })
 * await store.migrate()
 * const masterKey = parseMasterKey(process.env['MASTER_KEY'] ?? '')
 * const service = createService({ store, sender: createUndiciSender(), masterKey })
 * await service.run(new AbortController().signal)
 */
export function createService(deps: ServiceDeps): Service {
  const { store, sender, masterKey, chains = [], receipts, fulfillments, recording = 'all', onEvent } = deps
  const { clock = systemClock, random = systemRandom, logger = silentLogger, actor = 'service' } = deps
  const transaction: Store['transaction'] = (work) => store.transaction(work)
  const shared = { store, transaction, recording, sender, keys: masterKey, clock, random, logger, publish }
  const openSigningSecret = (sealed: SealedSecret, address: string) => openSecret(masterKey, address, sealed)

  function publish(event: ServiceEvent): void {
    if (event.type === 'payment.indexed' || event.type === 'payment.changed') {
      dispatcher.wake()
      deliveryStreams.wake()
    }
    try {
      onEvent?.(event)
    } catch (error) {
      const fields = { eventType: event.type, error: describeError(error) }
      logger.error(fields, 'An event sink threw; its exception is ignored.')
    }
  }

  async function applyAndPublish(updates: readonly ProcessorUpdate[], rule = recording): Promise<UpdateOutcomes> {
    const { outcomes, events } = await applyUpdates(store, updates, rule)
    events.forEach(publish)
    return outcomes
  }
  const queue = createUpdateQueue(
    (updates) => applyAndPublish(updates),
    () => store.assertNotNested(),
  )
  const applyUpdate = async (update: ProcessorUpdate) => getResult(await queue([checkUpdate(update)]))
  async function applyAll(updates: readonly ProcessorUpdate[], apply = queue): Promise<UpdateOutcomes> {
    const checked = updates.map(checkUpdate)
    const outcomes: PromiseSettledResult<UpdateResult>[] = []
    for (let from = 0; from < checked.length; from += maxUpdatesPerCommit)
      outcomes.push(...(await apply(checked.slice(from, from + maxUpdatesPerCommit))))
    return outcomes
  }

  const dispatcher = createDispatcher({ ...shared, openSecret: openSigningSecret, options: deps.delivery })
  const finality = createFinality(deps.confirmations)
  /** The holder of this process's leases. */
  const processId = Buffer.from(random.bytes(16)).toString('hex')
  const indexers = chains.map((followedChain) => {
    const finalityBlocks = finality.confirmations(followedChain.chain.chainId)
    return createIndexer({ ...followedChain, ...shared, finalityBlocks, holder: processId })
  })
  const receiptPoller = receipts ? createReceiptPoller({ ...shared, ...receipts, applyUpdate }) : null
  const followed = new Set(chains.map(({ chain }) => chain.chainId))
  const fulfillmentPoller = fulfillments ? createFulfillmentPoller({ ...shared, ...fulfillments, followed }) : null
  const identity = deps.identity
    ? createIdentity({ ...shared, ...deps.identity, masterKey, ids: deps.ids ?? systemIds, actor })
    : null
  const credentialCache = createCredentialCache<AcceptedSecret>({ clock, random })
  const legacyKeyCache = createCredentialCache<LegacyCaller>({ clock, random })
  const nextTestAt = new Map<string, number>()

  function actingAs(name: string): ActorCommands {
    const audited = createAudited({ ...shared, actor: name })
    /** As `audited`, and clears a cache of credentials after each change. */
    const createClearingAudited = (cache: Parameters<typeof clearAfterChanges>[1]) =>
      createAudited({ ...shared, transaction: clearAfterChanges(transaction, cache), actor: name })
    const { confirmations, isDeniedAddress, allowLoopbackHttp = false } = deps
    const common = { ...shared, integrations: store.integrations, audited, onDue: () => dispatcher.wake() }
    const integrationDeps = {
      ...common,
      chains: store.chains,
      followed: [...followed],
      isDeniedAddress,
      allowLoopbackHttp,
      audited: createClearingAudited(credentialCache),
      // `all`: an update that names no integration waited in the former cell, so it waits here too.
      applyUpdates: (updates: readonly ProcessorUpdate[]) => applyAll(updates, (part) => applyAndPublish(part, 'all')),
    }
    const legacyKeyDeps = { legacyKeys: store.legacyKeys, audited: createClearingAudited(legacyKeyCache) }
    const integrations = createIntegrationCommands(integrationDeps)
    return {
      integrations,
      moves: createMoveCommands({ ...integrationDeps, setEnabled: integrations.setEnabled }),
      legacyKeys: createLegacyKeyCommands({ ...common, ...legacyKeyDeps }),
      deliveries: createDeliveryCommands({ ...common, deliveries: store.deliveries }),
      accounts: createAccountCommands({ ...common, accounts: store.accounts }),
      identity: identity?.actingAs(name) ?? null,
      chains: createChainCommands({ ...common, chains: chains.map(({ chain }) => chain), confirmations }),
      operators: createOperatorCommands({ ...common, operators: store.operators }),
      endpoints: createEndpointCommands({ ...common, nextTestAt }),
      history: createHistoryCommands(common),
      leases: createLeaseCommands(store.leases, audited),
      exportRows: createExportRows(audited),
      recordAction: (action) => recordNote(audited, action),
    }
  }

  const sessionDeps = { ...shared, auditedAs: (name: string) => createAudited({ ...shared, actor: name }) }
  const audit = createAuditQueries({ audit: store.audit, keys: masterKey })
  const announcer = createHeadAnnouncer({ ...shared, audit })
  const authenticate = createAuthenticate({ ...shared, integrations: store.integrations, cache: credentialCache })
  const deliveryStreams = createDeliveryStreams({ ...shared, authenticate, openSecret: openSigningSecret })

  return {
    store,
    authenticate,
    deliveryStreams,
    queries: createQueries(store, createCursorCodec(masterKey)),
    authenticateLegacy: createAuthenticateLegacy({ ...shared, legacyKeys: store.legacyKeys, cache: legacyKeyCache }),
    legacy: createLegacyQueries({ ...deps, payments: store.payments, accounts: store.accounts }),
    applyUpdate,
    applyUpdates: applyAll,
    async applyUpdateIn(within, update) {
      const { outcomes, events } = await applyUpdates(within, [checkUpdate(update)], recording)
      return { result: getResult(outcomes), committed: () => events.forEach(publish) }
    },
    ...actingAs(actor),
    actingAs,
    operatorSessions: createOperatorSessions({ ...sessionDeps, operators: store.operators, cost: deps.passphraseCost }),
    integrationSessions: createIntegrationSessions({ ...sessionDeps, integrations: store.integrations }),
    audit,
    indexers,
    dispatcher,
    receipts: receiptPoller,
    fulfillments: fulfillmentPoller,
    identity,
    processes: { list: () => listProcesses(store.leases) },
    async run(signal, { roles = allLoops, process: facts } = {}) {
      const pollers = [receiptPoller, fulfillmentPoller, identity, announcer].filter((each) => each !== null)
      const loops = [
        ...(roles.dispatcher ? [dispatcher] : []),
        ...(roles.poller ? pollers : []),
        ...indexers.filter(({ chainId }) => roles.indexer === 'all' || roles.indexer.includes(chainId)),
        ...(facts ? [createPresence({ leases: store.leases, clock, logger, id: processId, facts })] : []),
      ]
      await runLoops(loops, signal)
    },
  }
}
