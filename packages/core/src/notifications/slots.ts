/** Counts the POSTs in flight and computes the free slots. See docs/decisions/fairness.md. @module */
import type { ClaimedDelivery } from '../ports/store-deliveries.js'
import { endpointOf } from './endpoint-of.js'

/** The facts of a delivery that decide which limits its slot counts for. */
export type SlotUser = Pick<ClaimedDelivery, 'integrationAddress' | 'notificationUrl' | 'attempt' | 'replay' | 'probe'>

/** The free slots at one moment. Later changes do not alter them. */
export interface FreeSlots {
  /** The parts of a `ClaimRequest` that describe slots. */
  readonly request: {
    readonly limit: number
    readonly maxRetries: number
    /** Undefined where one endpoint may take all slots. */
    readonly freeSlots: number | undefined
    readonly inFlightByEndpoint: ReadonlyMap<string, number>
    readonly inFlightByIntegration: ReadonlyMap<string, number>
  }
  /**
   * Whether an endpoint or the retries are at their limit together with `claimed`: the claim may have left some due.
   */
  isLimitReached(claimed: readonly SlotUser[]): boolean
}

/** The slots of one run: one per POST in flight. */
export interface Slots {
  take(user: SlotUser): void
  release(user: SlotUser): void
  inFlight(): number
  freeSlots(): FreeSlots
}

/**
 * Builds the slots. Retries, replays and probes together take at most half of them. An endpoint with as many POSTs in
 * flight as slots are free gets no more, unless `perEndpoint` allows one endpoint all slots.
 */
export function createSlots(limits: { readonly concurrency: number; readonly perEndpoint: number }): Slots {
  const { concurrency, perEndpoint } = limits
  const current = copyCounts()
  const maxRetries = Math.max(1, Math.floor(concurrency / 2))
  /** Most POSTs of one endpoint by the number of free slots. */
  const freeLimit = (inFlight: number) => (perEndpoint < concurrency ? concurrency - inFlight : undefined)

  function isLimitReached(before: Counts, claimed: readonly SlotUser[]): boolean {
    const after = copyCounts(before)
    for (const user of claimed) count(after, user, 1)
    const mostOfEndpoint = Math.min(perEndpoint, freeLimit(after.all) ?? perEndpoint)
    return after.retries >= maxRetries || [...after.byEndpoint.values()].some((posts) => posts >= mostOfEndpoint)
  }

  return {
    take: (user) => count(current, user, 1),
    release: (user) => count(current, user, -1),
    inFlight: () => current.all,
    freeSlots() {
      const before = copyCounts(current)
      return {
        request: {
          limit: concurrency - before.all,
          maxRetries: Math.max(0, maxRetries - before.retries),
          freeSlots: freeLimit(before.all),
          inFlightByEndpoint: before.byEndpoint,
          inFlightByIntegration: before.byIntegration,
        },
        isLimitReached: (claimed) => isLimitReached(before, claimed),
      }
    },
  }
}

/** POSTs in flight. The maps have no zeros. */
interface Counts {
  all: number
  retries: number
  readonly byEndpoint: Map<string, number>
  readonly byIntegration: Map<string, number>
}

function copyCounts(from?: Counts): Counts {
  const { all = 0, retries = 0, byEndpoint, byIntegration } = from ?? {}
  return { all, retries, byEndpoint: new Map(byEndpoint), byIntegration: new Map(byIntegration) }
}

function count(counts: Counts, user: SlotUser, by: 1 | -1): void {
  counts.all += by
  if (isRetry(user)) counts.retries += by
  addTo(counts.byEndpoint, endpointOf(user.notificationUrl), by)
  addTo(counts.byIntegration, user.integrationAddress, by)
}

/** Replays and probes share the limit of retries. */
function isRetry({ attempt, replay, probe }: SlotUser): boolean {
  return replay || probe || attempt > 1
}

function addTo(counts: Map<string, number>, name: string, by: number): void {
  const sum = (counts.get(name) ?? 0) + by
  if (sum > 0) counts.set(name, sum)
  else counts.delete(name)
}
