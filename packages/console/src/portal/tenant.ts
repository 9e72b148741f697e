/**
 * One integration's rows and commands: all that a page or an act of the portal can reach. Every read and every command
 * takes the address of the session, so no parameter of a request can name another integration.
 * @module
 */
import type { IntegrationQueries, IntegrationView, SentTest, Service } from '@payment-integration/core'
import { integrationActor } from '@payment-integration/core/operators'
import type {
  AttemptRecord,
  ConsolePage,
  DeliveryFilter,
  DeliveryView,
  EndpointView,
  StoredPayment,
} from '@payment-integration/core/ports'
import { type Compared, readSnapshot, type Snapshot, shownVersions } from '../pages/snapshots.js'

/** The parts of the service that the portal uses. */
export type PortalService = Pick<Service, 'queries' | 'actingAs' | 'integrationSessions'>

/** A payment with its snapshots and deliveries. */
export interface TenantPayment {
  readonly payment: StoredPayment
  /** Oldest first. */
  readonly snapshots: readonly Snapshot[]
  readonly deliveries: readonly DeliveryView[]
}

/** An integration, as its own portal sees and changes it. */
export interface Tenant {
  /** Lowercased. */
  readonly address: string
  integration(): Promise<IntegrationView>
  /** The listing of the read API. */
  payments: IntegrationQueries['listPayments']
  /** Null: this integration has none under the hash on that chain. */
  payment(chainId: number, txHash: string, compare: Compared): Promise<TenantPayment | null>
  /** Deliveries, newest first. */
  deliveries(
    query: Omit<DeliveryFilter, 'integrationAddress'> & { readonly beforeId?: string | undefined },
  ): Promise<ConsolePage<DeliveryView, string>>
  /** Failures in a row at the endpoint; null: the last attempt succeeded, or there was none. */
  health(): Promise<EndpointView | null>
  /** The newest failed attempt, of the last 50; null: none of them failed. */
  lastFailure(): Promise<(AttemptRecord & { readonly deliveryId: string }) | null>
  /** @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`, the same for an unknown id and for a delivery of another one. */
  replay(deliveryId: string): Promise<DeliveryView>
  sendTest(): Promise<SentTest>
  setNotificationUrl(url: string | null): Promise<void>
  /** @returns The new API secret. */
  rotateApiSecret(graceMs: number): Promise<string>
  endPreviousApiSecret(): Promise<void>
  /** @returns The prepared signing secret. */
  prepareSigningSecret(): Promise<string>
  activateSigningSecret(graceMs: number): Promise<void>
  abortSigningSecret(): Promise<void>
  endPreviousSigningSecret(): Promise<void>
}

/** Rows on a page. */
const pageSize = 50

/** The integration of a session. @param address - From the session, never from a request. */
export function tenantOf({ queries, actingAs }: PortalService, address: string): Tenant {
  const own = queries.forIntegration(address)
  const commands = actingAs(integrationActor(address))
  const { integrations, deliveries, endpoints } = commands

  return {
    address,
    integration: () => integrations.get(address),
    payments: own.listPayments,
    async payment(chainId, txHash, compare) {
      const found = await own.paymentDetail(chainId, txHash, (payment) => shownVersions(payment, compare))
      return found === null ? null : { ...found, snapshots: found.snapshots.map(readSnapshot) }
    },
    deliveries: (query) => own.deliveries({ limit: pageSize, ...query }),
    health: own.endpoint,
    lastFailure: own.lastFailure,
    replay: (deliveryId) => deliveries.replay(deliveryId, { integrationAddress: address }),
    sendTest: () => endpoints.sendTest(address),
    async setNotificationUrl(url) {
      await integrations.setNotificationUrl(address, url)
    },
    async rotateApiSecret(graceMs) {
      // A reloaded answer posts once more: it must not end the secret that still works.
      return (await integrations.rotateApiSecret(address, { graceMs, keepsPrevious: true })).apiSecret
    },
    endPreviousApiSecret: () => integrations.endPreviousApiSecret(address),
    async prepareSigningSecret() {
      return (await integrations.prepareSigningSecret(address, { isShownAgain: false })).signingSecret
    },
    async activateSigningSecret(graceMs) {
      await integrations.activateSigningSecret(address, { graceMs })
    },
    abortSigningSecret: () => integrations.abortSigningSecret(address),
    endPreviousSigningSecret: () => integrations.endPreviousSigningSecret(address),
  }
}
