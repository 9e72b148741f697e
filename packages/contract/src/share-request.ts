/** The body of a share request. A file of its own: bundles of the client, which reads only answers, omit it. @module */
import * as z from 'zod/mini'
import { emailPattern, shareRequestLimits } from './identity.js'
import { object } from './primitives.js'

/**
 * Body of the share request. The schema checks the e-mail address only by `emailPattern`. The service normalizes case,
 * Unicode and international domains, and checks the result.
 */
export const shareRequestSchema = object('read', {
  email: z
    .string()
    .check(z.maxLength(shareRequestLimits.email), z.regex(emailPattern, 'expected an e-mail address without spaces')),
  kycShareToken: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(shareRequestLimits.kycShareToken),
      z.regex(/\S/, 'expected a token that is not blank'),
    ),
})
/** A share request: the user's e-mail address in any spelling, and the provider's single-use token, verbatim. */
export type ShareRequest = z.infer<typeof shareRequestSchema>
