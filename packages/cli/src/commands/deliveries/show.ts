/** `payment-integration deliveries show` and `endpoints`. @module */
import type { ExitCode, Io } from '../../io.js'
import { type OperateOptions, withService } from '../with-service.js'
import { deliveryText, endpointsText } from './text.js'

/** Prints a delivery with every attempt. @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`. */
export function showDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const delivery = await deliveries.find(deliveryId)
    report({ event: 'delivery', delivery }, (event) => deliveryText(event.delivery))
  })
}

/** Prints every endpoint with failures in a row. With `json`, one object each and nothing when there is none. */
export function listEndpoints(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const endpoints = await deliveries.endpoints()
    if (options.json) for (const endpoint of endpoints) report({ event: 'endpoint', endpoint }, () => [])
    else if (endpoints.length === 0) io.out('No endpoint is failing.')
    else for (const line of endpointsText(endpoints)) io.out(line)
  })
}
