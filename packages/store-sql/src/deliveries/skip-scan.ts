/** Skip scan of the outbox: finds each integration with deliveries in a lane by one index search. @module */
import type { DueScan, Lane, Parameter } from '../engine.js'
import { keyBytes } from '../internal/hex.js'

/** Sorts after every address. */
export const lastAddress = `0x${'ff'.repeat(21)}`

/**
 * The text of a common table expression that lists the integrations of a scan. Its last row may be null, or lie after
 * the end of the scan.
 * @param outbox - The table's name.
 */
export function scanText(outbox: string, { lane, after, upTo }: DueScan, parameter: Parameter): string {
  const next = (than: string) => `(select d.integration from ${outbox} d
      where d.lane = ${lane} and d.integration > ${than} order by d.integration limit 1)`
  return `${scanName(lane)} (integration) as (
    select ${next(parameter(keyBytes(after)))} union all
    select ${next('w.integration')} from ${scanName(lane)} w where w.integration < ${parameter(keyBytes(upTo))}
  )`
}

/** The name of {@link scanText}. */
export const scanName = (lane: Lane): string => `scan${lane}`
