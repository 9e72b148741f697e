/** Describes the configuration for people, with secrets masked. @module */
import { parseUrl } from '@payment-integration/contract'
import type { HistoryKind, ProofLevel } from '@payment-integration/core/ports'
import type { ChainConfig, Config, PostgresConfig } from './config.js'
import { roleNames } from './role-variables.js'

/** How PostgreSQL is reached; `default`: as `createPostgresStore` does. */
export interface ConnectionDescription {
  readonly prepared: 'session' | 'off'
  /** Scheme, host, port and database, like the one below. */
  readonly direct: string
  readonly reader: string
  readonly pool: number | 'default'
  readonly statementTimeoutMs: number | 'default'
  readonly lockTimeoutMs: number | 'default'
  readonly tls: 'verified' | 'as the address says'
  readonly engine: string
}

/** A configuration that may be shown and logged. */
export interface ConfigDescription {
  readonly environment: Config['environment']
  readonly listen: string
  readonly database: string
  /** How PostgreSQL is reached; null on SQLite. */
  readonly connections: ConnectionDescription | null
  readonly migrates: 'on' | 'off'
  /** Days of each kind of history, or `keep`. */
  readonly retention: Readonly<Record<HistoryKind, string>>
  readonly masterKey: string
  readonly processorSecrets: string
  readonly chains: readonly {
    readonly chainId: number
    /** Scheme, host and port of each endpoint, the preferred one first. */
    readonly rpc: readonly string[]
    /** Number of endpoints with their own address for new blocks. */
    readonly heads: number
    readonly routers: number | 'known'
    readonly spokePools: number | 'known'
    /** Those of the configuration, without the known ones. */
    readonly tokens: number
    /** Those of the configuration, without the known ones. */
    readonly priceFeeds: number
    readonly startBlock: number | 'head'
    readonly pollMs: number
    /** Of a million calls. */
    readonly callPrice: number | 'none'
    readonly proof: ProofLevel | 'default'
    readonly rawReceipts: 'on' | 'off'
    readonly maxRange: number | 'default'
    readonly confirmations: number | null
  }[]
  /** Addresses of its servers, or `off`. */
  readonly feed: readonly string[] | 'off'
  readonly recording: Config['recording']
  readonly leaseMs: number
  readonly receipts: string
  readonly delivery: {
    readonly concurrency: number
    readonly perEndpoint: number
    readonly dnsServers: readonly string[] | 'system'
    readonly denied: readonly string[]
  }
  /** The verification level and the provider's address. */
  readonly identity: string
  readonly maxExtraFeeBps: number
  readonly logLevel: string
  /** Such as `api` and `indexer:137`. */
  readonly roles: readonly string[]
  /** The address of the admin listener, or `off`. */
  readonly admin: string
  readonly accessLog: 'on' | 'off'
  readonly tracing: 'on' | 'off'
  /** Where they are served, and whether they need a token. */
  readonly metrics: string
  readonly reference: 'on' | 'off'
  readonly console: 'on' | 'off'
  /** Where operators sign in. */
  readonly consoleUrl: string
  /** The provider's address, the client, and the claim that names an operator. */
  readonly oidc: string
  /** The origin of the portal, or `off`. */
  readonly portal: string
  readonly deliveryStream: 'on' | 'off'
  readonly simulatedChains: readonly number[]
  readonly limits: Config['limits']
  readonly keepAliveMs: number
  readonly drainMs: number
  readonly shutdownTimeoutMs: number
}

/**
 * Describes a configuration. Only scheme, host and port of a URL are shown: user, password, path and query may hold
 * keys. Secrets become a count.
 */
