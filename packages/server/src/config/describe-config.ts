/** The configuration for people: secrets and credentials masked. @module */
import type { ChainConfig, Config } from './config.js'

/** A configuration that may be shown and logged. */
export interface ConfigDescription {
  readonly environment: Config['environment']
  readonly listen: string
  readonly database: string
  readonly masterKey: string
  readonly processorSecrets: string
  readonly chains: readonly {
    readonly chainId: number
    readonly rpc: string
    readonly routers: number
    /** Those of the configuration, without the known ones. */
    readonly tokens: number
    /** Those of the configuration, without the known ones. */
    readonly priceFeeds: number
    readonly startBlock: number | 'head'
    readonly pollMs: number
    readonly confirmations: number | null
  }[]
  readonly receipts: string
  readonly maxExtraFeeBps: number
  readonly logLevel: string
  readonly shutdownTimeoutMs: number
}

/**
 * Describes a configuration. URLs keep scheme, host and port alone: user, password, path and query may hold keys. Secrets
 * become a count.
 */
export function describeConfig(config: Config): ConfigDescription {
  const { database, receipts, processorSecrets } = config
  return {
    environment: config.environment,
    listen: `${config.host}:${config.port}`,
    database: database.kind === 'sqlite' ? `sqlite:${database.path}` : describePostgres(database.connectionString),
    masterKey: 'set',
    processorSecrets: processorSecrets.length === 0 ? 'none' : `${processorSecrets.length} set`,
    chains: config.chains.map(describeChain),
    receipts: receipts.kind === 'http' ? `http from ${describeUrl(receipts.url)}` : receipts.kind,
    maxExtraFeeBps: config.maxExtraFeeBps,
    logLevel: config.logLevel,
    shutdownTimeoutMs: config.shutdownTimeoutMs,
  }
}

function describeChain({ chainId, rpcUrl, startBlock, pollMs, confirmations, ...lists }: ChainConfig) {
  return {
    chainId,
    rpc: describeUrl(rpcUrl),
    routers: lists.routers.length,
    tokens: lists.tokens.length,
    priceFeeds: lists.priceFeeds.length,
    startBlock,
    pollMs,
    confirmations,
  }
}

function describePostgres(connectionString: string): string {
  return URL.canParse(connectionString)
    ? `${describeUrl(connectionString)}${new URL(connectionString).pathname}`
    : 'postgres'
}

function describeUrl(text: string): string {
  if (!URL.canParse(text)) return 'unreadable'
  const { protocol, host } = new URL(text)
  return `${protocol}//${host}`
}
