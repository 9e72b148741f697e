/** Reads the variables of the feed of proven blocks. Source: docs/decisions/chain-feed.md. @module */
import { parseUrl } from '@payment-integration/contract'
import { readChains } from './chain-variables.js'
import { type ChainConfig, ConfigError, type FeedConfig, type LogLevel, logLevels } from './config.js'
import { type Environment, type ReadFile, readVariables, type Variables } from './variables.js'

/** Names of these variables. */
export const feedVariables = ['PI_FEED_URL', 'PI_FEED_CREDENTIALS_FILE', 'PI_FEED_CA_FILE'] as const

/** What a publisher of the feed needs. */
export interface FeedPublisherConfig {
  readonly feed: FeedConfig
  /** At least one. */
  readonly chains: readonly ChainConfig[]
  readonly logLevel: LogLevel
}

/**
 * Reads the chains and the feed: all that a publisher needs. It has no database and no master key.
 * @throws ConfigError `ERR_CONFIG` with every problem, each naming its variable.
 */
export function readFeedPublisherConfig(env: Environment, readFile?: ReadFile): FeedPublisherConfig {
  const variables = readVariables(env, readFile)
  const { problems } = variables
  const feed = readFeed(variables)
  const chains = readChains(env, variables)
  if (feed === null && variables.text('PI_FEED_URL') === undefined)
    problems.push(
      'PI_FEED_URL is not set; expected the servers of the feed, such as tls://nats-1:4222,tls://nats-2:4222.',
    )
  if (chains.length === 0)
    problems.push('No PI_RPC_URL_<chainId> is set; a publisher reads the chains from their nodes.')
  const logLevel = variables.choice('PI_LOG_LEVEL', logLevels, 'info')
  if (feed === null || problems.length > 0) throw new ConfigError(problems)
  return { feed, chains, logLevel }
}

/** Reads the `PI_FEED_…` variables; null when no server is named. */
export function readFeed({ text, problems }: Variables): FeedConfig | null {
  const value = text('PI_FEED_URL')
  const credentialsFile = text('PI_FEED_CREDENTIALS_FILE') ?? null
  const caFile = text('PI_FEED_CA_FILE') ?? null
  if (value === undefined) {
    for (const name of feedVariables)
      if (text(name) !== undefined) problems.push(`${name} is set; it is only used with PI_FEED_URL.`)
    return null
  }
  const servers = value.split(',').map((server) => server.trim())
  const schemes = new Set(servers.map(schemeOf))
  // A part of a malformed address may be a password, so no message repeats it.
  if (schemes.has(null))
    problems.push('PI_FEED_URL has an unusable address; expected nats://host:port or tls://host:port, without a user.')
  else if (schemes.size > 1) problems.push('PI_FEED_URL mixes nats:// and tls://; use one of them for all servers.')
  else if (caFile !== null && !schemes.has('tls:'))
    problems.push('PI_FEED_CA_FILE is set; it is only used with tls:// addresses in PI_FEED_URL.')
  return { servers, credentialsFile, caFile }
}

function schemeOf(server: string): string | null {
  const url = parseUrl(server)
  if (url === null || !['nats:', 'tls:'].includes(url.protocol)) return null
  const { hostname, username, password, pathname, search, hash } = url
  return hostname !== '' && username + password + pathname.slice(1) + search + hash === '' ? url.protocol : null
}
