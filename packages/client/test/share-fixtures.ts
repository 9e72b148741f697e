/** What the tests of sharing a verification share: a user, a token, and answers as the service writes them. */
import { type ShareResponse, shareResponseWriteSchema } from '@payment-integration/contract'

/** In another case than the service stores it, and with a sign that a URL escapes. */
export const email = 'Zoë+Shop@Bücher.Example'
/** With characters that JSON, a URL and a regular expression escape. */
export const kycShareToken = '_act-jwt-"7Kf/with+\\slash=and (a*b).[c]$'
export const submission = { email, kycShareToken }

/** An answer that the service could have written: the token was just redeemed, unless a change says otherwise. */
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
