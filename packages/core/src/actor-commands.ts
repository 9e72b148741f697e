/** Builds the commands of one actor, which the audit log records. Source: docs/decisions/audit.md. @module */
import type { ProcessorUpdate } from '@payment-integration/contract'
import type { EventSink } from './events.js'
import { type AuditNote, createAudited } from './history/audit-log.js'
import { createExportRows, type ExportRows } from './history/export.js'
import type { HistoryCommands } from './history/history-store.js'
import { createHistoryCommands } from './history/restore.js'
import type { Identity } from './identity/identity.js'
import type { IdentityActions } from './identity/operator-actions.js'
import { type ChainCommands, createChainCommands } from './indexer/reindex.js'
import { type CredentialCache, clearAfterChanges } from './integrations/authenticate.js'
import { createMoveCommands } from './integrations/import-integration.js'
import type { IntegrationCommands } from './integrations/integration.js'
import { createIntegrationCommands } from './integrations/integration-commands.js'
import type { MoveCommands } from './integrations/move-store.js'
import { type AccountCommands, createAccountCommands } from './legacy/accounts.js'
import type { Confirmations } from './legacy/finality.js'
import { createLegacyKeyCommands, type LegacyKeyCommands } from './legacy/keys.js'
import type { DeliveryCommands, EndpointCommands } from './notifications/delivery-commands.js'
import { createDeliveryCommands, createEndpointCommands } from './notifications/delivery-commands.js'
import { createOperatorCommands, type OperatorCommands } from './operators/operator-commands.js'
import type { UpdateOutcomes } from './payments/apply-updates.js'
import type { Recording } from './payments/recording.js'
import type { Chain } from './ports/chain.js'
import type { Clock, RandomSource, Sender } from './ports/runtime.js'
import type { Store } from './ports/store.js'
import { createLeaseCommands, type LeaseCommands } from './processes/processes.js'
import type { MasterKey } from './secrets/keys.js'

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

interface ActorCommandsDeps {
  readonly store: Store
  readonly keys: MasterKey
  readonly clock: Clock
  readonly random: RandomSource
  readonly chains: readonly Chain[]
  readonly confirmations: Confirmations | undefined
  readonly recording: Recording
  /** Receives the events of a repair of blocks. Must not throw. */
  readonly publish: EventSink
  readonly sender: Sender
  /** When each integration may send its next test delivery, in unix milliseconds. */
  readonly nextTestAt: Map<string, number>
  /** Recently accepted credentials of integrations. Each change of an integration clears the cache. */
  readonly credentialCache: Pick<CredentialCache<unknown>, 'forget'>
  /** Recently accepted legacy API keys. Each change of a key clears the cache. */
  readonly legacyKeyCache: Pick<CredentialCache<unknown>, 'forget'>
  readonly allowLoopbackHttp: boolean
  readonly isDeniedAddress?: ((address: string) => boolean) | undefined
  /** Null: no identity provider is configured. */
  readonly identity: Pick<Identity, 'actingAs'> | null
  /** Applies the updates that move with an integration, also those that name none. */
  readonly applyUpdates: (updates: readonly ProcessorUpdate[]) => Promise<UpdateOutcomes>
  /** Called when a command made deliveries due. */
  readonly onDue: () => void
}

/** @throws RangeError When the actor is blank or longer than 200 characters. */
export function createActorCommands(deps: ActorCommandsDeps, actor: string): ActorCommands {
  const { store, keys, clock } = deps
  const transaction: Store['transaction'] = (work) => store.transaction(work)
  const auditedIn = (transact: Store['transaction']) => createAudited({ transaction: transact, keys, clock, actor })
  const audited = auditedIn(transaction)
  const followed = deps.chains.map(({ chainId }) => chainId)
  const shared = { ...deps, integrations: store.integrations, followed, transaction, audited }
  const integrationDeps = {
    ...shared,
    chains: store.chains,
    audited: auditedIn(clearAfterChanges(transaction, deps.credentialCache)),
  }
  const integrations = createIntegrationCommands(integrationDeps)
  return {
    integrations,
    moves: createMoveCommands({ ...integrationDeps, setEnabled: integrations.setEnabled }),
    legacyKeys: createLegacyKeyCommands({
      ...shared,
      legacyKeys: store.legacyKeys,
      audited: auditedIn(clearAfterChanges(transaction, deps.legacyKeyCache)),
    }),
    deliveries: createDeliveryCommands({ ...shared, deliveries: store.deliveries }),
    accounts: createAccountCommands({ ...shared, accounts: store.accounts }),
    identity: deps.identity?.actingAs(actor) ?? null,
    chains: createChainCommands(shared),
    operators: createOperatorCommands({ ...shared, operators: store.operators }),
    endpoints: createEndpointCommands(shared),
    history: createHistoryCommands(shared),
    leases: createLeaseCommands(store.leases, audited),
    exportRows: createExportRows(audited),
    recordAction: (action) => audited(async (_tx, note) => note(action)),
  }
}
