/** Reports router logs that were skipped. Source: docs/decisions/router.md. @module */
import type { QuarantinedLog } from '@payment-integration/chain-evm'
import type { EventSink } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import { describeError } from '../logging/describe-error.js'

/** Most logs in memory. A range that is read again reports its logs again, but each log is reported once. */
const maxRemembered = 10_000

/** Receivers of the report. An exception of `publish` is only logged: a watcher must not stop a chain. */
export interface QuarantineDeps {
  readonly logger: Logger
  readonly publish: EventSink
}

/** Builds the listener: each log is logged as a warning and published as `log.quarantined`, once. */
export function createQuarantine({ logger, publish }: QuarantineDeps): (log: QuarantinedLog) => void {
  const reported = new Set<string>()
  return ({ chainId, txHash, blockNumber, logIndex, router, reason }) => {
    const key = `${chainId}:${blockNumber}:${txHash}:${logIndex}`
    if (reported.has(key)) return
    reported.add(key)
    for (const oldest of reported) {
      if (reported.size <= maxRemembered) break
      reported.delete(oldest)
    }
    const facts = { chainId, txHash, blockNumber, logIndex, reason }
    logger.warn({ ...facts, router: router.address }, 'A router log is no payment and is skipped; inspect it.')
    try {
      publish({ type: 'log.quarantined', ...facts })
    } catch (error) {
      logger.error({ eventType: 'log.quarantined', ...describeError(error) }, 'An event sink threw; it is ignored.')
    }
  }
}
