/** Sharing an identity verification. Source: INTERFACE 2.5, 3, 4.2. @module */
import * as z from 'zod/mini'
import { object } from './mode.js'

/** Every review status that the share endpoint answers. Source: INTERFACE 2.5. */
export const reviewStatuses = ['not_started', 'init', 'pending', 'prechecked', 'onHold', 'completed'] as const
/** Where a verification stands. */
export type ReviewStatus = (typeof reviewStatuses)[number]

/** Body of the share request. Source: INTERFACE 4.2. */
export const shareRequestSchema = object('read', {
  email: z.string().check(z.maxLength(254), z.email()),
  kycShareToken: z.string().check(z.minLength(1)),
})
/** A share request: the user's e-mail and the provider's single-use token, verbatim. */
export type ShareRequest = z.infer<typeof shareRequestSchema>

const shareResponseShape = {
  reviewStatus: z.enum(reviewStatuses),
  reviewAnswer: z.nullable(z.enum(['GREEN', 'RED'])),
  rejectType: z.nullable(z.enum(['RETRY', 'FINAL'])),
  rejectLabels: z.array(z.string()),
  reused: z.boolean(),
}
/** The share answer as a client reads it. */
export const shareResponseSchema = object('read', shareResponseShape)
/** The share answer as the service writes it. */
export const shareResponseWriteSchema = object('write', shareResponseShape)
/** What the share endpoint answers. `reused` is true when this request redeemed the token. */
export type ShareResponse = z.infer<typeof shareResponseSchema>
