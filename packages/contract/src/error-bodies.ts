/** Error bodies and their fixed texts. Source: docs/interface.md 5, 7. @module */
import * as z from 'zod/mini'
import { object } from './primitives.js'

/** `{"error": "<message>"}`; a `limit` error adds `maxLimit`, a rejected redemption `message` (docs/interface.md 7). */
export const errorBodySchema = object('read', {
  error: z.string(),
  maxLimit: z.optional(z.int()),
  message: z.optional(z.string()),
})
/** Body of every error of the read API and of sharing. */
export type ErrorBody = z.infer<typeof errorBodySchema>

/**
 * A 422 of the share endpoint: the provider rejected the redemption, and `message` is the provider's description.
 * Source: docs/interface.md 7.
 */
export const shareRejectedBodySchema = object('read', { error: z.string(), message: z.string() })
/** Body of a 422 of the share endpoint. */
export type ShareRejectedBody = z.infer<typeof shareRejectedBodySchema>

/**
 * The message of a 400 about a body that is not JSON in UTF-8. It names a byte order mark, which no editor shows. Every
 * JSON endpoint rejects one: RFC 8259 8.1 forbids it.
 * @param otherwise - The message for any other body.
 */
export function formatUnreadableJson(body: Uint8Array, otherwise: string): string {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  return hasMark ? 'Body begins with a byte order mark; send UTF-8 without it' : otherwise
}

/** The one body of every failed authentication. Source: docs/interface.md 5 rule 3. */
export const unauthorizedBody = { error: 'Unauthorized' } as const
/** Body of the 404 of an unknown path. A failed look-up has its own text. */
export const notFoundBody = { error: 'Not found' } as const
/** Body of every 429: the operator's rate limit is exceeded. Source: docs/decisions/rate-limits.md. */
export const tooManyRequestsBody = { error: 'Too many requests' } as const
/** Body of a 409 of the share endpoint: the same for every status of the verification. Source: docs/interface.md 7. */
export const verificationUnavailableBody = { error: 'KYC unavailable for this user' } as const
/** Body of a 404 of the share endpoint: sharing is not enabled on this environment. Source: docs/interface.md 7. */
export const sharingDisabledBody = { error: 'Identity verification sharing is not enabled' } as const
/** Body of a 502 of the share endpoint: the provider rejects the service. Source: docs/decisions/identity.md. */
export const identityMisconfiguredBody = { error: 'The identity provider rejected the service' } as const
/** Body of a 503 of the share endpoint: the provider is unavailable. Source: docs/decisions/identity.md. */
export const identityUnavailableBody = { error: 'The identity provider is not available' } as const
