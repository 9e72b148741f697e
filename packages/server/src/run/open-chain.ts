/** Opens the configured chains, the feed, and the fulfillments of payments between chains. @module */
import { readFile } from 'node:fs/promises'
import type {
  AcrossFulfillmentSource,
  EvmChain,
  KnownPriceFeed,
  KnownToken,
  QuarantinedLog,
} from '@payment-integration/chain-evm'
import type { FeedConnection } from '@payment-integration/chain-feed'
import { loadPackage } from '@payment-integration/core/internal'
import type { Chain, Clock, Logger } from '@payment-integration/core/ports'
import { type ChainConfig, type Config, ConfigError } from '../config/read-config.js'

interface Addressed {
  readonly address: string
}

/** The known entries whose address is not configured, then the configured entries. */
function mergeKnown<Entry extends Addressed>(known: readonly Entry[], configured: readonly Entry[]): readonly Entry[] {
  const addresses = new Set(configured.map(({ address }) => address))
  return [...known.filter(({ address }) => !addresses.has(address)), ...configured]
}

const formatToken = ({ symbol, currency }: KnownToken) => `${symbol}:${currency}`
const formatPriceFeed = ({ base, quote, decimals }: KnownPriceFeed) => `${base}:${quote}:${decimals}`

/**
 * Every known token and price feed that the configuration overrides, in the order of the configuration. The fields
 * `known` and `configured` have the format of the environment variable, without the address.
 */
export async function listPriceOverrides(chains: readonly ChainConfig[]) {
  if (chains.length === 0) return []
  const { knownTokens, knownPriceFeeds } = await loadChainEvm()
  return chains.flatMap(({ chainId, tokens, priceFeeds }) => [
    ...listChanged({ chainId, kind: 'token' }, knownTokens(chainId), tokens, formatToken),
    ...listChanged({ chainId, kind: 'price feed' }, knownPriceFeeds(chainId), priceFeeds, formatPriceFeed),
  ])
}

function listChanged<Entry extends Addressed>(
  about: { readonly chainId: number; readonly kind: 'token' | 'price feed' },
  known: readonly Entry[],
  configured: readonly Entry[],
  format: (entry: Entry) => string,
) {
  return configured.flatMap((entry) => {
    const { address } = entry
    const knownEntry = known.find((each) => each.address === address)
    if (knownEntry === undefined || format(knownEntry) === format(entry)) return []
    return [{ ...about, address, known: format(knownEntry), configured: format(entry) }]
  })
}

/** Loads the package of the feed. @throws MissingPackageError `ERR_PACKAGE_MISSING` when it is not installed. */
export function loadChainFeed() {
  const name = '@payment-integration/chain-feed'
  return loadPackage(name, 'PI_CHAIN_FEED_URL', () => import('@payment-integration/chain-feed'))
}

/**
 * Opens the feed; null, without loading its library, if none is configured. Unreachable servers delay nothing.
 * @throws TypeError when the credentials cannot be read or have no known form.
 */
export async function openChainFeed(
  config: Config['feed'],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
) {
  if (config === null) return null
  const { createFeedChain } = await loadChainFeed()
  const evm = await loadChainEvm()
  const connection = await connectChainFeed(config, logger)
  return {
    /** Reads a chain from the feed, or from its nodes where the feed is flawed or configured differently. */
    wrap(chain: Chain, chainConfig: ChainConfig) {
      const minProof = chainConfig.proof ?? undefined
      const spokePools = chainConfig.spokePools ?? evm.knownSpokePools(chainConfig.chainId)
      return createFeedChain({ chain, connection, minProof, spokePools, clock, logger })
    },
    close: () => connection.close(),
  }
}

/** Connects to the feed in the background; warns if anyone may write. @throws TypeError like {@link openChainFeed}. */
export async function connectChainFeed(
  { servers, credentialsFile, caFile }: NonNullable<Config['feed']>,
  logger: Pick<Logger, 'warn'>,
): Promise<FeedConnection> {
  if (credentialsFile === null && !servers.every(isOnThisMachine))
    logger.warn(
      { servers: servers.length },
      'PI_CHAIN_FEED_URL names another machine, and PI_CHAIN_FEED_CREDENTIALS_FILE is not set: whoever reaches that server can publish payments. Set credentials, and use tls://.',
    )
  const { createFeedConnection } = await loadChainFeed()
  const credentials =
    credentialsFile === null ? undefined : await readText('PI_CHAIN_FEED_CREDENTIALS_FILE', credentialsFile)
  if (caFile !== null) await readText('PI_CHAIN_FEED_CA_FILE', caFile)
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

/** Loads the package that reads chains. */
export function loadChainEvm() {
  const name = '@payment-integration/chain-evm'
  return loadPackage(name, 'PI_RPC_URL_<chainId>', () => import('@payment-integration/chain-evm'))
}

/**
 * Opens a chain on its nodes, as in `config.chains`. No request is sent before the first call.
 * @param onQuarantine - Receives each skipped log, again at every read of its range. @default nothing
 * @throws ConfigError `ERR_CONFIG` when no router of the chain is configured or known; MissingPackageError
 * `ERR_PACKAGE_MISSING` without chain-evm.
 * @throws TypeError or RangeError when a configuration that `readConfig` did not make contradicts itself.
 */
export async function openChain(config: ChainConfig, onQuarantine?: (log: QuarantinedLog) => void): Promise<EvmChain> {
  const evm = await loadChainEvm()
  const { chainId, nodes, spokePools, proof, rawReceipts, maxRange } = config
  const routers = config.routers ?? evm.knownRouters(chainId)
  if (config.routers === null && routers.length === 0)
    throw new ConfigError([
      `PI_ROUTERS_${chainId} is not set, and no router of chain ${chainId} is known; expected 0x<address>@<version>, comma-separated.`,
    ])
  return evm.createEvmChain({
    chainId,
    nodes,
    routers,
    tokens: mergeKnown(evm.knownTokens(chainId), config.tokens),
    priceFeeds: mergeKnown(evm.knownPriceFeeds(chainId), config.priceFeeds),
    ...(spokePools === null ? {} : { spokePools }),
    ...(proof === null ? {} : { proof }),
    rawReceipts,
    ...(maxRange === null ? {} : { maxRange }),
    onQuarantine,
  })
}

/**
 * The source of fulfillments over the chains with a known bridge and finality; null when no chain has both. It sends
 * nothing before its first call. Source: docs/decisions/cross-chain.md.
 */
export async function openFulfillments(
  chains: readonly ChainConfig[],
  clock: Clock,
): Promise<AcrossFulfillmentSource | null> {
  if (chains.length === 0) return null
  const evm = await loadChainEvm()
  const destinations = chains.flatMap(({ chainId, nodes, confirmations, ...chain }) => {
    const [spokePool] = chain.spokePools ?? evm.knownSpokePools(chainId)
    if (confirmations === null || spokePool === undefined) return []
    const tokens = mergeKnown(evm.knownTokens(chainId), chain.tokens)
    return [[chainId, { nodes, spokePool, confirmations, tokens }] as const]
  })
  return destinations.length === 0 ? null : evm.createAcrossFulfillmentSource({ chains: new Map(destinations), clock })
}
