export { createFeedChain, type FeedChainOptions } from '../feed-chain.js'
export type { FeedConnection, FeedConnectionOptions, FeedErrorCode } from '../feed-connection.js'
export { createFeedConnection, FeedError } from '../feed-connection.js'
export { createFeedPublisher, type FeedPublisher, type FeedPublisherOptions } from '../feed-publisher.js'
