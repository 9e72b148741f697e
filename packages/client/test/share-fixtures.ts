/** Fixtures of sharing a verification: a user, a token, and answers of the service. */
import type { ShareResponse } from '@payment-integration/contract'
import { shareResponseWriteSchema } from '@payment-integration/contract/internal'

/** Not in the lowercase that the service stores, and with a character that a URL escapes. */
export const email = 'Zoë+Shop@Bücher.Example'
/** Has characters that JSON, a URL and a regular expression escape. */
export const kycShareToken = '_act-jwt-"7Kf/with+\\slash=and (a*b).[c]$'
export const submission = { email, kycShareToken }

/** A valid answer of the service, by default to a request that redeemed the token. */
export function shareResponse(change: Partial<ShareResponse> = {}): ShareResponse {
  return shareResponseWriteSchema.parse({
    reviewStatus: 'init',
    reviewAnswer: null,
    rejectType: null,
    rejectLabels: [],
    reused: true,
    ...change,
  })
}

/** The body of a 422. */
export function rejection(message: string) {
  return { error: 'The identity provider rejected the share token; read message', message }
}
