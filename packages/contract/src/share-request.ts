/** The body of the share request. Source: docs/interface.md 4.2. @module */
import * as z from 'zod/mini'
import { emailPattern, shareRequestLimits } from './identity.js'
import { object } from './mode.js'

/**
 * Body of the share request. Of the e-mail address it checks only {@link emailPattern}. The service normalises case,
 * Unicode and international domains, and decides.
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
/** A share request: the user's e-mail and the provider's single-use token, verbatim. */
export type ShareRequest = z.infer<typeof shareRequestSchema>
