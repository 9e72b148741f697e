/** Parses the answer of a share into a result to switch on. Source: docs/interface.md 2.5, 3. @module */
import type { OpenShareResponse, ReviewStatus } from '@payment-integration/contract'

/** Fields of every result. */
interface ShareFacts {
  /**
   * Whether this request redeemed the token; the contract names it `reused`. When false, the request redeemed nothing.
   * After a retry, an earlier attempt without an answer may have redeemed it.
   */
  readonly redeemed: boolean
  /** The whole answer, including unknown fields. */
  readonly response: OpenShareResponse
}

/** The verdict approves the user. */
export interface ShareApproved extends ShareFacts {
  readonly kind: 'approved'
}

/** The verdict rejects the user. The service redeems a fresh token that is shared after it. */
export interface ShareRejected extends ShareFacts {
  readonly kind: 'rejected'
  /** True when resubmission can help (`RETRY`); false when it cannot (`FINAL`), or when the provider gave no type. */
  readonly canRetry: boolean
  /** Reject reasons of the provider, verbatim; may be empty. */
  readonly labels: readonly string[]
}

/** There is no verdict yet. It arrives some minutes after the redemption; share again to poll for it. */
export interface ShareInFlight extends ShareFacts {
  readonly kind: 'in_flight'
  /** `init`: the provider waits for documents. The others: the provider reviews them. */
  readonly status: Exclude<ReviewStatus, 'not_started' | 'completed'>
}

/** Another request redeems a token for this user, and its outcome is open. Share again in a moment. */
export interface ShareNotStarted extends ShareFacts {
  readonly kind: 'not_started'
}

/** An unknown status or verdict, which is no approval. `response` has its text. */
export interface ShareUnknown extends ShareFacts {
  readonly kind: 'unknown'
}

/** The result of `identity.share`: switch on `kind`. */
export type ShareResult = ShareApproved | ShareRejected | ShareInFlight | ShareNotStarted | ShareUnknown

/** Parses an answer. `reviewAnswer` counts only with `completed`: only both together approve. */
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
      // The cast is safe by the cases above: the compiler does not narrow an open text by them.
      return { kind: 'in_flight', status: status as ShareInFlight['status'], ...facts }
    case 'completed':
      if (reviewAnswer === 'GREEN') return { kind: 'approved', ...facts }
      if (reviewAnswer === 'RED') return { kind: 'rejected', canRetry: rejectType === 'RETRY', labels, ...facts }
      return { kind: 'unknown', ...facts }
    default:
      return { kind: 'unknown', ...facts }
  }
}
