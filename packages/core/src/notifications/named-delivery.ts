/** What a delivery is called. @module */
import type { ClaimedDelivery } from '../ports/store-deliveries.js'

type Named = Pick<ClaimedDelivery, 'deliveryId' | 'chainId' | 'txHash' | 'integrationAddress' | 'version' | 'attempt'>

/** What names a delivery in events and logs: no URL, no body, no secret. */
export function namedDelivery(delivery: Named): Named {
  const { deliveryId, chainId, txHash, integrationAddress, version, attempt } = delivery
  return { deliveryId, chainId, txHash, integrationAddress, version, attempt }
}
