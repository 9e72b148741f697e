/** Sharing an identity verification. Source: docs/interface.md 2.5, 3, 4.2. @module */
import * as z from 'zod/mini'
import { object } from './mode.js'
import { openEnum } from './open-enum.js'

/** Every review status that the share endpoint answers. Source: docs/interface.md 2.5. */
export const reviewStatuses = ['not_started', 'init', 'pending', 'prechecked', 'onHold', 'completed'] as const
/** Where a verification stands. */
export type ReviewStatus = (typeof reviewStatuses)[number]

/**
 * Longest texts in a share request, in characters. The service takes an e-mail address of 254 bytes once it has
 * normalised it; decomposed (Unicode form NFD) it can have four times as many characters.
 */
export const shareRequestLimits = { email: 1_024, kycShareToken: 4_096 } as const

// The dots of IDNA separate labels as the ASCII one does. No label can hold a dot, so that no text is matched in more
// than one way.
const emailShape = /^[^\s@]+@[^\s@.\u3002\uff0e\uff61]+(?:[.\u3002\uff0e\uff61][^\s@.\u3002\uff0e\uff61]+)+\.?$/

/**
 * Body of the share request. Of an e-mail address it asks for the outline alone: something, `@`, something with a dot,
 * no spaces. Case, Unicode and international domains are normalised by the service, which has the last word. Source:
 * docs/interface.md 4.2.
 */
export const shareRequestSchema = object('read', {
  email: z
    .string()
    .check(z.maxLength(shareRequestLimits.email), z.regex(emailShape, 'expected an e-mail address without spaces')),
  kycShareToken: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(shareRequestLimits.kycShareToken),
      z.regex(/\S/, 'expected a token that is not blank'),
    ),
})
/** A share request: the user's e-mail and the provider's single-use token, verbatim. */
export type ShareRequest = z.infer<typeof shareRequestSchema>

const reviewStatus = z.enum(reviewStatuses)
const reviewAnswer = z.enum(['GREEN', 'RED'])
const rejectType = z.enum(['RETRY', 'FINAL'])
const shareResponseShape = {
  reviewStatus,
  reviewAnswer: z.nullable(reviewAnswer),
  rejectType: z.nullable(rejectType),
  rejectLabels: z.array(z.string()),
  reused: z.boolean(),
}
/** The share answer as a client reads it. */
export const shareResponseSchema = object('read', shareResponseShape)
/** The share answer as the service writes it. */
export const shareResponseWriteSchema = object('write', shareResponseShape)
/** What the share endpoint answers. `reused` is true when this request redeemed the token. */
export type ShareResponse = z.infer<typeof shareResponseSchema>

/**
 * The share answer of a service that may be newer than its client: statuses, answers and types that are not in this
 * contract pass. The token may be redeemed by then, so an answer must not be lost for a word.
 */
export const openShareResponseSchema = object('read', {
  ...shareResponseShape,
  reviewStatus: openEnum(reviewStatus),
  reviewAnswer: z.nullable(openEnum(reviewAnswer)),
  rejectType: z.nullable(openEnum(rejectType)),
})
/** A share answer with any words. */
export type OpenShareResponse = z.infer<typeof openShareResponseSchema>
