/** The paths of the service. Source: docs/interface.md 4, 9. @module */

/** Everything under this prefix belongs to the integration API and answers 401 first. */
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
