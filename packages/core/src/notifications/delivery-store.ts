/** The outbox port: claim, settle and list deliveries. Times are unix milliseconds. @module */
import type { PostedDelivery } from '../ports/runtime.js'
import type { SealedSecret } from '../secrets/keys.js'

/** A due delivery with a lease: only this dispatcher may attempt it until the lease ends. */
export interface ClaimedDelivery extends PostedDelivery {
  /** Proves the lease; a settle with an older token changes nothing. */
  readonly leaseToken: string
  /** Step of the retry schedule, from 1; a replay starts again at 1. */
  readonly step: number
  /** Whether this is a replay, or the retry of one. */
  readonly replay: boolean
  /** A probe: the one attempt that tests whether a blocked endpoint answers again. */
  readonly probe: boolean
  /** Milliseconds since the delivery was created or replayed, by the store's clock. */
  readonly ageMs: number
  readonly notificationUrl: string
  readonly signingSecret: SealedSecret
  /** The previous signing secret. `until`: the end of its grace time in unix milliseconds. Null: none is stored. */
  readonly previousSigningSecret: (SealedSecret & { readonly until: number }) | null
  /** The snapshot bytes, sent unchanged. */
  readonly body: Uint8Array
}

export interface AttemptRecord {
  readonly startedAt: number
  readonly latencyMs: number
  /** HTTP status; null when none arrived. */
  readonly status: number | null
  /**
   * Null on success, and only then; else `status_<n>`, `timeout`, `connection`, `rejected_address`, `malformed_answer`
   * (with any status or none) or `secret_unreadable`.
   */
  readonly reason: string | null
  /** Start of the response body as text; null when none arrived. */
  readonly excerpt: string | null
  readonly replay: boolean
}

/** The next state. A newer version supersedes a `retry`; a newer version without a delivery supersedes nothing. */
export type AttemptDecision =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly inMs: number }
  | { readonly kind: 'exhausted' }

export interface SettledAttempt {
  readonly claim: Pick<ClaimedDelivery, 'deliveryId' | 'leaseToken' | 'integrationAddress' | 'replay' | 'probe'>
  /** The previous attempt, whose signature the receiver rejected in a rotation: both are one step of the schedule. */
  readonly rejected?: AttemptRecord | null
  readonly attempt: AttemptRecord
  readonly verdict: AttemptDecision
  /** False for replays, unsent attempts, and failures after a rejected signature during a rotation. @default true */
  readonly countsForHealth?: boolean
}

/** Recent failures of an integration's endpoint. A changed URL resets them. */
export interface EndpointHealth {
  readonly failures: number
  /** Blocks in a row; 0: not blocked. */
  readonly blocks: number
}

export interface EndpointChange extends EndpointHealth {
  /** Duration of a new block, in milliseconds. Null: the block stays, or ends if `blocks` is 0. */
  readonly blockMs: number | null
}

export type EndpointResult = Pick<ClaimedDelivery, 'probe'> & { readonly delivered: boolean }

/** Computes an endpoint's new health from results in order. Pure: a store may call it twice. */
export type EndpointJudge = (before: EndpointHealth, results: readonly EndpointResult[]) => EndpointChange

export interface SettleResult {
  /** In the given order. Nothing was written for null (the lease was lost) and `locked` (by another transaction). */
  readonly statuses: readonly (SettledStatus | 'locked' | null)[]
  /** Endpoints whose block began or ended. */
  readonly transitions: readonly EndpointTransition[]
}

export interface EndpointTransition {
  readonly integrationAddress: string
  /** Failed attempts in a row; 0 after the end of a block. */
  readonly failures: number
  /** When the new block ends, by the store's clock; null: the block ended. */
  readonly blockedUntil: number | null
  /** How long the endpoint has been failing, in milliseconds. */
  readonly failingMs: number
}

/** `delivered`: a 2xx is logged, or the history is archived. `missing`: not in the outbox, with an unknown end. */
export type DeliveryStatus = 'pending' | 'delivered' | 'exhausted' | 'superseded' | 'missing'

