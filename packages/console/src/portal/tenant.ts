/**
 * One integration's rows and commands: all that a page or an act of the portal can reach. Every read and every command
 * takes the address of the session, so no parameter of a request can name another integration.
 * @module
 */
import type { IntegrationView, PaymentQueries, SentTest, Service } from '@payment-integration/core'
import { integrationActor } from '@payment-integration/core/operators'
import type {
  AttemptRecord,
  ConsolePage,
  DeliveryFilter,
  DeliveryView,
  EndpointView,
  StoredPayment,
} from '@payment-integration/core/ports'
import { type Compared, snapshotsOf } from '../pages/snapshots-of.js'
import type { Snapshot } from '../pages/timeline.js'

/** The parts of the service that the portal uses. */
export type PortalService = Pick<Service, 'store' | 'payments' | 'actingAs' | 'integrationSessions'>

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
  payments(query: Parameters<PaymentQueries['list']>[1]): ReturnType<PaymentQueries['list']>
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
export function tenantOf({ store, payments, actingAs }: PortalService, address: string): Tenant {
  const caller = { integrationAddress: address }
  const commands = actingAs(integrationActor(address))
  const { integrations, deliveries, endpoints } = commands

  return {
    address,
    integration: () => integrations.get(address),
    payments: (query) => payments.list(caller, query),
    async payment(chainId, txHash, compare) {
      const found = await store.payments.findByHash({ ...caller, txHash })
      const payment = found.find((each) => each.chainId === chainId)
      if (payment === undefined) return null
      const [snapshots, all] = await Promise.all([
        snapshotsOf(store, payment, compare),
        store.console.deliveriesOf(payment.id),
      ])
      return { payment, snapshots, deliveries: all.filter((each) => each.integrationAddress === address) }
    },
    deliveries: (query) => store.console.deliveries({ limit: pageSize, ...query, ...caller }),
    health: () => store.deliveries.endpoint(address),
    lastFailure: () => store.console.lastFailure(address),
    replay: (deliveryId) => deliveries.replay(deliveryId, caller),
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
