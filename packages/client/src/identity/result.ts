/** Where a shared verification stands, as something to switch on. Source: docs/interface.md 2.5, 3. @module */
import type { OpenShareResponse, ReviewStatus } from '@payment-integration/contract'

/** What every result has. */
interface ShareFacts {
  /**
   * Whether this request redeemed the token; the contract calls it `reused`. When false, it redeemed nothing; but when the call was tried more than
   * once, a try without an answer may have.
   */
  readonly redeemed: boolean
  /** The whole answer, with fields that this version does not know. */
  readonly response: OpenShareResponse
}

/** There is a verdict in the user's favour. */
export interface ShareApproved extends ShareFacts {
  readonly kind: 'approved'
}

/** There is a verdict against the user. After it, sharing a fresh token is redeemed again. */
export interface ShareRejected extends ShareFacts {
  readonly kind: 'rejected'
  /** True when the provider says that resubmission can help; false when it says that it cannot (`FINAL`), or nothing. */
  readonly canRetry: boolean
  /** Reject reasons of the provider, verbatim; may be empty. */
  readonly labels: readonly string[]
}

/** There is no verdict yet. It comes some minutes after the token was redeemed; share again to ask for it. */
export interface ShareInFlight extends ShareFacts {
  readonly kind: 'in_flight'
  /** `init`: documents are awaited. The others: it is being reviewed. */
  readonly status: Exclude<ReviewStatus, 'not_started' | 'completed'>
}

/** Another request is redeeming a token for this user, and nothing is known yet. Share again in a moment. */
export interface ShareNotStarted extends ShareFacts {
  readonly kind: 'not_started'
}

/** A status or a verdict that this version does not know. It is no approval; `response` has the words. */
export interface ShareUnknown extends ShareFacts {
  readonly kind: 'unknown'
}

/** What `identity.share` resolves: switch on `kind`. */
export type ShareResult = ShareApproved | ShareRejected | ShareInFlight | ShareNotStarted | ShareUnknown

/** Reads an answer. `reviewAnswer` counts only with `completed`, so that only both together approve. */
export function readShareResult(response: OpenShareResponse): ShareResult {
  const { reviewStatus: status, reviewAnswer, rejectType, rejectLabels: labels, reused: redeemed } = response
  const facts = { redeemed, response }
  switch (status) {
    case 'not_started':
      return { kind: 'not_started', ...facts }
    case 'init':
    case 'pending':
    case 'prechecked':
    case 'onHold':
      // The cases above hold for text of any kind, which is why the compiler does not narrow it to them.
      return { kind: 'in_flight', status: status as ShareInFlight['status'], ...facts }
    case 'completed':
      if (reviewAnswer === 'GREEN') return { kind: 'approved', ...facts }
      if (reviewAnswer === 'RED') return { kind: 'rejected', canRetry: rejectType === 'RETRY', labels, ...facts }
      return { kind: 'unknown', ...facts }
    default:
      return { kind: 'unknown', ...facts }
  }
}
