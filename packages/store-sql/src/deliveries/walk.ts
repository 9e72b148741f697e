/** Going from one integration with pending deliveries to the next. @module */
import type { DueWalk, Lane, Parameter } from '../engine.js'

/** Sorts behind every address. */
export const lastAddress = '~'

/**
 * The text of a common table expression `walk<lane>`: the integrations with pending deliveries in a lane, by address, found with one
 * search of the index each. Its last row may be null, or lie behind the end.
 * @param outbox - The table's name.
 */
export function walkText(outbox: string, { lane, after, upTo }: DueWalk, parameter: Parameter): string {
  const next = (than: string) => `(select d.integration from ${outbox} d
      where d.lane = ${lane} and d.integration > ${than} order by d.integration limit 1)`
  return `${walkName(lane)} (integration) as (
    select ${next(parameter(after))} union all
    select ${next('w.integration')} from ${walkName(lane)} w where w.integration < ${parameter(upTo)}
  )`
}

/** The name of {@link walkText}. */
export const walkName = (lane: Lane): string => `walk${lane}`
