/** Header names, paths and limits of the wire, as data. Source: docs/interface.md 4, 6, 8, 9. @module */

/** `t=<unix seconds>,v1=<64 lowercase hex characters>`. Source: docs/interface.md 6. */
export const signatureHeader = 'X-Service-Signature'
/** The integration of a delivery, lowercased: an unauthenticated routing hint. Source: docs/interface.md 6. */
export const integrationHeader = 'X-Service-Integration'
/** `User-Agent` of every notification. */
export const notificationUserAgent = 'payment-integration'
/** The `Cache-Control` of every response of the read API and of sharing. Source: docs/interface.md 4. */
export const cacheControl = 'private, no-store'
/** Content type of every body. Source: docs/interface.md 6. */
export const jsonContentType = 'application/json'

/** Every path under this prefix belongs to the integration API, and is answered 401 without valid credentials. */
export const integrationPrefix = '/api/v1/integration'

/** Path of each endpoint, with `:name` for its parameters. */
export const paths = {
  payments: `${integrationPrefix}/payments`,
  payment: `${integrationPrefix}/payments/:txHash`,
  walletPayments: `${integrationPrefix}/wallet/:address/payments`,
  walletPayment: `${integrationPrefix}/wallet/:address/payments/:txHash`,
  shareToken: `${integrationPrefix}/idv-share-token`,
  legacyLookup: '/api/v1/tx/:chainId/:txHash',
  legacyVerify: '/api/v1/verify',
  processorUpdates: '/api/v1/processor/updates',
} as const

/** Page size of the list endpoints. Source: docs/interface.md 4.1, 8. */
export const pageLimit = { default: 50, min: 1, max: 200 } as const

/** Longest duration of a whole attempt of a delivery, in milliseconds. Source: docs/interface.md 6, 8. */
export const deliveryTimeoutMs = 5_000

/** Recommended largest gap between `t` and the receiver's clock, in seconds. Source: docs/interface.md 6, 8. */
export const signatureToleranceSeconds = 300

/** Default lifetime of a share token, in seconds. Source: docs/interface.md 4.2, 8. */
export const shareTokenLifetimeSeconds = 1_200
