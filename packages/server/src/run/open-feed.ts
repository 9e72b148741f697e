/** Opens the feed of proven blocks, where one is configured. Source: docs/decisions/chain-feed.md. @module */
import { readFile } from 'node:fs/promises'
import type { FeedConnection } from '@payment-integration/chain-feed'
import { loadPackage } from '@payment-integration/core'
import type { Chain, Clock, Logger } from '@payment-integration/core/ports'
import type { ChainConfig, FeedConfig } from '../config/config.js'
import { loadChainEvm } from './open-chain.js'

/** An open feed. */
export interface OpenedFeed {
  /** The chain on the feed, and on its nodes where the feed has a flaw or was read with another configuration. */
  over(chain: Chain, config: ChainConfig): Chain
  close(): Promise<void>
}

/** Loads the package of the feed. @throws MissingPackageError `ERR_PACKAGE_MISSING` when it is not installed. */
export function loadChainFeed() {
  return loadPackage('@payment-integration/chain-feed', 'PI_FEED_URL', () => import('@payment-integration/chain-feed'))
}

/**
 * Opens the feed; null without one, and then its library is not loaded. Servers that cannot be reached delay nothing.
 * @throws TypeError when the credentials cannot be read or have no known form.
 */
export async function openFeed(
  config: FeedConfig | null,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<OpenedFeed | null> {
  if (config === null) return null
  const { createFeedChain } = await loadChainFeed()
  const evm = await loadChainEvm()
  const connection = await connectFeed(config, logger)
  return {
    over(chain, each) {
      const leastProof = each.proof ?? undefined
      const spokePools = each.spokePools ?? evm.knownSpokePools(each.chainId)
      return createFeedChain({ chain, connection, leastProof, spokePools, clock, logger })
    },
    close: () => connection.close(),
  }
}

/** Connects in the background, and warns of a feed that strangers may write. @throws TypeError as {@link openFeed}. */
export async function connectFeed(
  { servers, credentialsFile, caFile }: FeedConfig,
  logger: Pick<Logger, 'warn'>,
): Promise<FeedConnection> {
  if (credentialsFile === null && !servers.every(isOnThisMachine))
    logger.warn(
      { servers: servers.length },
      'PI_FEED_URL names another machine, and PI_FEED_CREDENTIALS_FILE is not set: whoever reaches that server can publish payments. Set credentials, and use tls://.',
    )
  const { createFeedConnection } = await loadChainFeed()
  const credentials = credentialsFile === null ? undefined : await readText('PI_FEED_CREDENTIALS_FILE', credentialsFile)
  if (caFile !== null) await readText('PI_FEED_CA_FILE', caFile)
  return createFeedConnection({ servers, credentials, caFile: caFile ?? undefined })
}

function isOnThisMachine(server: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(new URL(server).hostname)
}

async function readText(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown reason'
    throw new TypeError(`The file that ${variable} names cannot be read (${reason}).`, { cause: error })
  }
}
