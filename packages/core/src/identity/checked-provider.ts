/** Checks a provider's answers, and turns its failures into errors. Source: docs/decisions/identity.md. @module */
import { once } from 'node:events'
import { shareResponseSchema } from '@payment-integration/contract'
import * as z from 'zod/mini'
import {
  type CoreError,
  defaultRetryAfterMs,
  IdentityMisconfiguredError,
  IdentityUnavailableError,
  ShareTokenRejectedError,
} from '../errors.js'
import type { IdentityProvider, ProviderAnswer, ProviderRejection, Review } from '../ports/identity.js'
import type { Logger } from '../ports/runtime.js'

const unreadable = { kind: 'unavailable', reason: 'ERR_PROVIDER_ANSWER' } as const
const unknownOutcome = { kind: 'unknown', reason: 'ERR_PROVIDER_ANSWER' } as const
const stopped = { kind: 'unavailable', reason: 'ERR_STOPPING' } as const

/** Checks each answer. An unreadable answer to a redemption is an unknown outcome: the token may have been used. */
export function createCheckedProvider(provider: IdentityProvider, logger: Pick<Logger, 'error'>): IdentityProvider {
  for (const call of ['redeem', 'find', 'review'] as const)
    if (typeof (provider as Partial<IdentityProvider> | null)?.[call] !== 'function')
      throw new TypeError(`The identity provider has no function ${call}; pass an IdentityProvider of core.`)

  async function callChecked<T>(call: string, send: () => Promise<T>, schema: z.ZodMiniType): Promise<T | null> {
    let fault = 'an unknown shape'
    try {
      const answer = await send()
      if (schema.safeParse(answer).success) return answer
    } catch (error) {
      fault = error instanceof Error ? error.name : typeof error
    }
    logger.error(
      { eventType: 'identity.misconfigured', call, fault },
      'An answer of the identity provider does not fit the port IdentityProvider. Wrap the provider in an adapter.',
    )
    return null
  }
  return {
    get levelName() {
      return provider.levelName
    },
    get findsByName() {
      return provider.findsByName
    },
    redeem: async (request) =>
      (await callChecked('redeem', () => provider.redeem(request), redeemSchema)) ?? unknownOutcome,
    find: async (...query) => (await callChecked('find', () => provider.find(...query), findSchema)) ?? unreadable,
    review: async (id) => (await callChecked('review', () => provider.review(id), reviewSchema)) ?? unreadable,
  }
}

type ProviderReads = Pick<IdentityProvider, 'find' | 'review'>

/** Answers `unavailable` to look-ups and polls as soon as the signal aborts. */
export function stopWithSignal(provider: ProviderReads, signal: AbortSignal): ProviderReads {
  async function raceAbort<T>(send: () => Promise<ProviderAnswer<T>>): Promise<ProviderAnswer<T>> {
    if (signal.aborted) return stopped
    const answered = new AbortController()
    const stopping = once(signal, 'abort', { signal: answered.signal }).then(() => stopped)
    return Promise.race([send(), stopping]).finally(() => answered.abort())
  }
  return {
    find: (externalUserId) => raceAbort(() => provider.find(externalUserId)),
    review: (applicantId) => raceAbort(() => provider.review(applicantId)),
  }
}

const review = z.omit(shareResponseSchema, { reused: true })
const levelName = z.nullish(z.string())
const applicant = z.object({
  applicantId: z.string().check(z.minLength(1)),
  review: z.nullable(review),
  reviewedAt: z.nullish(z.number()),
  createdAt: z.nullish(z.number()),
  levelName,
})
const datedReview = z.object({ review, reviewedAt: z.nullable(z.number()), levelName })

const reason = z.string()
const rejections = [
  z.object({ kind: z.literal('misconfigured'), reason }),
  z.object({ kind: z.literal('throttled'), retryAfterMs: z.nullable(z.number()) }),
] as const
const redeemSchema = z.union([
  ...rejections,
  z.object({ kind: z.literal('redeemed'), applicant }),
  z.object({ kind: z.literal('rejected'), message: z.string(), providerCode: z.nullable(z.number()) }),
  z.object({ kind: z.literal('unsent') }),
  z.object({ kind: z.literal('unknown'), reason }),
])
const findSchema = createAnswerSchema(applicant)
const reviewSchema = createAnswerSchema(datedReview)

function createAnswerSchema(value: z.ZodMiniType): z.ZodMiniType {
  return z.union([
    ...rejections,
    z.object({ kind: z.literal('answer'), value: z.nullable(value) }),
    z.object({ kind: z.literal('unavailable'), reason }),
  ])
}

export type ProviderFailure = ProviderRejection | Exclude<ProviderAnswer<unknown>, { kind: 'answer' }>

/** The error for the caller. @param formerReview - The caller's own rejected review, for a rejected token. */
export function createFailureError(failure: ProviderFailure, formerReview: Review | null = null): CoreError {
  switch (failure.kind) {
    case 'rejected':
      return new ShareTokenRejectedError(failure.message, formerReview)
    case 'misconfigured':
      return new IdentityMisconfiguredError()
    case 'throttled':
      return new IdentityUnavailableError(failure.retryAfterMs ?? defaultRetryAfterMs)
    case 'unavailable':
      return new IdentityUnavailableError()
  }
}

/** Logs a failure if an operator must repair its cause. @param about - Ids in the call. */
export function logFailure(
  logger: Pick<Logger, 'error'>,
  failure: ProviderFailure,
  about: Readonly<Record<string, string>>,
): void {
  if (failure.kind !== 'misconfigured') return
  const { reason, facts = {} } = failure
  logger.error(
    { eventType: 'identity.misconfigured', ...about, ...facts, reason },
    'The identity provider rejects the service itself: check credentials, permissions, level and this clock.',
  )
}
