/** Ends waits that a clock which was ahead has written. See docs/decisions/clocks.md. @module */
import type { DeliveryStore } from '@payment-integration/core/ports'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { run } from '../internal/statement.js'

/** Rows of one transaction. */
const groupSize = 1_000

/**
 * Builds `endFutureWaits`. It reads the whole outbox, which holds unfinished deliveries alone. A locked row is being
 * claimed or settled, so it is left for the next call.
 */
export function createEndFutureWaits({ transaction, dialect }: Engine): DeliveryStore['endFutureWaits'] {
  const { name, nowText, skipLocked } = dialect
  return async ({ leaseMs, retryMs, blockMs }) => {
    for (const ms of [leaseMs, ...retryMs, blockMs]) checkInteger(ms, 'ms')
    const longestRetry = `case attempted - schedule_from
      ${retryMs.map((ms, index) => `when ${index + 1} then ${ms}`).join(' ')} else ${Math.max(leaseMs, ...retryMs)} end`
    const longestWait = `case when claim_token is null and lane = 1 then ${longestRetry} else ${leaseMs} end`
    let ended = 0
    for (let changed = groupSize; changed >= groupSize; ended += changed)
      changed = await transaction(async (db) => {
        const deliveries = await run<unknown>(db, dialect, (parameter) => {
          const now = nowText(parameter)
          return `update ${name('outbox')} set due_at = ${now} where id in (
              select d.id from ${name('outbox')} d where d.due_at > ${now} + ${longestWait}
              limit ${groupSize}${skipLocked('d')}) returning id`
        })
        const endpoints = await run<unknown>(db, dialect, (parameter) => {
          const now = nowText(parameter)
          return `update ${name('endpoints')} set blocked_until = ${now} where integration in (
              select e.integration from ${name('endpoints')} e where e.blocked_until > ${now} + ${blockMs}
              limit ${groupSize}${skipLocked('e')}) returning integration`
        })
        return deliveries.length + endpoints.length
      })
    return ended
  }
}
