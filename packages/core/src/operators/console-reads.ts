/** Reads for the console: newest first, from an index, ending after a fixed number of rows. @module */
import type { PaymentState, ProcessorUpdate } from '@payment-integration/contract'
import type { AuditRecord } from '../history/audit-store.js'
import type { IntegrationView } from '../integrations/integration.js'
import type { AttemptRecord, DeliveryFilter, DeliveryView, EndpointView } from '../notifications/delivery-store.js'
import type { StoredPayment } from '../payments/payment.js'
import type { StoredUpdate } from '../payments/payment-store.js'

/** Selects the primary payments that match every given field. */
export interface ConsolePaymentFilter {
  /** Null: payments without a state. */
  readonly state?: PaymentState | null | undefined
  readonly chainId?: number | undefined
  /** Lowercased; null: payments that name no integration. */
  readonly integrationAddress?: string | null | undefined
  /** The earliest block time: unix milliseconds, included. */
  readonly since?: number | undefined
  /** The end of the block times, not included. */
  readonly until?: number | undefined
  /** The invoice's amount and currency, as stored; any currency if absent. */
  readonly invoice?: { readonly amount: string; readonly currency?: string | undefined } | undefined
  /** The memo begins with these bytes: 0x and an even number of lowercase hex digits, at least two. */
  readonly memo?: string | undefined
}

/** Selects payments of one integration. */
export interface IntegrationPaymentFilter extends Omit<ConsolePaymentFilter, 'integrationAddress'> {
  /** The hash of the payment's transaction on its chain, lowercased. */
  readonly txHash?: string | undefined
  /** Payments that this address sent or received, lowercased. */
  readonly wallet?: string | undefined
}

/** A position in the order (blockTimestamp, id), descending. */
export interface ConsolePosition {
  readonly blockTimestamp: number
  readonly id: string
}

export interface ConsolePage<Row, Position> {
  readonly rows: readonly Row[]
  /** Where the next page begins; null: this is the last. */
  readonly next: Position | null
  /** Whether the page ended at the maximum of examined rows: fewer than `limit` matched, and older ones may match. */
  readonly isCut: boolean
}

export type ConsoleSearch =
  /** The hash of a payment's transaction, or of its source transaction. */
  | { readonly kind: 'hash'; readonly txHash: string }
  /** Memos whose bytes begin with these: 0x and an even number of lowercase hex digits, at least two. */
  | { readonly kind: 'memo'; readonly prefix: string }
  /** Payments that this address sent or received: of one integration, or of the first 1,000 integrations by address. */
  | { readonly kind: 'wallet'; readonly wallet: string; readonly integrationAddress?: string | undefined }

/** An attempt with its delivery. */
export interface ConsoleAttempt extends Pick<AttemptRecord, 'startedAt' | 'latencyMs' | 'status' | 'reason'> {
  readonly deliveryId: string
  /** From 1. */
  readonly number: number
}

/** A processor update that was decided. */
export interface ConsoleUpdate extends Omit<StoredUpdate, 'fingerprint'> {
  /** The content of a rejected update; null for an applied one, whose effect is in the snapshot of its version. */
  readonly update: ProcessorUpdate | null
}

/** An integration without its secrets, with the health of its endpoint. */
export interface ConsoleIntegration
  extends Omit<IntegrationView, 'previousSigningSecretUntil' | 'previousApiSecretUntil'> {
  /** End of the grace time of the previous signing secret; it may be past. Null: none is stored. */
  readonly previousSigningSecretUntil: number | null
  /** Null: no failures in a row. */
  readonly health: EndpointView | null
}

export interface MinuteCount<Kind> {
  /** Start of the minute: unix time in milliseconds. */
  readonly minute: number
  readonly kind: Kind
  readonly count: number
}

/** Kinds of finished attempts. `no_answer`: none arrived, or a malformed one. */
export type AttemptKind = 'delivered' | 'redirect' | 'client_error' | 'server_error' | 'timeout' | 'no_answer'

/** The kind is a currency. */
export interface MinuteVolume extends MinuteCount<string> {
  /** The exact sum of the invoices, a decimal string. */
  readonly amount: string
}

/** Counts of the newest rows since a time. */
export interface MinuteCounts<Kind, Count = MinuteCount<Kind>> {
  readonly counts: readonly Count[]
  /** Whether the limit was reached: counts of the oldest minutes may then be too low. */
  readonly isCut: boolean
}

