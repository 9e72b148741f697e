/** For the packages of this workspace alone: any release may change these names. @module */
export type { ChainHealth } from '../app/health.js'
export { type ChainConfig, readDatabaseConfig, readFeedPublisherConfig } from '../config/read-config.js'
export { listVariables } from '../config/read-variables.js'
export type { ClosableIdentityProvider } from '../identity/limited-provider.js'
export type { DevelopmentTools } from '../run/open-pages.js'
export { publishFeed } from '../run/publish-feed.js'
