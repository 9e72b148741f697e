/**
 * Limits reads and commands to one integration. In the portal, its address is always the session's, so that no
 * parameter of a request can name another integration.
 * @module
 */
import type { Service } from '@payment-integration/core'
import type { DeliveryFilter, IntegrationPaymentFilter } from '@payment-integration/core/internal'
import { integrationActor } from '@payment-integration/core/internal'
import { findDelivery } from '../pages/deliveries.js'
import { type Compared, listShownVersions, readSnapshot } from '../pages/snapshots.js'

export type PortalService = Pick<Service, 'queries' | 'actingAs' | 'integrationSessions'>

export type IntegrationScope = ReturnType<typeof createIntegrationScope>

const pageSize = 50

/** The reads and commands of one integration. @param address - In the portal, the session's; never from a request. */
export function createIntegrationScope(
  { queries, actingAs }: Pick<PortalService, 'queries' | 'actingAs'>,
  address: string,
  actor = integrationActor(address),
) {
  const { paymentDetail, ...reads } = queries.forIntegration(address)
  const { integrations, deliveries, endpoints, exportRows } = actingAs(actor)

  return {
    ...reads,
    address,
    integration: () => integrations.get(address),
    payments: (query: IntegrationPaymentFilter & { readonly cursor?: string | undefined; readonly limit?: number }) =>
      reads.payments({ limit: pageSize, ...query }),
    /** The payment with its snapshots, oldest first; null: this integration has no payment of that chain and hash. */
    async payment(chainId: number, txHash: string, compare: Compared) {
      const detail = await paymentDetail(chainId, txHash, (payment) => listShownVersions(payment, compare))
      return detail === null ? null : { ...detail, snapshots: detail.snapshots.map(readSnapshot) }
    },
    deliveries: (query: Omit<DeliveryFilter, 'integrationAddress'> & { beforeId?: string | undefined }) =>
      reads.deliveries({ limit: pageSize, ...query }),
    /** The delivery with the id of a link; null: unknown, or of another integration. */
    delivery: (id: string) => findDelivery(reads.deliveries, id),
    exportRows,
    /** @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`, for an unknown id and for another integration's delivery. */
    replay: (deliveryId: string) => deliveries.replay(deliveryId, { integrationAddress: address }),
    sendTest: () => endpoints.sendTest(address),
    setNotificationUrl: (url: string | null) => integrations.setNotificationUrl(address, url),
    /** Rotates the API secret. A reload posts the form again, which must not end a secret that still works. */
    rotateApiSecret: (graceMs: number) => integrations.rotateApiSecret(address, { graceMs, keepsPrevious: true }),
    endPreviousApiSecret: () => integrations.endPreviousApiSecret(address),
    prepareSigningSecret: () => integrations.prepareSigningSecret(address, { isShownAgain: false }),
    activateSigningSecret: (graceMs: number) => integrations.activateSigningSecret(address, { graceMs }),
    abortSigningSecret: () => integrations.abortSigningSecret(address),
    endPreviousSigningSecret: () => integrations.endPreviousSigningSecret(address),
  }
}
