/** Events that an operator acts on, as lines of the log. @module */
import type { EventSink, Logger } from '@payment-integration/core'

/** Builds the sink: endpoints that fail or answer again, and deliveries that are given up. Metrics count the rest. */
export function createEventLog(logger: Pick<Logger, 'info' | 'warn'>): EventSink {
  return (event) => {
    switch (event.type) {
      case 'endpoint.failing': {
        const { type: eventType, integrationAddress, failingMs } = event
        const fields = { eventType, integrationAddress, failingMs }
        return logger.warn(fields, 'An endpoint of notifications fails; it is probed until it answers.')
      }
      case 'endpoint.recovered': {
        const { type: eventType, integrationAddress, failingMs } = event
        return logger.info({ eventType, integrationAddress, failingMs }, 'An endpoint of notifications answers again.')
      }
      case 'delivery.exhausted': {
        const { type: eventType, deliveryId, integrationAddress, chainId, txHash, version, reason } = event
        const fields = { eventType, deliveryId, integrationAddress, chainId, txHash, version, reason }
        return logger.warn(fields, 'A delivery is given up; it stays listed and can be replayed.')
      }
    }
  }
}
