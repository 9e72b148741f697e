/** Deliveries counted by whose slots they take. Source: docs/decisions/fairness.md. @module */
import type { ClaimedDelivery } from '../ports/store-deliveries.js'
import { endpointOf } from './endpoint-of.js'

/** What tells whose slot a delivery takes, and whether it is a retry. */
export type SlotHolder = Pick<
  ClaimedDelivery,
  'integrationAddress' | 'notificationUrl' | 'attempt' | 'replay' | 'probe'
>

/** How many there are. */
export interface HoldingCounts {
  readonly all: number
  /** Retries, replays and probes among them. */
  readonly again: number
  /** By endpoint, as `endpointOf` names it; what is not there is 0. */
  readonly byEndpoint: ReadonlyMap<string, number>
  /** By integration; what is not there is 0. */
  readonly byIntegration: ReadonlyMap<string, number>
}

/** Counts that change. */
export interface Holdings extends HoldingCounts {
  add(holder: SlotHolder): void
  remove(holder: SlotHolder): void
}

const none: HoldingCounts = { all: 0, again: 0, byEndpoint: new Map(), byIntegration: new Map() }

/** Counts that begin with a copy, or with none. */
export function createHoldings(begin = none): Holdings {
  const byEndpoint = new Map(begin.byEndpoint)
  const byIntegration = new Map(begin.byIntegration)
  let { all, again } = begin
  function change(holder: SlotHolder, by: 1 | -1): void {
    all += by
    if (isAgain(holder)) again += by
    changeOne(byEndpoint, endpointOf(holder.notificationUrl), by)
    changeOne(byIntegration, holder.integrationAddress, by)
  }
  return {
    get all() {
      return all
    },
    get again() {
      return again
    },
    byEndpoint,
    byIntegration,
    add: (holder) => change(holder, 1),
    remove: (holder) => change(holder, -1),
  }
}

/** Whether it takes one of the slots that retries, replays and probes share. */
export function isAgain({ attempt, replay, probe }: SlotHolder): boolean {
  return replay || probe || attempt > 1
}

/** What is in hand: posted, or waiting for a slot. */
export interface InHand {
  readonly inHand: HoldingCounts
  readonly posting: HoldingCounts
  /** How many posts are expected to end soon; of no endpoint more than are being posted count. */
  readonly ending: HoldingCounts
}

/**
 * What is left when those posts have ended: of all, the slots that are taken; of the others, what is in hand. What waits gets the slots that become free first, so
 * that as many fewer count as ended.
 */
export function afterEnding({ inHand, posting, ending }: InHand): HoldingCounts {
  const gone = (held: number, posted: number, ends: number) => Math.max(0, Math.min(ends, posted) - (held - posted))
  const less = (name: 'byEndpoint' | 'byIntegration') => {
    const left = new Map(inHand[name])
    for (const [key, ends] of ending[name])
      changeOne(left, key, -gone(inHand[name].get(key) ?? 0, posting[name].get(key) ?? 0, ends))
    return left
  }
  let ends = 0
  for (const [endpoint, count] of ending.byEndpoint) ends += Math.min(count, posting.byEndpoint.get(endpoint) ?? 0)
  return {
    all: posting.all - gone(inHand.all, posting.all, ends),
    again: inHand.again - gone(inHand.again, posting.again, ending.again),
    byEndpoint: less('byEndpoint'),
    byIntegration: less('byIntegration'),
  }
}

function changeOne(counts: Map<string, number>, name: string, by: number): void {
  const now = (counts.get(name) ?? 0) + by
  if (now > 0) counts.set(name, now)
  else counts.delete(name)
}
