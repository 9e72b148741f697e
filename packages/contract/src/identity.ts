/** Schemas of sharing an identity verification. Source: docs/interface.md 2.5, 3, 4.2. @module */
import * as z from 'zod/mini'
import { object } from './mode.js'
import { openEnum } from './open-enum.js'

/** Every review status that the share endpoint answers. Source: docs/interface.md 2.5. */
export const reviewStatuses = ['not_started', 'init', 'pending', 'prechecked', 'onHold', 'completed'] as const
/** Status of a verification. */
export type ReviewStatus = (typeof reviewStatuses)[number]

/**
 * Longest texts in a share request, in characters. The service accepts an e-mail address of 254 bytes after
 * normalisation. In Unicode form NFD it may have four times as many characters.
 */
export const shareRequestLimits = { email: 1_024, kycShareToken: 4_096 } as const

/**
 * The rough form of an e-mail address: text, `@`, text with a dot, no spaces. IDNA has further dots between labels.
 * No label may hold a dot, so the pattern needs no backtracking.
 */
export const emailPattern =
  /^[^\s@]+@[^\s@.\u3002\uff0e\uff61]+(?:[.\u3002\uff0e\uff61][^\s@.\u3002\uff0e\uff61]+)+\.?$/

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
export const shareResponseSchema = /* @__PURE__ */ object('read', shareResponseShape)
/** The share answer as the service writes it. */
export const shareResponseWriteSchema = /* @__PURE__ */ object('write', shareResponseShape)
/** The answer of the share endpoint. `reused` is true when this request redeemed the token. */
export type ShareResponse = z.infer<typeof shareResponseSchema>

/**
 * The share answer of a possibly newer service: accepts unknown statuses, answers and types. By then the token may be
 * redeemed, so an unknown value must not lose the answer.
 */
export const openShareResponseSchema = object('read', {
  ...shareResponseShape,
  reviewStatus: openEnum(reviewStatus),
  reviewAnswer: z.nullable(openEnum(reviewAnswer)),
  rejectType: z.nullable(openEnum(rejectType)),
})
/** A share answer that may have unknown values. */
export type OpenShareResponse = z.infer<typeof openShareResponseSchema>
