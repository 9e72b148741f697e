/** Which endpoint gets the next work: by truth first, then by latency, then by order. @module */
import type { ManagedEndpoint } from './endpoint.js'

/** Scores that differ by less are equal. */
const SAME_SCORE = 0.1
/** How many times slower the preferred endpoint must be to lose its place, and faster to regain it. */
const SLOWER = { toLeave: 2, toReturn: 1.25 } as const
/** Differences of latency below this are never a reason, in milliseconds. */
const LATENCY_NOISE_MS = 10

/**
 * Picks among `candidates`, in the order of the configuration: benched ones last, paused ones before them.
 * @param current - The endpoint in use, which is replaced only for a clear advantage.
 */
export function choose(
  candidates: readonly ManagedEndpoint[],
  current: ManagedEndpoint | undefined,
  now: number,
): ManagedEndpoint | undefined {
  const standing = (endpoint: ManagedEndpoint) => (endpoint.benched() ? 2 : 0) + (endpoint.pausedUntil() > now ? 1 : 0)
  const first = Math.min(...candidates.map(standing))
  const equals = candidates.filter((endpoint) => standing(endpoint) === first)
  if (first % 2 === 1) return least(equals, (endpoint) => endpoint.pausedUntil())
  const top = Math.max(...equals.map((endpoint) => endpoint.score()))
  let best: ManagedEndpoint | undefined
  for (const endpoint of equals)
    if (top - endpoint.score() < SAME_SCORE && (best === undefined || isFaster(endpoint, best, endpoint === current)))
      best = endpoint
  return best
}

function isFaster(one: ManagedEndpoint, preferred: ManagedEndpoint, inUse: boolean): boolean {
  const [ours, theirs] = [one.latencyMs(), preferred.latencyMs()]
  const factor = inUse ? SLOWER.toReturn : SLOWER.toLeave
  return ours !== null && theirs !== null && ours * factor + LATENCY_NOISE_MS < theirs
}

function least<T>(items: readonly T[], measure: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (best, item) => (best === undefined || measure(item) < measure(best) ? item : best),
    undefined,
  )
}
