/** The interface between the identity oracle and the code under test. Source: docs/decisions/identity.md. @module */
import type { DatedReview, IdentityProvider, Review } from '../../src/ports/identity.js'
import type { Clock, IdSource, RandomSource } from '../../src/ports/runtime.js'

/** One deployment: a store that survives, and any number of processes on it. */
export interface SystemUnderTest {
  /** Starts a process on the store. Several may run at once; one that was killed is replaced by a new start. */
  start(surroundings: Surroundings): Service | Promise<Service>
  /**
   * Resolves once all work has stopped at a pause, at a provider call, at a sleep of the clock, at a lock, or is done.
   * Real time may pass in it, the clock's does not. The oracle calls it after every step, then takes the view.
   */
  settle(): Promise<void>
  /** The committed state. It waits for no lock and calls no pause. */
  views(): Promise<View>
  /** Releases everything. Nothing is called afterwards. */
  close(): Promise<void>
}

/** A process's surroundings, its own: a pause or a provider call in it never resolves once that process is killed. */
export interface Surroundings {
  readonly clock: Clock
  readonly provider: IdentityProvider
  readonly random: RandomSource
  readonly ids: IdSource
  /**
   * Awaited before and after every store call and every provider call: two store calls or a store call and a provider
   * call always have a pause between. A store call is what commits or rolls back as one; statements of one transaction
   * may have pauses between, too.
   * @param point - What the process is about to do or has done, for the printed history.
   */
  pause(point: string): Promise<void>
}

export interface Service {
  /** Resolves with a plain JSON outcome; one that rejects is a finding. */
  perform(call: Call): Promise<unknown>
  /** The process dies: what it awaits never resolves. Rolls back its open transactions, so that it holds no lock. */
  kill(): Promise<void>
}

/** What a process is asked to do. Addresses are normalized: lower case ASCII. */
export type Call =
  /** Makes an account that carries the address unverified. */
  | { readonly kind: 'register'; readonly address: string }
  /** A one-time code was right. Without `accountId` the service chooses the account. */
  | { readonly kind: 'prove'; readonly address: string; readonly accountId: string | undefined }
  | { readonly kind: 'attest'; readonly address: string; readonly integration: string; accountId: string | undefined }
  | { readonly kind: 'direct'; readonly direct: DirectVerification }
  | {
      readonly kind: 'share'
      readonly request: { readonly integration: string; readonly address: string; readonly token: string }
    }
  | { readonly kind: 'webhook'; readonly event: WebhookEvent }
  /** One run of the poller: everything due by the clock, then it resolves. It does not go on by itself. */
  | { readonly kind: 'poll' }
  /** `applicantId` null: the operator says that the token was not redeemed. */
  | { readonly kind: 'operator'; readonly externalUserId: string; readonly applicantId: string | null }

interface DirectVerification {
  readonly accountId: string
  readonly applicantId: string | null
  readonly review: Review
  /** Unix milliseconds. */
  readonly at: number
}
export type ShareOutcome =
  /** 200, the fields of docs/interface.md 2.5. */
  | ({ readonly kind: 'answered'; readonly reused: boolean } & Review)
  /** 409, 503, 502. */
  | { readonly kind: 'conflict' | 'unavailable' | 'misconfigured' }
  /** 422. `former`: the verdict that stays, null when none is answered. */
  | { readonly kind: 'rejected'; readonly message: string; readonly former: Review | null }
/** A verdict as the provider sends it. */
export interface WebhookEvent {
  /** Equal keys are one event. */
  readonly key: string
  readonly applicantId: string
  readonly externalUserId: string
  readonly review: Review
  /** The provider's own time of the verdict, unix milliseconds. */
  readonly at: number
}

/** What an operator sees. */
export interface View {
  readonly subjects: readonly SubjectView[]
  readonly redemptions: readonly RedemptionView[]
  /** At most one an account. `reviewedAt` is its `at`. */
  readonly direct: readonly { accountId: string; applicantId: string | null; review: DatedReview }[]
  /** Oldest first, in the order by which the service finds the oldest carrier. */
  readonly accounts: readonly { accountId: string; carries: string | null; verified: boolean }[]
}
export interface SubjectView {
  readonly id: string
  readonly address: string
  /** Null: a placeholder. */
  readonly accountId: string | null
  readonly proved: boolean
  readonly closed: boolean
  /** The integration that shared the attached verification; null while there is none. */
  readonly donor: string | null
  readonly applicantId: string | null
  /** When its verification was attached: the last one attached counts for the person. */
  readonly attachedAt: number | null
  /** Null: none attached, or nothing heard of it yet. */
  readonly review: DatedReview | null
  /** The provider confirmed that it knows the applicant no more. */
  readonly gone: boolean
}
export interface RedemptionView {
  /** The name that the applicant gets. */
  readonly externalUserId: string
  readonly subjectId: string
  readonly integration: string
  readonly state: RedemptionState
  /** Unix milliseconds; read while the state is `in_flight`, `unknown` or `unresolved`. Null: no lease runs. */
  readonly leaseUntil: number | null
  readonly applicantId: string | null
}
/**
 * `in_flight`: begun, no answer known (also with an expired lease). `unknown`: the answer was lost. `unresolved`: it
 * cannot be looked up. `attached`: to its subject, even if a newer one has replaced it. `surplus`: redeemed and not
 * attached. `absent`: no token was redeemed; the row may as well be missing.
 */
export type RedemptionState = 'in_flight' | 'unknown' | 'unresolved' | 'attached' | 'surplus' | 'absent'
