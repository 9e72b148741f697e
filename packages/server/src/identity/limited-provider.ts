/**
 * Keeps the provider's rate limits on our side, so that a burst waits its turn here and no integration delays the
 * others.
 * @module
 */
import type { Clock, IdentityProvider, RedeemResult } from '@payment-integration/core/ports'
import { createGate, type Gate } from './gate.js'

/** How many requests one process sends. */
export interface ProviderLimits {
  /** Most redemptions that begin in 5 seconds. @default 40 of the provider's 50 */
  readonly redemptions?: number | undefined
  /** Most look-ups that begin in 5 seconds. @default 120 of the provider's 300 for reads */
  readonly lookUps?: number | undefined
  /** Most polls for reviews that begin in 5 seconds. @default 60 of the provider's 300 for reads */
  readonly polls?: number | undefined
}

/** Defaults of {@link ProviderLimits}, for a process that is alone. Source: the provider's page on rate limits. */
export const providerLimits = { redemptions: 40, lookUps: 120, polls: 60 } as const

/** Least {@link limitsOf} takes: with less, processes that round up would send more than the provider takes. */
export const leastRatePercent = 3

/** The limits of a process that has a share of them. @param percent - {@link leastRatePercent} to 100. */
export function limitsOf(percent: number): Readonly<Record<keyof ProviderLimits, number>> {
  const share = (limit: number) => Math.max(1, Math.floor((limit * percent) / 100))
  const { redemptions, lookUps, polls } = providerLimits
  return { redemptions: share(redemptions), lookUps: share(lookUps), polls: share(polls) }
}

/** The provider's window, in milliseconds. */
const windowMs = 5_000
/**
 * How many windows of redemptions wait for their turn in all, while those of one integration are one window's at most.
 * No request waits longer than that either, however many integrations take turns. A share may send several, one after
 * the other: each waits on its own. Look-ups come after a redemption, so they are as many.
 */
const waitingWindows = 2
/** How long nobody asks after a 429 that names no time, in milliseconds. */
const pauseMs = windowMs
/** The longest pause that is kept, in milliseconds, whatever a 429 says. */
const longestPauseMs = 60_000

/** A provider that can be closed. */
export interface ClosableIdentityProvider extends IdentityProvider {
  /** Sends away whoever waits, and everybody who comes after. */
  close(): void
}

/** What is needed. */
export interface LimitDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly limits?: ProviderLimits | undefined
  /** Milliseconds on a clock that never goes back. @default performance.now */
  readonly elapsed?: (() => number) | undefined
}

/**
 * Builds it. Integrations take turns. What finds no place in line or no turn in time, and everything for a while after
 * the provider asked for fewer requests, is answered `throttled` and never sent: a share is 503 with Retry-After then,
 * and a round of polls ends.
 */
export function limitProvider(
  provider: IdentityProvider,
  { clock, limits = {}, elapsed }: LimitDeps,
): ClosableIdentityProvider {
  const { redemptions = providerLimits.redemptions, lookUps = providerLimits.lookUps } = limits
  const { polls = providerLimits.polls } = limits
  const now = elapsed ?? (() => performance.now())
  const longestWaitMs = waitingWindows * windowMs
  const line = { waiting: waitingWindows * redemptions, waitingEach: redemptions, longestWaitMs }
  const gateOf = (perWindow: number) => createGate({ perWindow, windowMs, ...line, now })
  const gates = { redeem: gateOf(redemptions), find: gateOf(lookUps), review: gateOf(polls) }

  async function through<T extends { readonly kind: string }>(
    gate: Gate,
    whose: string | undefined,
    ask: () => Promise<T>,
  ): Promise<T | { readonly kind: 'throttled'; readonly retryAfterMs: number | null }> {
    const admission = await gate.enter(whose)
    if (admission.kind === 'shed') return { kind: 'throttled', retryAfterMs: admission.retryAfterMs }
    const outcome = await ask()
    // One budget at the provider: what it refuses to one kind of request, the others leave it in peace for, too.
    if (outcome.kind === 'throttled') for (const each of Object.values(gates)) each.pause(pauseOf(outcome))
    return outcome
  }

  return {
    ...provider,
    redeem: (request) =>
      through<RedeemResult>(gates.redeem, request.integrationAddress, async () =>
        // Its time may have passed in line.
        clock.now() > request.sendBy ? { kind: 'unsent' } : provider.redeem(request),
      ),
    find: (externalUserId, integrationAddress) =>
      through(gates.find, integrationAddress, () => provider.find(externalUserId, integrationAddress)),
    review: (applicantId) => through(gates.review, undefined, () => provider.review(applicantId)),
    close() {
      for (const each of Object.values(gates)) each.close()
    },
  }
}

function pauseOf(outcome: { readonly kind: string; readonly retryAfterMs?: number | null }): number {
  return Math.min(outcome.retryAfterMs ?? pauseMs, longestPauseMs)
}
