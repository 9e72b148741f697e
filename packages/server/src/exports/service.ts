export * from '../config/config.js'
export {
  type FeedPublisherConfig,
  readConfig,
  readDatabaseConfig,
  readFeedPublisherConfig,
} from '../config/read-config.js'
export type { Environment, ReadFile } from '../config/read-variables.js'
export { createPinoLogger, loggedFields, type PinoLoggerOptions } from '../logging/pino-logger.js'
export type { DevelopmentTools } from '../run/console-tools.js'
export { ListenError, type ServerLimits, serverLimits } from '../run/http-server.js'
export { openChain } from '../run/open-chain.js'
export {
  type OpenedService,
  type OpenOptions,
  openDatabase,
  openService,
  type SimulateChains,
} from '../run/open-service.js'
export { type PublishFeedOptions, publishFeed } from '../run/publish-feed.js'
export { type RunningServer, type StartOptions, startServer } from '../run/start-server.js'