export interface CountQuery {
  /** Unix time in milliseconds. */
  readonly since: number
  /** Maximum of rows to read. */
  readonly limit: number
}

/**
 * The newest rows, each list newest first. A reader that compares them with the rows of its last call finds each added
 * row, also one whose transaction committed after those of newer rows.
 */
export interface ConsoleNewest {
  /** Ids of payments. */
  readonly payments: readonly string[]
  /** Deliveries with their payments: each is a new version. A store may examine the newest `limit` versions only. */
  readonly deliveries: readonly { readonly deliveryId: string; readonly paymentId: string }[]
  /** Processor updates by number, with the payment that each was decided on; null: it waits for its payment. */
  readonly updates: readonly { readonly seq: string; readonly paymentId: string | null }[]
}

export interface ConsoleReads {
  /**
   * Creates missing indexes of these reads: once, before the first read. Without them the answers are the same, but
   * slow. While it runs, SQLite blocks writes, for seconds in a large database; PostgreSQL does not.
   */
  prepare(): Promise<void>
  /**
   * Primary payments, newest block first. A filter by a state (not `success`, not null), or by an integration, has
   * its own index. Other filters examine at most 5,000 payments for a page.
   */
  payments(
    query: ConsolePaymentFilter & { readonly before?: ConsolePosition | undefined; readonly limit: number },
  ): Promise<ConsolePage<StoredPayment, ConsolePosition>>
  /** Primary payments that match an identifier; those of a wallet newest first. */
  search(search: ConsoleSearch, limit: number): Promise<StoredPayment[]>
  /** Payments by their ids, in any order; unknown ids are left out. At most 1,000. */
  paymentsById(ids: readonly string[]): Promise<StoredPayment[]>
  /** Processor updates that were decided on any of these payments, in the order they were received. */
  updates(query: { readonly paymentIds: readonly string[]; readonly limit: number }): Promise<ConsoleUpdate[]>
  /** The deliveries of a payment, by version. */
  deliveriesByPayment(paymentId: string): Promise<DeliveryView[]>
  /**
   * Deliveries, newest first. A filter by an integration, a status other than `delivered`, or both has its own index.
   * Any other query examines at most 2,000 versions for a page: some versions have no delivery. A time filter selects
   * by ids, which rise with the creation time.
   */
  deliveries(
    query: DeliveryFilter & { readonly beforeId?: string | undefined; readonly limit: number },
  ): Promise<ConsolePage<DeliveryView, string>>
  /** Deliveries by their ids, ascending; unknown ids are left out. At most 1,000. */
  deliveriesById(ids: readonly string[]): Promise<DeliveryView[]>
  /** Attempts that began at a time or later, newest first. */
  attempts(query: CountQuery): Promise<ConsoleAttempt[]>
  /** The number of attempts for each minute of their start. */
  attemptsPerMinute(query: CountQuery): Promise<MinuteCounts<AttemptKind>>
  /** The number of primary payments for each minute of their block and present state; null: no state. */
  paymentsPerMinute(query: CountQuery): Promise<MinuteCounts<PaymentState | null>>
  /** Primary payments in the state `success` for each minute of their block and each currency of their invoices. */
  volumePerMinute(query: CountQuery): Promise<MinuteCounts<string, MinuteVolume>>
  /** The newest failed attempt of the newest 50 sent deliveries and of 50 that wait for a retry; null: none failed. */
  lastFailure(integrationAddress: string): Promise<(AttemptRecord & { readonly deliveryId: string }) | null>
  /**
   * Latencies in milliseconds of the newest 500 attempts of an integration's newest 50 sent deliveries, in no order.
   * Attempts that ended without an answer and without a timeout are left out.
   */
  latencies(integrationAddress: string): Promise<number[]>
  /** Integrations by address, those after `afterAddress` when given; with `isFailing` those with failures in a row. */
  integrations(query: {
    readonly afterAddress?: string | undefined
    readonly isFailing?: boolean | undefined
    readonly limit: number
  }): Promise<ConsoleIntegration[]>
  /** Records of the audit log, newest first. */
  audit(query: { readonly beforeSeq?: number | undefined; readonly limit: number }): Promise<AuditRecord[]>
  /** The newest rows; at most `limit` of each kind. */
  newest(limit: number): Promise<ConsoleNewest>
}
