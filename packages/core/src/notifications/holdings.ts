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
    count(byEndpoint, endpointOf(holder.notificationUrl), by)
    count(byIntegration, holder.integrationAddress, by)
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

function isAgain({ attempt, replay, probe }: SlotHolder): boolean {
  return replay || probe || attempt > 1
}

function count(counts: Map<string, number>, name: string, by: number): void {
  const now = (counts.get(name) ?? 0) + by
  if (now > 0) counts.set(name, now)
  else counts.delete(name)
}