export type SettledStatus = Exclude<DeliveryStatus, 'missing'>

export interface DeliveryView extends Omit<PostedDelivery, 'attempt'> {
  readonly status: DeliveryStatus
  readonly createdAt: number
  readonly attempts: readonly AttemptRecord[]
  /** The next attempt; null unless pending. */
  readonly nextAttemptAt: number | null
}

/** Selects the deliveries that match every given field. */
export interface DeliveryFilter {
  readonly integrationAddress?: string | undefined
  readonly chainId?: number | undefined
  readonly txHash?: string | undefined
  readonly status?: DeliveryStatus | undefined
  /** Created at this time, or later. A delivery without a time is older than any. */
  readonly since?: number | undefined
  readonly until?: number | undefined
}

export interface StreamedDelivery
  extends Pick<DeliveryView, 'deliveryId' | 'chainId' | 'txHash' | 'version' | 'createdAt'> {
  readonly body: Uint8Array
}

export interface StreamQuery {
  readonly integrationAddress: string
  readonly afterId: string
  /** The last id, from {@link DeliveryStore.completeUpTo}. */
  readonly upToId: string
  readonly limit: number
}

export interface EndpointView extends EndpointHealth {
  readonly integrationAddress: string
  /** Time of the first of the failures in a row, in unix milliseconds. */
  readonly failingSince: number
  /** Until this time only replays are sent; null: not blocked. */
  readonly blockedUntil: number | null
}

export interface DeliveryBacklog {
  /** Deliveries in the outbox, leased ones included; counted up to `atMost`. */
  readonly pending: number
  /** For how many milliseconds the oldest claimable delivery has been due; null: there is none. */
  readonly oldestDueMs: number | null
  /** For how many milliseconds the oldest delivery of a blocked endpoint has been due; null: there is none. */
  readonly oldestBlockedMs: number | null
}

export interface ExaminedVersions {
  readonly examined: number
  readonly missing: number
  /** The lowest examined id; null: none was examined. */
  readonly lowestId: string | null
}

/** A database snapshot that keeps dead rows of the outbox, so that claims slow down until it ends. */
export interface DatabaseSnapshot {
  readonly holder: 'session' | 'replication slot' | 'prepared transaction'
  /** How long it has been open, in milliseconds; if the database hides that, since this process first saw it. */
  readonly ageMs: number
  /** Null: a replication slot. */
  readonly databaseUser: string | null
  /** The application name of the session, or the name of the slot or the prepared transaction. */
  readonly application: string
}

/** The free slots of a dispatcher, and its limits. See docs/decisions/fairness.md. */
export interface ClaimRequest {
  readonly limit: number
  readonly leaseMs: number
  /** Maximum of retries, replays and probes in the claim. @default limit */
  readonly maxRetries?: number | undefined
  /** Maximum of the dispatcher's POSTs in flight to one endpoint. @default no limit */
  readonly perEndpoint?: number | undefined
  /** POSTs in flight by endpoint, as `getEndpoint` names it. @default none */
  readonly inFlightByEndpoint?: ReadonlyMap<string, number> | undefined
  /** POSTs in flight by integration address. @default none */
  readonly inFlightByIntegration?: ReadonlyMap<string, number> | undefined
  /** Free slots. An endpoint with as many POSTs in flight gets no more. @default no limit */
  readonly freeSlots?: number | undefined
}

