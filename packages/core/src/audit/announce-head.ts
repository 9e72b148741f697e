/**
 * Publishes the newest record of the audit log once a day, to be stored outside the database. Source:
 * docs/decisions/audit.md.
 * @module
 */
import type { ServiceEvent } from '../events.js'
import { backoffMs } from '../internal/backoff.js'
import { describeError } from '../internal/describe-error.js'
import type { Clock, Logger, Random } from '../ports/world.js'
import type { AuditQueries, Loop } from '../service-types.js'

/** Time between two announcements, in milliseconds. */
export const announceEveryMs = 24 * 60 * 60_000

/** The dependencies of the announcer. */
export interface AnnounceHeadDeps {
  readonly audit: Pick<AuditQueries, 'head'>
  readonly clock: Clock
  readonly random: Pick<Random, 'fraction'>
  readonly logger: Logger
  readonly publish: (event: ServiceEvent) => void
}

/** Builds a loop that publishes `audit.head` when it starts and every day after; an empty log has no head. */
export function createHeadAnnouncer({ audit, clock, random, logger, publish }: AnnounceHeadDeps): Loop {
  /** Resolves whether the log could be read. */
  async function announce(): Promise<boolean> {
    try {
      const head = await audit.head()
      if (head !== null) publish({ type: 'audit.head', ...head })
      return true
    } catch (error) {
      logger.warn({ error: describeError(error) }, 'The newest record of the audit log could not be read.')
      return false
    }
  }
  return {
    async run(signal) {
      let failures = 0
      while (!signal.aborted) {
        failures = (await announce()) ? 0 : failures + 1
        await clock.sleep(failures === 0 ? announceEveryMs : backoffMs(failures, random.fraction()), signal)
      }
    },
  }
}
