/** Logs every answered request with `PI_ACCESS_LOG=on`. Source: docs/observability.md. @module */
import type { Logger } from '@payment-integration/core/ports'
import type { RequestObserver } from '../app/observe-requests.js'

/** Builds the observer. A line has method, route pattern, status, milliseconds and the request id. */
export function createAccessLog(logger: Pick<Logger, 'info'>): RequestObserver {
  return ({ method, route, status, ms, requestId }) =>
    logger.info({ method, route, status, ms: Math.round(ms * 10) / 10, requestId }, 'A request was answered.')
}
