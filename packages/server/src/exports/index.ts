export { type AdminAppDeps, createAdminApp } from '../app/admin-app.js'
export type { AppEnv } from '../app/app-env.js'
export { type AppDeps, createApp } from '../app/create-app.js'
export { type ChainHealth, createHealth, type HealthDeps, type HealthReport } from '../app/health.js'
export type { ObservedRequest, RequestObserver } from '../app/observe-requests.js'
export type { ReadinessDeps, ReadyReport, RoleState } from '../app/readiness.js'
export type { TriggerHandler } from '../app/trigger-route.js'
export { type ClosableIdentityProvider, type ProviderLimits, providerLimits } from '../identity/limited-provider.js'
export { createSumsubIdentity, type SumsubIdentity, type SumsubIdentityOptions } from '../identity/sumsub-identity.js'
export { createSumsubProvider, type SumsubProviderOptions } from '../identity/sumsub-provider.js'
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
export type { DevelopmentTools } from '../run/console-tools.js'
export { ListenError, type ServerLimits, serverLimits } from '../run/http-server.js'
export type { SimulateChains } from '../run/open-service.js'
export { type RunningServer, type StartOptions, startServer } from '../run/start-server.js'
export {
  type ClosableSender,
  createUndiciSender,
  senderDefaults,
  type UndiciSenderOptions,
} from '../sender/undici-sender.js'
