/** The types of commands on deliveries and endpoints. @module */
import type { AttemptRecord, DeliveryFilter, DeliveryView, EndpointView } from './delivery-store.js'

/** The operator's commands on deliveries. */
export interface DeliveryCommands {
  /** Deliveries of the filter, oldest first. @throws BadRequestError `ERR_ADDRESS_INVALID`, `ERR_TX_HASH_INVALID`. */
  list(
    query: DeliveryFilter & { readonly afterId?: string | undefined; readonly limit: number },
  ): Promise<DeliveryView[]>
  /** Number of deliveries of the filter. @param options.atMost - Counting stops here, 1 or more. @default no limit */
  count(filter: DeliveryFilter, options?: { readonly atMost?: number | undefined }): Promise<number>
  /** @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`. */
  find(deliveryId: string): Promise<DeliveryView>
  /**
   * Makes one delivery of any status due now. It is signed with the active secret at the attempt, and marked as a
   * replay in the attempt log.
   *
   * @param scope.integrationAddress - Deliveries of others are then not found.
   * @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`; `ERR_DELIVERY_UNDER_WAY` while it is leased;
   * `ERR_DELIVERY_ENDED` when its retention has ended.
   */
  replay(deliveryId: string, scope?: { readonly integrationAddress?: string | undefined }): Promise<DeliveryView>
  /**
   * Makes every present delivery of the filter due, in parts, until `signal` aborts. Each part is committed with its
   * record in the audit log.
   *
   * @throws RangeError For a filter without a status: replays of delivered deliveries must be explicit.
   */
  replayAll(
    filter: DeliveryFilter,
    options?: {
      /** Called after each part with the numbers so far. */
      readonly onProgress?: ((done: ReplayTotals) => void) | undefined
      readonly signal?: AbortSignal | undefined
    },
  ): Promise<ReplayTotals>
  /**
   * Counts missing deliveries, newest first and in parts, until `signal` aborts. With `repair` it makes them due again
   * as replays; each part is committed with its record in the audit log. Source: docs/decisions/missing-deliveries.md.
   */
  check(options?: {
    /** @default false */
    readonly repair?: boolean | undefined
    /** Called after each part with the numbers so far. */
    readonly onProgress?: ((done: CheckTotals) => void) | undefined
    readonly signal?: AbortSignal | undefined
  }): Promise<CheckTotals>
  /** Endpoints with failures in a row. */
  endpoints(): Promise<EndpointView[]>
}

/** Progress of a check for missing deliveries. */
export interface CheckTotals {
  /** Versions of payments, with or without a delivery. */
  readonly examined: number
  readonly missing: number
  /** Missing deliveries that are due again. */
  readonly requeued: number
}

/** A signed POST that is no delivery of a payment, and its answer. Nothing of it is stored but its audit record. */
export interface SentTest extends Omit<AttemptRecord, 'replay'> {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The signed bytes as text. */
  readonly body: string
}

/** Commands on the endpoint of an integration. */
export interface EndpointCommands {
  /**
   * Posts a signed sample to the notification URL: a payment without a state, an amount and a real hash. It changes
   * neither the outbox nor the endpoint's health. Source: docs/decisions/portal.md.
   * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_NO_NOTIFICATION_URL`, `ERR_TEST_IN_FLIGHT`;
   * SealedSecretError `ERR_SECRET_UNREADABLE`.
   */
  sendTest(address: string): Promise<SentTest>
}

/** Progress of a replay. */
export interface ReplayTotals {
  readonly replayed: number
  /** Skipped, because they were leased: their attempt was in flight. */
  readonly underWay: number
}
