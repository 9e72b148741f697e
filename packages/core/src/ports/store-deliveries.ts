/** The outbox: deliveries that a transaction left to be sent. Source: docs/architecture.md, docs/decisions/retries.md. @module */
import type { SealedSecret } from './store-integrations.js'

/** A delivery that this dispatcher may attempt until its lease ends. */
export interface ClaimedDelivery {
  readonly deliveryId: string
  /** Proves the claim; a settle with an older token changes nothing. */
  readonly claimToken: string
  /** Attempts of this delivery logged so far, plus 1: a claim that was lost before its attempt was settled does not count. */
  readonly attempt: number
  /** Place in the retry schedule, from 1: how often the delivery was settled since it was made or replayed, plus 1. */
  readonly step: number
  /** Whether an operator asked for this attempt, or for the one that it retries. */
  readonly replay: boolean
  /** The endpoint is blocked, and this attempt finds out whether it answers again. */
  readonly probe: boolean
  /** How long ago the delivery was made or replayed, in milliseconds, by the store's clock. */
  readonly ageMs: number
  readonly integrationAddress: string
  readonly notificationUrl: string
  readonly signingSecret: SealedSecret
  /**
   * The signing secret before the last activation, with the end of its grace time in unix milliseconds. Null: none is
   * kept.
   */
  readonly previousSigningSecret: (SealedSecret & { readonly until: number }) | null
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
  /** The beginning of the answer's body as text, or null when none arrived. */
  readonly excerpt: string | null
  /** Whether it was a replay. */
  readonly replay: boolean
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

/** An attempt that was made, to be written down. */
export interface SettledAttempt {
  readonly claim: Pick<ClaimedDelivery, 'deliveryId' | 'claimToken' | 'integrationAddress' | 'replay' | 'probe'>
  /**
   * The attempt just before `attempt`, whose signature the receiver rejected within the grace time of a rotation. Both
   * are logged, and are one step of the retry schedule. @default none
   */
  readonly rejected?: AttemptRecord | null | undefined
  readonly attempt: AttemptRecord
  readonly verdict: AttemptVerdict
  /**
   * Whether it says anything of its endpoint's health: a replay does not, nor does an attempt that was never sent, nor
   * a failure after a rejected signature within the grace time of a rotation. @default true
   */
  readonly judged?: boolean | undefined
}

/** How the receiver of an integration has been doing: one per integration, and a changed URL begins anew. */
export interface EndpointHealth {
  /** Failed attempts in a row. */
  readonly failures: number
  /** How often in a row it was blocked; 0: it is not. */
  readonly blocks: number
}

/** What becomes of an endpoint's health. */
export interface EndpointChange extends EndpointHealth {
  /** Begins a block of so many milliseconds; null leaves a block as it is, and ends it where `blocks` is 0. */
  readonly blockMs: number | null
}

/** One result that counts for an endpoint's health. */
export interface EndpointResult {
  readonly delivered: boolean
  readonly probe: boolean
}

/** Decides what results do to an endpoint, in their order. Pure: a store may call it again. */
export type EndpointJudge = (before: EndpointHealth, results: readonly EndpointResult[]) => EndpointChange

/** What became of settled attempts. */
export interface Settled {
  /**
   * Where each delivery stands after it, in the order given; null: the claim was lost, and nothing was written. `held`: somebody else's
   * transaction holds its row, and nothing was written; it may be given again.
   */
  readonly statuses: readonly (DeliveryStatus | 'held' | null)[]
  /** Endpoints that began to be blocked, or ceased to be. */
  readonly turned: readonly EndpointTurn[]
}

/** An endpoint that failed so often that it is blocked now, or that answers again. */
export interface EndpointTurn {
  readonly integrationAddress: string
  readonly blocked: boolean
  /** For how long it had been failing, in milliseconds. */
  readonly failingMs: number
}

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
  /** Unix time in milliseconds; null for one that was made before the store noted it. */
  readonly createdAt: number | null
  readonly attempts: readonly AttemptRecord[]
  /** Unix time in milliseconds of the next attempt while pending, else null. */
  readonly nextAttemptAt: number | null
}

/** Which deliveries: those that fit everything given. */
export interface DeliveryFilter {
  readonly integrationAddress?: string | undefined
  readonly chainId?: number | undefined
  readonly txHash?: string | undefined
  readonly status?: DeliveryStatus | undefined
  /** Made at this unix time in milliseconds, or later. One whose time was not noted is older than any. */
  readonly since?: number | undefined
  /** Made before it. */
  readonly until?: number | undefined
}

/** An endpoint with failures in a row. */
export interface EndpointView extends EndpointHealth {
  readonly integrationAddress: string
  /** Unix time in milliseconds of the first of them; null: it was not noted. */
  readonly failingSince: number | null
  /** Unix time in milliseconds until which nothing but replays is sent, or null. */
  readonly blockedUntil: number | null
}

