/** Ends waits that a clock which was ahead has written. See docs/decisions/clocks.md. @module */
import type { DeliveryStore } from '@payment-integration/core/ports'
import type { Engine } from '../engine.js'
import { checkInteger } from '../internal/checks.js'
import { run } from '../internal/statement.js'
import { nullableInteger } from '../internal/values.js'
import type { Integer } from '../schema/integer.js'

/** Rows that one transaction looks at: others of the process wait for it, on an embedded database. */
const rowsAtOnce = 10_000

/**
 * Builds `endFutureWaits`. It reads the whole outbox, which holds unfinished deliveries alone. A locked row is being
 * claimed or settled, so it is left for the next call.
 */
export function createEndFutureWaits({ transaction, dialect }: Engine): DeliveryStore['endFutureWaits'] {
  const { name, nowText, skipLocked } = dialect
  return async ({ leaseMs, retryMs, blockMs }) => {
    for (const ms of [leaseMs, ...retryMs, blockMs]) checkInteger(ms, 'ms')
    const longestRetry = `case d.attempted - d.schedule_from
      ${retryMs.map((ms, index) => `when ${index + 1} then ${ms}`).join(' ')} else ${Math.max(leaseMs, ...retryMs)} end`
    const longestWait = `case when d.claim_token is null and d.lane = 1 then ${longestRetry} else ${leaseMs} end`

    /** Looks at the deliveries after an id. Null as the last id: there is none. */
    const endAfter = (after: number) =>
      transaction(async (db) => {
        const [part] = await run<{ last: Integer | null }>(
          db,
          dialect,
          (parameter) => `select max(p.id) as last from (
            select q.id from ${name('outbox')} q where q.id > ${parameter(after)} order by q.id limit ${rowsAtOnce}) p`,
        )
        const last = nullableInteger(part?.last ?? null)
        if (last === null) return { last, ended: 0 }
        const ended = await run<unknown>(db, dialect, (parameter) => {
          const now = nowText(parameter)
          return `update ${name('outbox')} set due_at = ${now} where id in (
              select d.id from ${name('outbox')} d where d.id > ${parameter(after)} and d.id <= ${parameter(last)}
                and d.due_at > ${now} + ${longestWait}${skipLocked('d')}) returning id`
        })
        return { last, ended: ended.length }
      })

    const endpoints = await transaction((db) =>
      run<unknown>(db, dialect, (parameter) => {
        const now = nowText(parameter)
        return `update ${name('endpoints')} set blocked_until = ${now} where integration in (
            select e.integration from ${name('endpoints')} e where e.blocked_until > ${now} + ${blockMs}${skipLocked('e')}
          ) returning integration`
      }),
    )
    let total = endpoints.length
    for (let after: number | null = 0; after !== null; ) {
      const { last, ended } = await endAfter(after)
      total += ended
      after = last
    }
    return total
  }
}
