export { createFeedChain, type FeedChainOptions, feedChainDefaults } from '../feed-chain.js'
export {
  createFeedConnection,
  type FeedConnection,
  type FeedConnectionOptions,
  FeedError,
  type FeedErrorCode,
} from '../feed-connection.js'
export {
  createFeedPublisher,
  type FeedPublisher,
  type FeedPublisherOptions,
  feedPublisherDefaults,
} from '../feed-publisher.js'