/** How much waits to be sent. */
export interface DeliveryBacklog {
  /** Pending deliveries, those that are claimed just now included; the most that were to be counted: so many or more. */
  readonly pending: number
  /** For how long the oldest has been due of those that could be claimed, in milliseconds; null: there is none. */
  readonly oldestDueMs: number | null
  /** The same of those that wait for a blocked endpoint. */
  readonly oldestBlockedMs: number | null
}

/** What a dispatcher asks for. */
export interface ClaimRequest {
  readonly limit: number
  readonly leaseMs: number
  /** Most retries, replays and probes among them. @default limit */
  readonly again?: number | undefined
  /** Most deliveries of one endpoint that the dispatcher may hold at a time. @default no bound */
  readonly perEndpoint?: number | undefined
  /** How many it holds already, by endpoint as `endpointOf` names it. @default none */
  readonly held?: ReadonlyMap<string, number> | undefined
  /** How many of those held are of which integration, by address, so that those of one endpoint take turns. @default none */
  readonly heldOf?: ReadonlyMap<string, number> | undefined
  /** Free slots of the dispatcher. No endpoint gets one while it holds as many as are free, so that some stay free for others. @default no bound */
  readonly free?: number | undefined
}

/** Claims and settles deliveries. Lease times are the store's own clock, so that dispatchers need not agree on theirs. */
export interface DeliveryStore {
  /**
   * Claims due deliveries of enabled integrations with a URL: those never claimed go first, then those that come back,
   * then replays. Of each of these the endpoint of which the dispatcher holds the fewest goes first, there the
   * integration of which it holds the fewest, with its longest due; where many hold equally few they take turns. A
   * delivery is held by one dispatcher at a time, and comes back when its lease ends unsettled, as the same attempt.
   * Where at least one attempt is logged and a newer version has a delivery, it is settled as `superseded` instead of
   * being claimed; a replay is not, but its retries are.
   *
   * A blocked integration gives nothing but replays. When its block is over it gives one, the probe, to one dispatcher, and nothing
   * else until the probe is settled or its lease ends. The probe is its longest due first attempt or retry, and goes with the retries.
   *
   * Costs the same whatever is due: it reads some deliveries of as many endpoints as it needs.
   *
   * A claim need not survive a loss of power: then the delivery is due again.
   */
  claim(request: ClaimRequest): Promise<ClaimedDelivery[]>
  /**
   * Logs the attempts and settles, reschedules or exhausts their deliveries, and judges their endpoints, all in one transaction;
   * what somebody else holds is left for another one, and does not keep the rest waiting. An endpoint whose integration got another
   * URL since the claim is not judged.
   */
  settle(settled: readonly SettledAttempt[], judge: EndpointJudge): Promise<Settled>
  /** Milliseconds until the next delivery can be claimed, 0 when one can, null when none is pending. */
  msUntilDue(): Promise<number | null>
  /**
   * Calls `listener` soon after deliveries became due by another process, where the database can tell. It may call without
   * need, or not at all: whoever waits looks again from time to time. Returns what ends it.
   */
  whenDue(listener: () => void): () => void
  /**
   * What waits for enabled integrations with a URL: what is held for others is nobody's delay.
   * @param options.atMost - Where counting ends, 1 or more, so that it costs no more however much waits. Rejects with RangeError otherwise.
   */
  backlog(options: { readonly atMost: number }): Promise<DeliveryBacklog>
  /** Deliveries that fit, oldest first. */
  list(
    query: DeliveryFilter & { readonly afterId?: string | undefined; readonly limit: number },
  ): Promise<DeliveryView[]>
  /** One delivery, or null. */
  find(deliveryId: string): Promise<DeliveryView | null>
  /** The id of the newest that fits, or null: none does. */
  newestId(filter: DeliveryFilter): Promise<string | null>
  /** How many fit. */
  count(filter: DeliveryFilter): Promise<number>
  /** Endpoints with failures in a row, by address. */
  endpoints(): Promise<EndpointView[]>
}

/** Which deliveries to replay. */
export interface ReplayRequest extends DeliveryFilter {
  readonly deliveryId?: string | undefined
  /** Only those after it. */
  readonly afterId?: string | undefined
  /** The highest id, so that what fails meanwhile is not replayed again. */
  readonly upToId?: string | undefined
  /** How many are looked at. */
  readonly limit: number
}

/** What a replay came to. */
export interface Replayed {
  /** How many are due now. */
  readonly replayed: number
  /** How many are left alone, because a dispatcher holds them at this moment: their attempt is under way. */
  readonly underWay: number
  /** The last one looked at; null when there was none. */
  readonly lastId: string | null
}
