export { createFeedChain, type FeedChainOptions } from '../feed-chain.js'
export {
  createFeedConnection,
  type FeedConnection,
  type FeedConnectionOptions,
  FeedError,
  type FeedErrorCode,
} from '../feed-connection.js'
export { createFeedPublisher, type FeedPublisher, type FeedPublisherOptions } from '../feed-publisher.js'
