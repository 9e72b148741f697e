/** `payment-integration deliveries replay`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { heldBy, heldText } from './held.js'

/**
 * Makes one delivery due now, whatever its status. A running server sends it, signed with the secret of that moment.
 * @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`, `ERR_DELIVERY_UNDER_WAY`.
 */
export function replayDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries, integrations }, report) => {
    const delivery = await deliveries.replay(deliveryId)
    const integration = (await integrations.list()).find(({ address }) => address === delivery.integrationAddress)
    const held = integration === undefined ? null : heldBy(integration)
    report({ event: 'delivery.replayed', delivery, held }, (event) => [
      event.held === null
        ? `Delivery ${deliveryId} is due now; deliveries show ${deliveryId} tells what comes of it.`
        : `Delivery ${deliveryId} is due, and ${heldText(event.held)}.`,
    ])
  })
}
