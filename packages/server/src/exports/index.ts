export type { AppEnv } from '../app/app-env.js'
export { type AppDeps, createApp } from '../app/create-app.js'
export { type ChainHealth, createHealth, type HealthDeps, type HealthReport } from '../app/health.js'
export * from '../config/config.js'
export { type ConfigDescription, describeConfig } from '../config/describe-config.js'
export { readConfig } from '../config/read-config.js'
export type { Environment } from '../config/variables.js'
export { createPinoLogger, loggedFields, type PinoLoggerOptions } from '../logging/pino-logger.js'
export { createMetrics } from '../metrics/create-metrics.js'
export type { Metrics, MetricsOptions, MetricsSources } from '../metrics/metrics.js'
export {
  type ClosableReceiptSource,
  createHttpReceiptSource,
  type HttpReceiptSourceOptions,
  ReceiptError,
  receiptDefaults,
} from '../receipts/http-receipt-source.js'
export { ListenError, type ServerLimits, serverLimits } from '../run/http-server.js'
export { openChain } from '../run/open-chain.js'
export { type OpenedService, type OpenOptions, openService } from '../run/open-service.js'
export { type RunningServer, type StartOptions, startServer } from '../run/start-server.js'
export { isLoopbackAddress, isPublicAddress } from '../sender/is-public-address.js'
export {
  type ClosableSender,
  createUndiciSender,
  senderDefaults,
  type UndiciSenderOptions,
} from '../sender/undici-sender.js'
