/** Queries for operators, for the portal and for the read API. @module */
import { type PageBody, type PaymentBody, pageLimit } from '@payment-integration/contract'
import { createListing, type Listing, toDeliveryRow } from './history/export.js'
import type { ChainReads } from './indexer/chain-store.js'
import type { Caller } from './integrations/integration.js'
import type { AccountRecord } from './legacy/legacy-store.js'
import type { DeliveryFilter, DeliveryStore, DeliveryView, EndpointView } from './notifications/delivery-store.js'
import type {
  ConsolePage,
  ConsolePaymentFilter,
  ConsolePosition,
  ConsoleReads,
  IntegrationPaymentFilter,
} from './operators/console-reads.js'
import type { CursorCodec } from './payments/cursor.js'
import type { StoredPayment } from './payments/payment.js'
import type { PaymentReads } from './payments/payment-store.js'
import { buildPaymentBody, createReadApi } from './payments/read-api.js'
import type { Store } from './ports/store.js'

/** A stored snapshot: the bytes that are sent. */
export interface StoredSnapshot {
  readonly version: number
  readonly body: Uint8Array
}

/** A payment with its snapshots, oldest first, and its deliveries by version. */
export interface PaymentDetail {
  readonly payment: StoredPayment
  readonly snapshots: readonly StoredSnapshot[]
  readonly deliveries: readonly DeliveryView[]
}

/** The rows of one integration. No parameter can name a row of another integration. */
export interface IntegrationQueries extends Caller {
  /**
   * A page of the read API, newest first. Parameters are the raw strings of the request. Source: docs/interface.md 4.1.
   * @throws InvalidParameterError `ERR_LIMIT_INVALID`, `ERR_CURSOR_INVALID`, `ERR_ADDRESS_INVALID`.
   */
  listPayments(query: {
    readonly limit?: string | undefined
    readonly cursor?: string | undefined
    readonly wallet?: string | undefined
  }): Promise<PageBody>
  /**
   * One payment by destination transaction hash. Parameters are the raw strings of the request.
   * @throws InvalidParameterError `ERR_TX_HASH_INVALID`, `ERR_ADDRESS_INVALID`; PaymentNotFoundError
   * `ERR_PAYMENT_NOT_FOUND`; AmbiguousPaymentError `ERR_PAYMENT_AMBIGUOUS`.
   */
  getPayment(query: { readonly txHash: string; readonly wallet?: string | undefined }): Promise<PaymentBody>
  /** A payment with its deliveries and chosen snapshots; null: the integration has no such payment. */
  paymentDetail(
    chainId: number,
    txHash: string,
    chooseVersions: (payment: StoredPayment) => readonly number[],
  ): Promise<PaymentDetail | null>
  /** Deliveries, newest first. */
  deliveries(
    query: Omit<DeliveryFilter, 'integrationAddress'> & {
      readonly beforeId?: string | undefined
      readonly limit: number
    },
  ): Promise<ConsolePage<DeliveryView, string>>
  /**
   * Payments of the filter, newest first, with the cursors of `listPayments`. A page examines at most 5,000 payments.
   * Unless it is the last one or `isCut`, it has at least `limit` rows, and fewer than twice as many.
   * @throws InvalidParameterError `ERR_CURSOR_INVALID`.
   */
  payments(
    query: IntegrationPaymentFilter & { readonly cursor?: string | undefined; readonly limit: number },
  ): Promise<ConsolePage<StoredPayment, string>>
  /** Payments of the filter as in the read API, for an export. */
  paymentListing(filter: IntegrationPaymentFilter): Listing
  deliveryListing(filter: Omit<DeliveryFilter, 'integrationAddress'>): Listing
  /** Failures in a row at the endpoint; null: the last attempt succeeded, or there was none. */
  endpoint(): Promise<EndpointView | null>
  /** The newest failed attempt among the newest 50 sent deliveries and 50 that wait for a retry; null: none failed. */
  lastFailure(): ReturnType<ConsoleReads['lastFailure']>
}

/** Queries for operators across all integrations. `forIntegration` limits them to one integration. */
export interface Queries
  extends Omit<ConsoleReads, 'prepare'>,
    Pick<DeliveryStore, 'backlog' | 'endpoints' | 'findMissing' | 'oldestSnapshot'>,
    Pick<ChainReads, 'proofs' | 'coverage'>,
    Pick<PaymentReads, 'checkpoint'> {
  /** @param integrationAddress - The address of the authenticated caller, never a parameter of a request. */
  forIntegration(integrationAddress: string): IntegrationQueries
  /** All primary payments that match, for an export. */
  paymentListing(filter: Omit<ConsolePaymentFilter, 'invoice'>): Listing
  deliveryListing(filter: DeliveryFilter): Listing
  /** The payments of a transaction, primary or not, by ordinal. */
  transaction(query: { readonly chainId: number; readonly txHash: string }): Promise<readonly StoredPayment[]>
  /** The snapshots of a payment by version, oldest first. A version whose snapshot is not stored is left out. */
  snapshots(paymentId: string, versions: readonly number[]): Promise<StoredSnapshot[]>
  /** The number of deliveries, counted up to `atMost`. */
  countDeliveries(filter: DeliveryFilter, options?: { readonly atMost?: number | undefined }): Promise<number>
  /** An account by its handle, lowercased. */
  account(handle: string): Promise<AccountRecord | null>
}