export function describeConfig(config: Config): ConfigDescription {
  const { database, receipts, processorSecrets } = config
  return {
    environment: config.environment,
    listen: `${config.host}:${config.port}`,
    database: database.kind === 'sqlite' ? `sqlite:${database.path}` : describeAddress(database.connectionString),
    connections: database.kind === 'sqlite' ? null : describeConnections(database),
    migrates: config.migrates ? 'on' : 'off',
    retention: describeRetention(config.retention),
    masterKey: 'set',
    processorSecrets: processorSecrets.length === 0 ? 'none' : `${processorSecrets.length} set`,
    chains: config.chains.map(describeChain),
    feed: config.feed?.servers.map(describeUrl) ?? 'off',
    recording: config.recording,
    leaseMs: config.leaseMs,
    receipts: receipts.kind === 'http' ? `http from ${describeUrl(receipts.url)}` : receipts.kind,
    delivery: {
      ...config.delivery,
      dnsServers: config.delivery.dnsServers.length === 0 ? 'system' : config.delivery.dnsServers,
    },
    identity: describeIdentity(config.identity),
    maxExtraFeeBps: config.maxExtraFeeBps,
    logLevel: config.logLevel,
    roles: roleNames(config.roles, [...config.chains.map(({ chainId }) => chainId), ...config.simulatedChains]),
    admin: config.admin.listen === null ? 'off' : `${config.admin.listen.host}:${config.admin.listen.port}`,
    accessLog: config.accessLog ? 'on' : 'off',
    tracing: config.tracing ? 'on' : 'off',
    metrics: describeMetrics(config.admin),
    reference: config.reference ? 'on' : 'off',
    console: config.console ? 'on' : 'off',
    consoleUrl: config.consoleUrl ?? 'none',
    oidc: describeOidc(config.oidc),
    portal: config.portal === null ? 'off' : (config.portal.publicUrl ?? 'on, for this machine alone'),
    deliveryStream: config.deliveryStream ? 'on' : 'off',
    simulatedChains: config.simulatedChains,
    limits: config.limits,
    keepAliveMs: config.keepAliveMs,
    drainMs: config.drainMs,
    shutdownTimeoutMs: config.shutdownTimeoutMs,
  }
}

function describeRetention({ policy }: Config['retention']): ConfigDescription['retention'] {
  const daysOf = (ms: number | null) => (ms === null ? 'keep' : `${ms / 86_400_000}d`)
  const { attempts, deliveries, updates, audit } = policy
  const days = { attempts: daysOf(attempts), deliveries: daysOf(deliveries), updates: daysOf(updates) }
  return { ...days, audit: daysOf(audit) }
}

function describeIdentity(identity: Config['identity']): string {
  if (identity === null) return 'off'
  const { levelName, url, redeemBy, ratePercent } = identity
  const share = ratePercent === 100 ? '' : ` with ${ratePercent} % of its rates`
  return `level ${levelName} by ${redeemBy}${url === null ? '' : ` at ${describeUrl(url)}`}${share}`
}

function describeOidc(oidc: Config['oidc']): string {
  if (oidc === null) return 'off'
  return `${describeUrl(oidc.issuer)} as client ${oidc.clientId}, names by ${oidc.nameClaim}`
}

function describeMetrics({ listen, metricsToken }: Config['admin']): string {
  if (listen === null) return metricsToken === null ? 'off' : 'on the port of the API with a token'
  return metricsToken === null ? 'on the admin port' : 'on the admin port with a token'
}

function describeChain({
  chainId,
  endpoints,
  startBlock,
  pollMs,
  confirmations,
  ...rest
}: ChainConfig): ConfigDescription['chains'][number] {
  return {
    chainId,
    rpc: endpoints.map(({ url }) => describeUrl(url)),
    heads: endpoints.filter(({ headsUrl }) => headsUrl !== undefined).length,
    routers: rest.routers?.length ?? 'known',
    spokePools: rest.spokePools?.length ?? 'known',
    tokens: rest.tokens.length,
    priceFeeds: rest.priceFeeds.length,
    startBlock,
    pollMs,
    callPrice: rest.callPrice ?? 'none',
    proof: rest.proof ?? 'default',
    rawReceipts: rest.rawReceipts ? 'on' : 'off',
    maxRange: rest.maxRange ?? 'default',
    confirmations,
  }
}

function describeConnections(config: PostgresConfig): ConnectionDescription {
  const { preparedStatements, directConnectionString, reader, ca, acceptedEngine } = config
  return {
    prepared: preparedStatements === false ? 'off' : 'session',
    direct: directConnectionString === undefined ? 'none' : describeAddress(directConnectionString),
    reader:
      reader === undefined
        ? 'none'
        : `${describeAddress(reader.connectionString)}, at most ${reader.maxLagMs} ms behind`,
    pool: config.maxConnections ?? 'default',
    statementTimeoutMs: config.statementTimeoutMs ?? 'default',
    lockTimeoutMs: config.lockTimeoutMs ?? 'default',
    tls: ca === undefined ? 'as the address says' : 'verified',
    engine: acceptedEngine ?? 'known',
  }
}

function describeAddress(connectionString: string): string {
  const url = parseUrl(connectionString)
  return url === null ? 'postgres' : `${describeUrl(connectionString)}${url.pathname}`
}

function describeUrl(text: string): string {
  const url = parseUrl(text)
  return url === null ? 'unreadable' : `${url.protocol}//${url.host}`
}
