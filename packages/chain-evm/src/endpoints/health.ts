/** How far an endpoint is to be trusted: a score that falls with faults and comes back with time. @module */
import type { Clock } from '@payment-integration/core/ports'

/** An event at an endpoint. */
export type HealthEvent =
  /** A request was answered. */
  | 'answered'
  /** A request brought no answer. */
  | 'lost'
  /** It answered, but nothing that could be used. */
  | 'refused'
  /** A block that it reported was missing a moment later, which happens to honest nodes too. */
  | 'gone'
  | 'contradiction'
  | 'proof-failed'

/** An endpoint with a lower score gets no work while another one is better. */
export const BENCH_BELOW = 0.75
/** A score from which an endpoint may be probed for work again. */
export const RETURN_FROM = 0.9
/** Behind by no more than this, an endpoint counts as up to date, in milliseconds. */
export const LAG_ALLOWED_MS = 5_000

/** Share of the remaining trust that an event costs. */
const COST = { lost: 0.3, refused: 0.3, gone: 0.06, contradiction: 0.5, 'proof-failed': 0.7 } as const
/** An answer leaves this much of the doubt whether the endpoint answers. */
const DOUBT_AFTER_ANSWER = 0.9
/** Half of the doubt whether an endpoint answers is gone after this time, in milliseconds. */
const ANSWER_HALF_LIFE_MS = 30_000
/** Half-life of the doubt about its truth, in milliseconds. */
const TRUTH_HALF_LIFE_MS = 300_000

/** The standing of one endpoint. */
export interface Health {
  note(event: HealthEvent): void
  /** Its head is known to be this old, in milliseconds; 0: it is the newest. */
  lags(ms: number): void
  /** From 0 to 1, now. */
  score(): number
  /** The score that it would have without its lag. */
  trust(): number
}

/** Starts with full trust. */
export function createHealth(clock: Clock): Health {
  let silence = 0
  let untruth = 0
  let lagMs = 0
  let at = clock.now()

  function settle(): void {
    const passed = Math.max(0, clock.now() - at)
    at = clock.now()
    silence *= 0.5 ** (passed / ANSWER_HALF_LIFE_MS)
    untruth *= 0.5 ** (passed / TRUTH_HALF_LIFE_MS)
  }

  function trust(): number {
    settle()
    return (1 - silence) * (1 - untruth)
  }

  return {
    note(event) {
      settle()
      if (event === 'answered') silence *= DOUBT_AFTER_ANSWER
      else if (event === 'lost' || event === 'refused') silence += COST[event] * (1 - silence)
      else untruth += COST[event] * (1 - untruth)
    },
    lags(ms) {
      lagMs = ms
    },
    score: () => trust() * (lagMs <= LAG_ALLOWED_MS ? 1 : LAG_ALLOWED_MS / lagMs),
    trust,
  }
}