/** Rows that an export reads at once. */
const listingPage = 500

/** Builds the queries on a store. Only `forIntegration` isolates tenants. */
export function createQueries(store: Store, cursors: CursorCodec): Queries {
  const reader = createReadApi(store, cursors)
  const { prepare: _, ...reads } = store.console
  const deliveryListing = (filter: DeliveryFilter) =>
    createListing('deliveries', { ...filter }, async (beforeId: string | undefined) => {
      const { rows, next } = await reads.deliveries({ ...filter, beforeId, limit: listingPage })
      return { rows: rows.map(toDeliveryRow), next }
    })

  async function snapshots(paymentId: string, versions: readonly number[]): Promise<StoredSnapshot[]> {
    const read = async (version: number) => ({ version, body: await store.payments.snapshot(paymentId, version) })
    const bodies = await Promise.all([...new Set(versions)].sort((a, b) => a - b).map(read))
    return bodies.flatMap(({ version, body }) => (body === null ? [] : [{ version, body }]))
  }

  /** Binds the integration's address to every read: the only way a tenant's rows are reached. */
  const createIntegrationQueries = (integrationAddress: string): IntegrationQueries => ({
    integrationAddress,
    listPayments: (query) => reader.list(integrationAddress, query),
    getPayment: (query) => reader.get(integrationAddress, query),
    async paymentDetail(chainId, txHash, chooseVersions) {
      const { payments } = await store.payments.transaction({ chainId, txHash })
      const payment = payments.find((each) => each.primary && each.integrationAddress === integrationAddress)
      if (payment === undefined) return null
      const [bodies, deliveries] = await Promise.all([
        snapshots(payment.id, chooseVersions(payment)),
        store.console.deliveriesByPayment(payment.id),
      ])
      // All deliveries of a payment belong to its integration. The filter protects tenants from a wrong row.
      const ownDeliveries = deliveries.filter((each) => each.integrationAddress === integrationAddress)
      return { payment, snapshots: bodies, deliveries: ownDeliveries }
    },
    deliveries: (query) => store.console.deliveries({ ...query, integrationAddress }),
    payments: (query) => reader.select(integrationAddress, query),
    paymentListing({ invoice, ...filter }) {
      const invoiceText = invoice && [invoice.amount, invoice.currency ?? ''].join(' ').trim()
      const details = { ...filter, integrationAddress, invoice: invoiceText }
      return createListing('payments', details, async (cursor: string | undefined) => {
        const page = await reader.select(integrationAddress, { ...filter, invoice, cursor, limit: pageLimit.max })
        return { ...page, rows: page.rows.map((payment) => buildPaymentBody(payment, integrationAddress)) }
      })
    },
    deliveryListing: (filter) => deliveryListing({ ...filter, integrationAddress }),
    endpoint: () => store.deliveries.endpoint(integrationAddress),
    lastFailure: () => store.console.lastFailure(integrationAddress),
  })

  return {
    forIntegration: createIntegrationQueries,
    transaction: async (query) => (await store.payments.transaction(query)).payments,
    snapshots,
    countDeliveries: (filter, options) => store.deliveries.count(filter, options),
    account: (handle) => store.accounts.find(handle),
    checkpoint: (chainId) => store.payments.checkpoint(chainId),
    proofs: (chainId, limit) => store.chains.proofs(chainId, limit),
    coverage: (chainId) => store.chains.coverage(chainId),
    backlog: (options) => store.deliveries.backlog(options),
    endpoints: (options) => store.deliveries.endpoints(options),
    findMissing: (query) => store.deliveries.findMissing(query),
    oldestSnapshot: () => store.deliveries.oldestSnapshot(),
    ...reads,
    paymentListing: (filter) =>
      createListing('payments', filter, async (before: ConsolePosition | undefined) => {
        const { rows, next } = await reads.payments({ ...filter, before, limit: listingPage })
        return { rows: rows.map((row) => buildPaymentBody(row, row.integrationAddress)), next }
      }),
    deliveryListing,
  }
}
