/** The outbox: deliveries that a transaction left to be sent. Source: DESIGN section 2 (flow 3), section 3 (retries). @module */
import type { SealedSecret } from './store-integrations.js'

/** A delivery that this dispatcher may attempt until its lease ends. */
export interface ClaimedDelivery {
  readonly deliveryId: string
  /** Proves the claim; a settle with an older token changes nothing. */
  readonly claimToken: string
  /** Attempts of this delivery logged so far, plus 1: a claim that was lost before its attempt was settled does not count. */
  readonly attempt: number
  readonly integrationAddress: string
  readonly notificationUrl: string
  readonly signingSecret: SealedSecret
  readonly chainId: number
  readonly txHash: string
  readonly version: number
  /** The stored snapshot, sent unchanged. */
  readonly body: Uint8Array
}

/** What an attempt came to: kept in the attempt log. */
export interface AttemptRecord {
  /** Unix time in milliseconds when the attempt began. */
  readonly startedAt: number
  readonly latencyMs: number
  /** HTTP status, or null when no answer arrived. */
  readonly status: number | null
  /** Null on success; else `status_<n>`, `timeout`, `connection`, `refused_address`, `secret_unreadable`. */
  readonly reason: string | null
}

/**
 * What to do with the delivery after an attempt. `retry` becomes `superseded` when a newer version of the payment has a
 * delivery, in any status: that one is owed its own attempt, and receivers would discard this one. A newer version that
 * nobody is told of (no URL at its time) overtakes nothing.
 */
export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly inMs: number }
  | { readonly kind: 'exhausted' }

/** Where a delivery stands. */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'superseded'

/** A delivery as an operator sees it. */
export interface DeliveryView {
  readonly deliveryId: string
  readonly integrationAddress: string
  readonly chainId: number
  readonly txHash: string
  readonly version: number
  readonly status: DeliveryStatus
  readonly attempts: readonly AttemptRecord[]
  /** Unix time in milliseconds of the next attempt while pending, else null. */
  readonly nextAttemptAt: number | null
}

/** How much waits to be sent. */
export interface DeliveryBacklog {
  /** Pending deliveries, those that are claimed just now included; the most that were to be counted: so many or more. */
  readonly pending: number
  /** For how long the oldest due one has been due, in milliseconds; null: none is due. */
  readonly oldestDueMs: number | null
}

/** Claims and settles deliveries. Lease times are the store's own clock, so that dispatchers need not agree on theirs. */
export interface DeliveryStore {
  /**
   * Claims due deliveries of enabled integrations with a URL: those never claimed go first, then those that come back, each
   * oldest due first. A delivery is held by one dispatcher at a time, and comes back when its lease ends unsettled, as the
   * same attempt. Where at least one attempt is logged and a newer version has a delivery, it is settled as `superseded`
   * instead of being claimed.
   */
  claim(options: { readonly limit: number; readonly leaseMs: number }): Promise<ClaimedDelivery[]>
  /**
   * Logs the attempt and settles, reschedules or exhausts the delivery, in one transaction. Resolves the status after it, or
   * null when the claim was lost: then nothing is written.
   */
  settle(claim: ClaimedDelivery, attempt: AttemptRecord, verdict: AttemptVerdict): Promise<DeliveryStatus | null>
  /** Milliseconds until the next delivery is due, 0 when one is, null when none is pending. */
  msUntilDue(): Promise<number | null>
  /**
   * What waits for enabled integrations with a URL: what is held for others is nobody's delay.
   * @param options.atMost - Where counting ends, 1 or more, so that it costs no more however much waits. Rejects with RangeError otherwise.
   */
  backlog(options: { readonly atMost: number }): Promise<DeliveryBacklog>
  /** Deliveries of one payment, or all, oldest first. */
  list(query: {
    readonly chainId?: number | undefined
    readonly txHash?: string | undefined
    readonly status?: DeliveryStatus | undefined
    readonly afterId?: string | undefined
    readonly limit: number
  }): Promise<DeliveryView[]>
}
