/** Publishes the configured chains to the feed. Source: docs/decisions/chain-feed.md. @module */
import type { Logger } from '@payment-integration/core/ports'
import type { FeedPublisherConfig } from '../config/read-config.js'
import { createPinoLogger } from '../logging/log.js'
import { connectChainFeed, loadChainEvm, loadChainFeed, openChain } from './open-chain.js'
import { createQuarantineReport } from './open-service.js'

export interface PublishFeedOptions {
  /** Copies of each stream, on different servers. @default 3 */
  readonly replicas?: number | undefined
  /** Age at which a block leaves the feed, in milliseconds. @default a week */
  readonly maxAgeMs?: number | undefined
  /** Size of each stream at which its oldest blocks leave it, in bytes. @default 1073741824 */
  readonly maxBytes?: number | undefined
  /** @default JSON lines on standard output, at the configured level */
  readonly logger?: Logger | undefined
}

/**
 * Publishes until the signal aborts. Logs outages of nodes and NATS servers, and retries.
 * @throws TypeError when the credentials cannot be read; RangeError when an option is out of range.
 */
export async function publishFeed(
  config: FeedPublisherConfig,
  signal: AbortSignal,
  options: PublishFeedOptions = {},
): Promise<void> {
  const { createFeedPublisher } = await loadChainFeed()
  const evm = await loadChainEvm()
  const { logger = await createPinoLogger({ level: config.logLevel }), replicas, maxAgeMs, maxBytes } = options
  // The feed carries no quarantined logs to the cells, so only the publisher can report them.
  const onQuarantine = createQuarantineReport(logger, () => undefined)
  const chains = await Promise.all(config.chains.map((chain) => openChain(chain, onQuarantine)))
  const connection = await connectChainFeed(config.feed, logger)
  try {
    const publishers = config.chains.map((each, index) => {
      const chain = chains[index] as (typeof chains)[number]
      const { pollMs } = each
      const spokePools = each.spokePools ?? evm.knownSpokePools(each.chainId)
      return createFeedPublisher({ chain, connection, pollMs, spokePools, replicas, maxAgeMs, maxBytes, logger })
    })
    await Promise.all(publishers.map((publisher) => publisher.run(signal)))
  } finally {
    for (const chain of chains) chain.close()
    await connection.close()
  }
}
