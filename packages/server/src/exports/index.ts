export { type AdminAppDeps, createAdminApp } from '../app/admin-app.js'
export { type AppDeps, createApp, type MountedPages } from '../app/create-app.js'
export type { ReadinessDeps, ReadyReport, RoleState } from '../app/health.js'
export { type ChainHealth, createHealth, type HealthDeps, type HealthReport } from '../app/health.js'
export type { ObservedRequest, RequestObserver } from '../app/observe-requests.js'
export type { AppEnv } from '../app/requests.js'
export type { TriggerHandler } from '../app/trigger-route.js'
export type { VerdictReader } from '../app/verdict-route.js'
export { type ClosableIdentityProvider, type ProviderLimits, providerLimits } from '../identity/limited-provider.js'
export { createSumsubProvider, type SumsubCalls, type SumsubProviderOptions } from '../identity/sumsub-provider.js'
export { createRequestLimits, type RequestLimits, type RequestLimitsOptions } from '../limits/request-limits.js'
export { createMetrics } from '../metrics/create-metrics.js'
export type { Metrics, MetricsOptions, MetricsSources } from '../metrics/metrics.js'
export {
  type ClosableReceiptSource,
  createHttpReceiptSource,
  type HttpReceiptSourceOptions,
  ReceiptError,
  receiptDefaults,
} from '../receipts/http-receipt-source.js'
export {
  type ClosableSender,
  createUndiciSender,
  senderDefaults,
  type UndiciSenderOptions,
} from '../sender/undici-sender.js'
