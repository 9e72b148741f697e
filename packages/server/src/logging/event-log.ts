/**
 * Logs the events that an operator acts on, and requests with `PI_ACCESS_LOG=on`. Source: docs/observability.md.
 * @module
 */

import type { EventSink } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { RequestObserver } from '../app/observe-requests.js'

/** Builds the observer. A line has method, route pattern, status, milliseconds and the request id. */
export function createAccessLog(logger: Pick<Logger, 'info'>): RequestObserver {
  return ({ method, route, status, ms, requestId }) =>
    logger.info({ method, route, status, ms: Math.round(ms * 10) / 10, requestId }, 'A request was answered.')
}

/**
 * Builds the sink. It logs endpoints that fail or recover, deliveries that are given up, payments hidden in area (a),
 * and the newest audit record. Metrics count the rest.
 */
export function createEventLog(logger: Pick<Logger, 'info' | 'warn'>): EventSink {
  return (event) => {
    switch (event.type) {
      case 'endpoint.failing': {
        const { type: eventType, integrationAddress, failingMs } = event
        const fields = { eventType, integrationAddress, failingMs }
        return logger.warn(fields, 'A notification endpoint fails; it is probed until it answers.')
      }
      case 'endpoint.recovered': {
        const { type: eventType, integrationAddress, failingMs } = event
        return logger.info({ eventType, integrationAddress, failingMs }, 'A notification endpoint has recovered.')
      }
      case 'payment.additional': {
        const { type: eventType, integrationAddress, chainId, txHash, ordinal } = event
        // A further payment without an integration was never visible in area (a), so nothing is hidden.
        if (integrationAddress === null) return
        const fields = { eventType, integrationAddress, chainId, txHash, ordinal }
        return logger.warn(
          fields,
          'A transaction holds several payments of an integration; only the legacy look-up shows this one.',
        )
      }
      case 'audit.head': {
        const { type: eventType, seq, hash } = event
        const fields = { eventType, seq, hash }
        return logger.info(
          fields,
          'Newest record of the audit log; audit verify --expect <seq>:<hash> checks that it still exists.',
        )
      }
      case 'delivery.exhausted': {
        const { type: eventType, deliveryId, integrationAddress, chainId, txHash, version, reason } = event
        const fields = { eventType, deliveryId, integrationAddress, chainId, txHash, version, reason }
        return logger.warn(fields, 'A delivery is given up; it stays listed and can be replayed.')
      }
    }
  }
}
