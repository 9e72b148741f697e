/** Applies the provider's rate limits on our side: a burst waits here, and no integration delays the others. @module */
import type { Clock, IdentityProvider, RedeemResult } from '@payment-integration/core/ports'
import { createGate, type Gate } from './gate.js'

/** Request limits of one process. */
export interface ProviderLimits {
  /** Most redemptions that begin in 5 seconds. @default 40 of the provider's 50 */
  readonly redemptions?: number | undefined
  /** Most look-ups that begin in 5 seconds. @default 120 of the provider's 300 for reads */
  readonly lookUps?: number | undefined
  /** Most polls for reviews that begin in 5 seconds. @default 60 of the provider's 300 for reads */
  readonly polls?: number | undefined
}

/** Defaults of {@link ProviderLimits}, for a single process. Source: the provider's page on rate limits. */
export const providerLimits = { redemptions: 40, lookUps: 120, polls: 60 } as const

/**
 * Smallest share for {@link limitsOf}: below it, processes that round up would exceed the provider's limits together.
 */
export const leastRatePercent = 3

/** The limits of a process with a share of them. @param percent - {@link leastRatePercent} to 100. */
export function limitsOf(percent: number): Readonly<Record<keyof ProviderLimits, number>> {
  const share = (limit: number) => Math.max(1, Math.floor((limit * percent) / 100))
  const { redemptions, lookUps, polls } = providerLimits
  return { redemptions: share(redemptions), lookUps: share(lookUps), polls: share(polls) }
}

/** The provider's window, in milliseconds. */
const windowMs = 5_000
/**
 * How many windows of redemptions may wait in all; one integration may have one window's. No request waits longer than
 * that. A share may send several requests, one after the other, and each waits separately. Look-ups follow redemptions,
 * so the same number applies.
 */
const waitingWindows = 2
/** Pause after a 429 without Retry-After, in milliseconds. */
const pauseMs = windowMs
/** Longest pause after a 429, in milliseconds, whatever its Retry-After. */
const longestPauseMs = 60_000

/** A provider that can be closed. */
export interface ClosableIdentityProvider extends IdentityProvider {
  /** Sheds waiting requests, and every later one. */
  close(): void
}

/** The wrapped provider, its limits and the clock. */
export interface LimitDeps {
  readonly clock: Pick<Clock, 'now'>
  readonly limits?: ProviderLimits | undefined
  /** Milliseconds on a clock that never goes back. @default performance.now */
  readonly elapsed?: (() => number) | undefined
}

/**
 * Builds the provider. Integrations take turns. A request without a place or a timely turn is answered `throttled` and
 * never sent. So is every request for a while after a 429 of the provider. A share is then 503 with Retry-After, and a
 * round of polls stops.
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
    queueName: string | undefined,
    ask: () => Promise<T>,
  ): Promise<T | { readonly kind: 'throttled'; readonly retryAfterMs: number | null }> {
    const admission = await gate.enter(queueName)
    if (admission.kind === 'shed') return { kind: 'throttled', retryAfterMs: admission.retryAfterMs }
    const outcome = await ask()
    // The provider has one budget: a 429 for one kind of request pauses all kinds.
    if (outcome.kind === 'throttled') for (const each of Object.values(gates)) each.pause(pauseOf(outcome))
    return outcome
  }

  return {
    ...provider,
    redeem: (request) =>
      through<RedeemResult>(gates.redeem, request.integrationAddress, async () =>
        // Its deadline may have passed in the queue.
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
