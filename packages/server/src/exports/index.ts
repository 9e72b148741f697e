export { type AdminAppDeps, createAdminApp } from '../app/admin-app.js'
export { type AppDeps, createApp } from '../app/create-app.js'
export { createHealth, type HealthDeps, type HealthReport } from '../app/health.js'
export type { AppEnv } from '../app/requests.js'
export { ServerError, type ServerErrorCode } from '../errors.js'
export { createSumsubIdentityProvider, type SumsubIdentityProviderOptions } from '../identity/sumsub-provider.js'
export { createRequestLimits, type RequestLimits, type RequestLimitsOptions } from '../limits/request-limits.js'
export { createMetrics } from '../metrics/create-metrics.js'
export type { Metrics, MetricsOptions } from '../metrics/metrics.js'
export {
  createHttpReceiptSource,
  type HttpReceiptSourceOptions,
  ReceiptError,
} from '../receipts/http-receipt-source.js'
export { createUndiciSender, type UndiciSenderOptions } from '../sender/undici-sender.js'