/** Claims, settles and lists deliveries. Leases use the store's clock, so dispatchers need no common clock. */
export interface DeliveryStore {
  /**
   * Leases due deliveries of enabled integrations with a URL. Lanes go in order: first attempts, retries, replays.
   * Within a lane the endpoint with the fewest POSTs in flight goes first, then its integration with the fewest, then
   * the longest due delivery of that integration. Equals take turns.
   *
   * - One dispatcher has the lease. When the lease ends unsettled, the delivery is due again as the same attempt.
   * - A retry of a superseded version is settled as `superseded` instead; a replay is sent all the same.
   * - A blocked integration yields only replays. After its block one dispatcher gets one probe: the longest due first
   *   attempt or retry, in the lane of retries. Nothing else follows until the probe is settled or its lease ends.
   * - The cost does not depend on the size of the backlog.
   * - A claim need not survive a loss of power: then the delivery is due again.
   */
  claim(request: ClaimRequest): Promise<ClaimedDelivery[]>
  /**
   * Logs attempts, settles deliveries and updates their endpoints' health in one transaction, except for locked rows.
   * Results for an earlier URL of the integration change no health.
   */
  settle(settled: readonly SettledAttempt[], judge: EndpointJudge): Promise<SettleResult>
  /**
   * Makes deliveries due now that wait longer than any delay: a clock ahead wrote them. Resolves their number.
   * `retryMs`: the longest time from a failed attempt to its retry, for each step of the schedule.
   */
  resetOverlongWaits(longest: {
    readonly leaseMs: number
    readonly retryMs: readonly number[]
    readonly blockMs: number
  }): Promise<number>
  /** Milliseconds until the next delivery can be claimed, 0 when one can, null when the outbox is empty. */
  msUntilDue(): Promise<number | null>
  /**
   * Calls `listener` soon after another process made deliveries due. Calls may be missed or needless: callers poll as
   * well. Returns the function that stops the calls.
   */
  whenDue(listener: () => void): () => void
  /** The backlog of enabled integrations with a URL. `atMost`, 1 or more, bounds the count and so its cost. */
  backlog(options: { readonly atMost: number }): Promise<DeliveryBacklog>
  /** Matching deliveries, oldest first. */
  list(
    query: DeliveryFilter & { readonly afterId?: string | undefined; readonly limit: number },
  ): Promise<DeliveryView[]>
  find(deliveryId: string): Promise<DeliveryView | null>
  newestId(filter: DeliveryFilter): Promise<string | null>
  /** The number of matching deliveries. @param options.atMost - Counting stops here, 1 or more. @default no limit */
  count(filter: DeliveryFilter, options?: { readonly atMost?: number | undefined }): Promise<number>
  /** Examines `limit` versions below `beforeId`, newest first, without archived history. */
  findMissing(query: { readonly beforeId?: string | undefined; readonly limit: number }): Promise<ExaminedVersions>
  /** The oldest database snapshot of any session; null: none is open, or the database keeps no dead rows for them. */
  oldestSnapshot(): Promise<DatabaseSnapshot | null>
  /**
   * The highest known id up to which no delivery is added any more, as transactions may commit out of order; it never
   * moves down. Null: transactions in flight leave it unknown; call again. `0`: there is no delivery.
   */
  completeUpTo(): Promise<string | null>
  /** Deliveries of one integration by id, in any status. The cost grows with the result. */
  stream(query: StreamQuery): Promise<StreamedDelivery[]>
  /** Endpoints with failures in a row, by address. @param options.limit - 1 or more. @default all */
  endpoints(options?: { readonly limit?: number | undefined }): Promise<EndpointView[]>
  /** The endpoint of an integration; null: no failures in a row. */
  endpoint(integrationAddress: string): Promise<EndpointView | null>
}

export interface ReplayRequest extends DeliveryFilter {
  readonly deliveryId?: string | undefined
  readonly afterId?: string | undefined
  /** The highest id to replay, so that a delivery that fails meanwhile is not replayed twice. */
  readonly upToId?: string | undefined
  readonly limit: number
}

export interface ReplayResult {
  readonly replayed: number
  /** Deliveries that are unchanged, because their attempt is in flight. */
  readonly inFlight: number
  readonly lastId: string | null
}

export interface DeliveryTransaction {
  /** Makes deliveries of any status due at once, as replays with a new schedule. A leased delivery is unchanged. */
  replayDeliveries(request: ReplayRequest): Promise<ReplayResult>
}
