/** A provider whose rate limits are kept on our side, so that a burst waits its turn here instead of being refused there. @module */
import type { Clock, IdentityProvider, Redemption } from '@payment-integration/core/ports'
import { createGate, type Gate } from './gate.js'

/** How many requests one process sends. */
export interface ProviderLimits {
  /** Most redemptions that begin in 5 seconds. @default 40 of the provider's 50 */
  readonly redemptions?: number | undefined
  /** Most look-ups that begin in 5 seconds. @default 120 of the provider's 300 for reads */
  readonly lookUps?: number | undefined
  /** Most questions about verdicts that begin in 5 seconds. @default 60 of the provider's 300 for reads */
  readonly questions?: number | undefined
}

/** Defaults of {@link ProviderLimits}. Source: the provider's page on rate limits; what is left is for other processes. */
export const providerLimits = { redemptions: 40, lookUps: 120, questions: 60 } as const

/** The provider's window, in milliseconds. */
const windowMs = 5_000
/** Redemptions that wait for their turn: the last of them waits one window. Look-ups come after a redemption, so they are as many. */
const waiting = providerLimits.redemptions
/** How long nobody asks after a 429 that names no time, in milliseconds. */
const pauseMs = windowMs
/** The longest pause that is kept, in milliseconds, whatever a 429 says. */
const longestPauseMs = 60_000

/** A provider that can be closed. */
export interface LimitedProvider extends IdentityProvider {
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
 * Builds it. What finds no place in line, and everything for a while after the provider asked for fewer requests, is answered `throttled` and
 * never sent: a share is 503 with Retry-After then, and a round of questions ends.
 */
export function limitProvider(provider: IdentityProvider, { clock, limits = {}, elapsed }: LimitDeps): LimitedProvider {
  const { redemptions = providerLimits.redemptions, lookUps = providerLimits.lookUps } = limits
  const { questions = providerLimits.questions } = limits
  const now = elapsed ?? (() => performance.now())
  const gateOf = (perWindow: number) => createGate({ perWindow, windowMs, waiting, now })
  const gates = { redeem: gateOf(redemptions), find: gateOf(lookUps), review: gateOf(questions) }

  async function through<T extends { readonly kind: string }>(
    gate: Gate,
    ask: () => Promise<T>,
  ): Promise<T | { readonly kind: 'throttled'; readonly retryAfterMs: number | null }> {
    const admission = await gate.enter()
    if (admission.kind === 'shed') return { kind: 'throttled', retryAfterMs: admission.retryAfterMs }
    const outcome = await ask()
    // One budget at the provider: what it refuses to one kind of request, the others leave it in peace for, too.
    if (outcome.kind === 'throttled') for (const each of Object.values(gates)) each.pause(pauseOf(outcome))
    return outcome
  }

  return {
    ...provider,
    redeem: (request) =>
      through<Redemption>(gates.redeem, async () =>
        // Its time may have passed in line.
        clock.now() > request.sendBy ? { kind: 'unsent' } : provider.redeem(request),
      ),
    find: (externalUserId) => through(gates.find, () => provider.find(externalUserId)),
    review: (applicantId) => through(gates.review, () => provider.review(applicantId)),
    close() {
      for (const each of Object.values(gates)) each.close()
    },
  }
}

function pauseOf(outcome: { readonly kind: string; readonly retryAfterMs?: number | null }): number {
  return Math.min(outcome.retryAfterMs ?? pauseMs, longestPauseMs)
}
