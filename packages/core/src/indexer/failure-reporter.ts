/** Decides the backoff after failed steps and reports outages. Source: docs/decisions/following-a-chain.md. @module */
import type { EventSink } from '../events.js'
import { backoffCapMs, backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import type { Logger, Random } from '../ports/world.js'
import { BrokenHistoryError } from './broken-history-error.js'
import { ChainAdapterError } from './chain-adapter-error.js'
import { DeepReorganisationError } from './deep-reorganisation-error.js'

/** Failures in a row before `chain.failed` is published: endpoints often fail once. */
const failuresToReport = 3

/** Errors that only an operator can end. */
const stops = [BrokenHistoryError, ChainAdapterError, DeepReorganisationError] as const

/** Dependencies of a reporter. */
export interface FailureReporterDeps {
  readonly chainId: number
  readonly random: Pick<Random, 'fraction'>
  readonly publish: EventSink
  readonly logger: Logger
}

/** The failures of one chain in a row. */
export interface FailureReporter {
  /** Ends the row, after a success. */
  reset(): void
  /** Logs a failure, and publishes it when a report is due. Returns the backoff in milliseconds. */
  report(thrown: unknown): number
}

/** Builds a reporter without failures. */
export function createFailureReporter({ chainId, random, publish, logger }: FailureReporterDeps): FailureReporter {
  let failures = 0
  let reported: 'none' | 'outage' | 'stop' = 'none'
  return {
    reset() {
      failures = 0
      reported = 'none'
    },
    report(thrown) {
      failures += 1
      const stopped = stops.some((kind) => thrown instanceof kind)
      const message = describeError(thrown)
      const retryInMs = stopped ? backoffCapMs : backoffMs(failures, random.fraction())
      logger[stopped ? 'error' : 'warn']({ chainId, error: message, failures, retryInMs }, 'indexing failed')
      // A stop is reported even after a reported outage: only an operator can end it.
      const isReportDue = stopped ? reported !== 'stop' : reported === 'none' && failures >= failuresToReport
      if (isReportDue) {
        reported = stopped ? 'stop' : 'outage'
        publish({ type: 'chain.failed', chainId, message })
      }
      return retryInMs
    },
  }
}
