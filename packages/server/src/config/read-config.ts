/** Reads the configuration from the environment, and checks that the variables fit together. @module */
import type { OidcOptions } from '@payment-integration/console'
import { finality } from '@payment-integration/contract'
import type { RetentionPolicy } from '@payment-integration/core'
import { dispatcherDefaults, type LoopRoles } from '@payment-integration/core/internal'
import type { PostgresStoreOptions } from '@payment-integration/store-sql/postgres'
import { ServerError } from '../errors.js'
import { quoteText } from './kinds.js'
import { createVariableReader, type Environment, type ReadFile, type VariableReader } from './read-variables.js'

/** The environment does not describe a server. */
export class ConfigError extends ServerError {
  override readonly name = 'ConfigError'
  readonly code = 'ERR_CONFIG'
  /** Every problem, each naming its variable. No secret values. */
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((each) => `- ${each}`).join('\n')}`)
    this.problems = problems
  }
}

/** The whole configuration of a server. `variables.ts` has the meaning of each variable. */
export type Config = Readonly<ReturnType<typeof readConfig>>

/**
 * Reads `PI_…` variables; docs/configuration.md lists them with units and defaults.
 * @param readFile - Reads a file that a `PI_…_FILE` variable names. @default from the disk
 * @throws ConfigError `ERR_CONFIG` with every problem, each naming its variable and never a secret value.
 * @example
 * import { openService, readConfig } from '@payment-integration/server/service'
 * const { service, close } = await openService(readConfig(process.env))
 */
export function readConfig(env: Environment, readFile?: ReadFile) {
  const reader = createVariableReader(env, readFile)
  const { value, problems } = reader
  const settings = reader.readAll()
  const environment = value('PI_ENV')
  const database = readDatabase(reader)
  const portal = readPortal(reader)
  const chains = readChains(reader)
  const simulatedChains = readSimulatedChains(reader)
  const roles = readRoles(reader, value('PI_CONSOLE') || portal !== null)
  checkConsole(reader)
  const policy: RetentionPolicy = {
    attempts: value('PI_RETENTION_ATTEMPTS'),
    deliveries: value('PI_RETENTION_DELIVERIES'),
    updates: value('PI_RETENTION_UPDATES'),
    audit: value('PI_RETENTION_AUDIT'),
  }
  const config = {
    environment,
    /** Address that the APIs listen on. @default '127.0.0.1' */
    host: value('PI_HOST'),
    /** Port that the APIs listen on; 0 takes any free one. @default 4747 */
    port: value('PI_PORT'),
    /** The file or the server of the store. */
    database,
    /** Whether the schema is brought up to date at the start; else an outdated one is an error. @default with SQLite */
    migrates: value('PI_MIGRATE') ?? database.kind === 'sqlite',
    /** How long history stays, by kind, and the folder for files of removed history. @default keep all */
    retention: { policy, folder: value('PI_RETENTION_FOLDER') },
    /** As given: one or several keys. Never logged or shown. */
    masterKey: value('PI_MASTER_KEY') ?? '',
    /** Empty: processor updates are not accepted. */
    processorSecrets: value('PI_PROCESSOR_SECRETS'),
    /** Empty: the server serves and delivers, but indexes nothing. */
    chains,
    /** The servers of the chain feed. Null: chains are read from their nodes alone. */
    feed: readChainFeed(reader),
    /** Which payments are stored. @default 'all' */
    recording: value('PI_RECORD'),
    /** Lease of a chain, in milliseconds. @default 15000 */
    leaseMs: value('PI_LEASE_MS'),
    /** The source of receipts, by its kind. */
    receipts: readReceipts(reader),
    delivery: readDelivery(reader),
    /** Null: identity verifications cannot be shared. */
    identity: readIdentity(reader),
    /** Actor that the audit log records; null: the actor that the caller names. */
    actor: value('PI_ACTOR'),
    /** Largest fee of other parties that verify accepts, in basis points of the gross amount. @default 100 */
    maxExtraFeeBps: value('PI_MAX_EXTRA_FEE_BPS'),
    logLevel: value('PI_LOG_LEVEL'),
    /** The roles of this process. @default all */
    roles,
    /** The listener of health and metrics, and the token of the metrics. @default none */
    admin: readAdmin(reader, roles.api || roles.console),
    accessLog: value('PI_ACCESS_LOG'),
    tracing: value('PI_TRACING'),
    reference: value('PI_REFERENCE') ?? environment === 'development',
    /** Whether the operators' pages are served at `/console`. @default false */
    console: value('PI_CONSOLE'),
    /** One-time links begin with it. Null: nobody signs in; only in development, on a loopback address. */
    consoleUrl: value('PI_CONSOLE_URL'),
    /** Null: operators sign in with passphrases alone. */
    oidc: readOidc(reader),
    /** Null: the portal is not served. */
    portal,
    /** Whether integrations may stream their deliveries to a local receiver. @default false */
    deliveryStream: value('PI_LISTEN'),
    /** Empty outside of development. */
    simulatedChains,
    /** Limits of this process: requests per second, 401 answers per minute, open connections; null: no limit. */
    limits: {
      requestsPerSource: value('PI_LIMIT_PER_SOURCE'),
      requestsPerCaller: value('PI_LIMIT_PER_CALLER'),
      failedSignInsPerSource: value('PI_LIMIT_FAILED_SIGN_INS'),
      connectionsPerSource: value('PI_LIMIT_CONNECTIONS'),
      trustedProxies: value('PI_TRUSTED_PROXIES'),
    },
    /** How long an idle connection stays open, in milliseconds. @default 5000 */
    keepAliveMs: value('PI_KEEP_ALIVE_MS'),
    /** How long a stopping server goes on accepting requests, in milliseconds. @default 0 */
    drainMs: value('PI_DRAIN_MS'),
    /** Longest time of a shutdown after `drainMs`, in milliseconds. @default 10000 */
    shutdownTimeoutMs: value('PI_SHUTDOWN_TIMEOUT_MS'),
    /** The variables as read, for people. */
    settings,
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** A database. PostgreSQL has options of `createPostgresStore`; its addresses are never logged or shown. */
type DatabaseConfig =
  | { readonly kind: 'sqlite'; readonly path: string }
  | ({ readonly kind: 'postgres'; readonly connectionString: string } & PostgresConfig)
type PostgresConfig = Omit<PostgresStoreOptions, 'connectionString' | 'pool' | 'schema' | 'clock' | 'ids'>

/** Reads the `PI_DATABASE_…` variables, all that a migration needs. @throws ConfigError `ERR_CONFIG` */
export function readDatabaseConfig(env: Environment, readFile?: ReadFile): DatabaseConfig {
  const reader = createVariableReader(env, readFile)
  const database = readDatabase(reader)
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  return database
}

/** The configuration of a publisher of the feed, with at least one chain. */
export type FeedPublisherConfig = ReturnType<typeof readFeedPublisherConfig>

/** Reads the chains and the feed, all that a publisher needs. @throws ConfigError `ERR_CONFIG` */
export function readFeedPublisherConfig(env: Environment) {
  const reader = createVariableReader(env)
  const { problems } = reader
  const feed = readChainFeed(reader)
  const chains = readChains(reader)
  if (!reader.isSet('PI_CHAIN_FEED_URL'))
    problems.push(
      'PI_CHAIN_FEED_URL is not set; expected the servers of the feed, such as tls://nats-1:4222,tls://nats-2:4222.',
    )
  if (chains.length === 0)
    problems.push('No PI_RPC_URL_<chainId> is set; a publisher reads the chains from their nodes.')
  const logLevel = reader.value('PI_LOG_LEVEL')
  if (feed === null || problems.length > 0) throw new ConfigError(problems)
  return { feed, chains, logLevel }
}

function readDatabase({ value, problems }: VariableReader): DatabaseConfig {
  const connectionString = value('PI_DATABASE_URL')
  const standby = value('PI_DATABASE_READ_URL')
  const ca = value('PI_DATABASE_CA_FILE') ?? undefined
  const connections = {
    preparedStatements: value('PI_DATABASE_PREPARED') === 'off' ? false : undefined,
    directConnectionString: value('PI_DATABASE_DIRECT_URL') ?? undefined,
    reader:
      standby === null ? undefined : { connectionString: standby, maxLagMs: value('PI_DATABASE_READ_MAX_LAG_MS') },
    maxConnections: value('PI_DATABASE_POOL'),
    statementTimeoutMs: value('PI_DATABASE_STATEMENT_TIMEOUT_MS'),
    lockTimeoutMs: value('PI_DATABASE_LOCK_TIMEOUT_MS'),
    ca,
    acceptedEngine: value('PI_DATABASE_ENGINE') ?? undefined,
  }
  for (const name of ['PI_DATABASE_URL', 'PI_DATABASE_DIRECT_URL', 'PI_DATABASE_READ_URL'] as const)
    if (ca !== undefined && /[?&]ssl[a-z]{0,20}=/i.test(value(name) ?? ''))
      problems.push(`${name} has a parameter such as sslmode, which PI_DATABASE_CA_FILE replaces; remove it.`)
  return connectionString.startsWith('sqlite:')
    ? { kind: 'sqlite', path: connectionString.slice('sqlite:'.length) }
    : { kind: 'postgres', connectionString, ...connections }
}

/** Addresses that may hold API keys: never logged or shown. */
interface NodeConfig {
  readonly url: string
  /** Announces new blocks. */
  readonly headsUrl?: string | undefined
}

/** One chain to follow. Null in `routers`, `spokePools`, `proof` and `maxRange`: the default of the chain. */
export type ChainConfig = Readonly<ReturnType<typeof readChain>>

function readChains(reader: VariableReader): readonly ChainConfig[] {
  return reader.chainIds().map((chainId) => readChain(reader, chainId))
}

function readChain({ chainValue, problems }: VariableReader, chainId: number) {
  const knownFinality: Readonly<Record<number, { readonly confirmations: number }>> = finality
  const urls = chainValue('PI_RPC_URL_', chainId)
  const heads = chainValue('PI_HEADS_URL_', chainId)
  if (urls.length > 0 && heads.length > urls.length)
    problems.push(
      `PI_HEADS_URL_${chainId} names ${heads.length} nodes and PI_RPC_URL_${chainId} ${urls.length}; the n-th belongs to the n-th.`,
    )
  const nodes: readonly NodeConfig[] = urls.map((url, index) => ({ url, headsUrl: heads[index] }))
  return {
    chainId,
    nodes,
    routers: chainValue('PI_ROUTERS_', chainId),
    /** Deposits into any of them are trusted; payments arrive at the first. */
    spokePools: chainValue('PI_SPOKE_POOLS_', chainId),
    /** Added to the known tokens; an entry with the same address replaces one. */
    tokens: chainValue('PI_TOKENS_', chainId),
    /** Added to the known price feeds in the same way. */
    priceFeeds: chainValue('PI_PRICE_FEEDS_', chainId),
    startBlock: chainValue('PI_START_BLOCK_', chainId),
    pollMs: chainValue('PI_POLL_MS_', chainId),
    /** Null: no cost is computed. */
    callPrice: chainValue('PI_RPC_PRICE_', chainId),
    proof: chainValue('PI_PROOF_', chainId),
    rawReceipts: chainValue('PI_RAW_RECEIPTS_', chainId),
    maxRange: chainValue('PI_MAX_RANGE_', chainId),
    /** Confirmations until a block is final; null: never. Source: docs/interface.md 8, docs/decisions/legacy.md. */
    confirmations: chainValue('PI_CONFIRMATIONS_', chainId) ?? knownFinality[chainId]?.confirmations ?? null,
  }
}

/** Accepts simulated chains in development only. */
function readSimulatedChains({ value, chainIds, problems }: VariableReader): readonly number[] {
  const ids = value('PI_SIMULATED_CHAINS')
  if (ids.length > 0 && value('PI_ENV') !== 'development')
    problems.push('PI_SIMULATED_CHAINS is set; payments without a chain are only made with PI_ENV=development.')
  for (const id of ids)
    if (chainIds().includes(id)) problems.push(`PI_SIMULATED_CHAINS names ${id}, which PI_RPC_URL_${id} reads.`)
  return ids
}

/** Reads where proven blocks come from. Source: docs/decisions/chain-feed.md. */
function readChainFeed({ value, problems }: VariableReader) {
  const servers = value('PI_CHAIN_FEED_URL')
  const credentialsFile = value('PI_CHAIN_FEED_CREDENTIALS_FILE')
  const caFile = value('PI_CHAIN_FEED_CA_FILE')
  if (servers.length === 0) return null
  const encryptedCount = servers.filter((server) => server.toLowerCase().startsWith('tls:')).length
  if (encryptedCount > 0 && encryptedCount < servers.length)
    problems.push('PI_CHAIN_FEED_URL mixes nats:// and tls://; use one of them for all servers.')
  if (encryptedCount === 0 && caFile !== null)
    problems.push('PI_CHAIN_FEED_CA_FILE is set; it is only used with tls:// addresses in PI_CHAIN_FEED_URL.')
  return { servers, credentialsFile, caFile }
}

function readReceipts({ value, isSet, problems }: VariableReader) {
  const hasProcessor = isSet('PI_PROCESSOR_SECRETS')
  const kind = value('PI_RECEIPTS') ?? (hasProcessor ? 'off' : 'chain')
  const url = value('PI_RECEIPTS_URL') ?? ''
  if (kind !== 'http') return { kind }
  if (!hasProcessor)
    problems.push('PI_RECEIPTS is "http"; it needs PI_PROCESSOR_SECRETS, which authenticate the answers.')
  if (/^http:/i.test(url) && value('PI_ENV') !== 'development')
    problems.push('PI_RECEIPTS_URL begins with http://, which is only accepted with PI_ENV=development; use https://.')
  return { kind, url }
}

function readDelivery({ value, problems }: VariableReader) {
  const concurrency = value('PI_DELIVERY_CONCURRENCY')
  // One endpoint that hangs must not take every slot.
  const defaultPerEndpoint = Math.min(dispatcherDefaults.perEndpoint, Math.max(1, Math.floor(concurrency / 4)))
  const perEndpoint = value('PI_DELIVERY_PER_ENDPOINT') ?? defaultPerEndpoint
  if (perEndpoint > concurrency)
    problems.push(
      `PI_DELIVERY_PER_ENDPOINT is ${perEndpoint}, above the ${concurrency} notifications of PI_DELIVERY_CONCURRENCY; lower one or raise the other.`,
    )
  return { concurrency, perEndpoint, denied: value('PI_DELIVERY_DENY'), dnsServers: value('PI_DNS_SERVERS') }
}

function readIdentity({ value, problems }: VariableReader) {
  const appToken = value('PI_IDENTITY_APP_TOKEN')
  const url = value('PI_IDENTITY_URL')
  if (url !== null && /^http:/i.test(url) && value('PI_ENV') !== 'development')
    problems.push('PI_IDENTITY_URL begins with http://, which is only accepted with PI_ENV=development; use https://.')
  if (appToken === null) return null
  return {
    /** Never logged or shown, like `secretKey` and `webhookSecrets`. */
    appToken,
    secretKey: value('PI_IDENTITY_SECRET_KEY') ?? '',
    levelName: value('PI_IDENTITY_LEVEL') ?? '',
    webhookSecrets: value('PI_IDENTITY_WEBHOOK_SECRETS'),
    /** Null: the provider's own address. */
    url,
    redeemBy: value('PI_IDENTITY_REDEEM_BY'),
    namespace: value('PI_IDENTITY_NAMESPACE'),
    /** Percent of the provider's limits; the shares of all processes add up to at most 100. */
    ratePercent: value('PI_IDENTITY_RATE_PERCENT'),
  }
}

function readAdmin({ value, problems }: VariableReader, servesRequests: boolean) {
  const [host, port, metricsToken] = [value('PI_ADMIN_HOST'), value('PI_ADMIN_PORT'), value('PI_METRICS_TOKEN')]
  if (port === null && metricsToken !== null && !servesRequests)
    problems.push('PI_METRICS_TOKEN is set, and PI_ROLES serve no requests; metrics need PI_ADMIN_PORT then.')
  if (port !== null && port !== 0 && port === value('PI_PORT') && host === value('PI_HOST'))
    problems.push(`PI_ADMIN_PORT is ${port}, where the API listens; choose another port.`)
  return {
    /** A listener for `/live`, `/ready`, `/health` and `/metrics`, port 0 for any free one. Null: there is none. */
    listen: port === null ? null : { host, port },
    /** Never logged or shown. Without the listener it serves `/metrics` on the port of the API. */
    metricsToken,
  }
}

function isOnLoopback({ value }: VariableReader): boolean {
  return ['127.0.0.1', '::1', 'localhost'].includes(value('PI_HOST'))
}

/** Without a URL the console has no sign-in, and is then accepted only in development on a loopback address. */
function checkConsole(reader: VariableReader): void {
  const { value, problems } = reader
  if (!value('PI_CONSOLE') || reader.isSet('PI_CONSOLE_URL')) return
  const problem = 'PI_CONSOLE is on without PI_CONSOLE_URL, so nobody signs in'
  if (value('PI_ENV') !== 'development')
    problems.push(`${problem}; set PI_CONSOLE_URL, or PI_ENV=development for pages without sign-in.`)
  if (!isOnLoopback(reader))
    problems.push(
      `${problem}; set PI_CONSOLE_URL, or a loopback address as PI_HOST instead of ${quoteText(value('PI_HOST'))}.`,
    )
}

function readOidc({ value, isSet, problems }: VariableReader): OidcOptions | null {
  const issuer = value('PI_OIDC_ISSUER')
  if (issuer === null) return null
  if (!isSet('PI_CONSOLE_URL'))
    problems.push('PI_OIDC_ISSUER is set; it needs PI_CONSOLE_URL, to which the provider sends people back.')
  return {
    issuer,
    clientId: value('PI_OIDC_CLIENT_ID') ?? '',
    clientSecret: value('PI_OIDC_CLIENT_SECRET') ?? '',
    nameClaim: value('PI_OIDC_NAME_CLAIM'),
  }
}

/** Without a URL the portal is accepted only in development on a loopback address. */
function readPortal(reader: VariableReader) {
  const { value, problems } = reader
  const publicUrl = value('PI_PORTAL_URL')
  if (!value('PI_PORTAL')) return null
  if (!reader.isSet('PI_PORTAL_URL') && !(value('PI_ENV') === 'development' && isOnLoopback(reader)))
    problems.push(
      'PI_PORTAL is on without PI_PORTAL_URL; set the origin that integrators open, such as https://pay.example.',
    )
  return { publicUrl }
}

interface RolesConfig extends LoopRoles {
  readonly api: boolean
  /** Serves the pages of console and portal, where they are configured. */
  readonly console: boolean
}

/** Reads the roles; without `PI_ROLES` a process has all. Source: docs/roles.md. */
function readRoles({ value, chainIds, problems }: VariableReader, hasPages: boolean): RolesConfig {
  const roles = value('PI_ROLES')
  if (roles === null) return { api: true, console: hasPages, dispatcher: true, poller: true, indexer: 'all' }
  const ids = roles.flatMap((role) => (role.startsWith('indexer:') ? [Number(role.slice('indexer:'.length))] : []))
  const has = (name: string) => roles.includes(name)
  if (has('indexer') && ids.length > 0)
    problems.push(`PI_ROLES is ${quoteText(roles.join(','))}; indexer stands for all chains, so leave out either.`)
  const simulatedChains = value('PI_SIMULATED_CHAINS')
  for (const chainId of ids)
    if (![...chainIds(), ...simulatedChains].includes(chainId))
      problems.push(`PI_ROLES has indexer:${chainId}; it needs PI_RPC_URL_${chainId}.`)
  for (const chainId of simulatedChains)
    if (has('api') && !has('indexer') && !ids.includes(chainId))
      problems.push(`PI_ROLES has api without indexer:${chainId}; a simulated chain is in one process.`)
  if (has('console') && !hasPages) problems.push('PI_ROLES has console; it needs PI_CONSOLE=on or PI_PORTAL=on.')
  return {
    api: has('api'),
    console: has('console'),
    dispatcher: has('dispatcher'),
    poller: has('poller'),
    indexer: has('indexer') ? 'all' : ids,
  }
}
