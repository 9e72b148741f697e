/** What the server is told, checked. @module */
import type { ProofLevel } from '@payment-integration/core/ports'

/** Where payments are kept. */
export type DatabaseConfig =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly connectionString: string }

/** A router contract whose events are payments. */
export interface RouterConfig {
  /** 0x and 40 lowercase hex digits. */
  readonly address: string
  /** Contract version, for example `0.8`. */
  readonly version: string
}

/** A token that the operator vouches for. */
export interface TokenConfig {
  /** 0x and 40 lowercase hex digits. */
  readonly address: string
  readonly symbol: string
  /** What one token is worth one of, such as `USD`. */
  readonly currency: string
}

/** A price feed that the operator vouches for. */
export interface PriceFeedConfig {
  /** 0x and 40 lowercase hex digits. */
  readonly address: string
  /** What is priced, such as `CHF`. */
  readonly base: string
  /** What it is priced in, such as `USD`. */
  readonly quote: string
  /** Of the rate. */
  readonly decimals: number
}

/** A node of a chain. */
export interface EndpointConfig {
  /** `http:`, `https:`, `ws:` or `wss:`. May hold an API key: never logged or shown. */
  readonly url: string
  /** `ws:` or `wss:`, only to be told of new blocks. May hold an API key, too. */
  readonly headsUrl?: string | undefined
}

/** One chain to follow. */
export interface ChainConfig {
  readonly chainId: number
  /** At least one, the preferred one first. */
  readonly endpoints: readonly EndpointConfig[]
  readonly routers: readonly RouterConfig[]
  /**
   * SpokePools of the Across bridge, 0x and 40 lowercase hex digits: deposits into any of them are believed, and
   * payments arrive at the first. Null: the known ones of the chain.
   */
  readonly spokePools: readonly string[] | null
  /** On top of the known ones of the chain; one with the address of a known one stands in its place. */
  readonly tokens: readonly TokenConfig[]
  /** On top of the known ones of the chain, likewise. */
  readonly priceFeeds: readonly PriceFeedConfig[]
  /** Where to begin on a chain that is not indexed yet. */
  readonly startBlock: number | 'head'
  /** How often the head is read, in milliseconds. */
  readonly pollMs: number
  /** The proof level that every block needs; null: the chain's default. Source: docs/decisions/completeness.md. */
  readonly proof: ProofLevel | null
  /** Most blocks that one request for logs spans at first; null: the default of the chain's adapter. */
  readonly maxRange: number | null
  /** Blocks on top of a block until it is final; null: never. Source: docs/interface.md 8, docs/decisions/legacy.md. */
  readonly confirmations: number | null
}

/** How notifications are sent. */
export interface DeliveryConfig {
  /** Most posts of this process in flight at a time. */
  readonly concurrency: number
  /** Most of them to one endpoint: the host and port of notification URLs. */
  readonly perEndpoint: number
  /** Name servers that are asked, `<address>:<port>`, IPv6 in brackets. Empty: those of the system. */
  readonly dnsServers: readonly string[]
  /** Addresses and CIDR ranges that no notification goes to, beside those that are not public. */
  readonly denied: readonly string[]
}

/** Where the outcome of unfinished payments is asked for. */
export type ReceiptsConfig =
  | { readonly kind: 'off' }
  | { readonly kind: 'chain' }
  | { readonly kind: 'http'; readonly url: string }

/** The identity provider. */
export interface IdentityConfig {
  /** Never logged or shown, like the secrets below. */
  readonly appToken: string
  readonly secretKey: string
  readonly levelName: string
  /** At least one. */
  readonly webhookSecrets: readonly string[]
  /** Null: the provider's own address. */
  readonly url: string | null
  readonly redeemBy: 'reuse' | 'import'
  /** Begins the names of applicants at the provider. */
  readonly namespace: string
  /**
   * The share of the provider's rates that this process keeps to, in percent: what processes have together is at most
   * 100.
   */
  readonly ratePercent: number
}

/** Where `/metrics` is served, and to whom. */
export interface MetricsConfig {
  /** A listener of its own, port 0 for any free one; null: beside the API, where a token is demanded. */
  readonly listen: { readonly host: string; readonly port: number } | null
  /** Demanded as `Authorization: Bearer <token>`. Never logged or shown. Null only with a listener of its own. */
  readonly token: string | null
}

/** How much one source and one caller may ask of this process; null: as much as they like. */
export interface LimitsConfig {
  /** Requests per second. */
  readonly requestsPerSource: number | null
  /** Authenticated requests per second of one integration, and of one legacy API key. */
  readonly requestsPerCaller: number | null
  /** Answers 401 per minute. */
  readonly failedSignInsPerSource: number | null
  /** Connections at once. */
  readonly connectionsPerSource: number | null
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[]
}

/** Levels of the log, from the most to the least talkative. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number]

/** The whole configuration of a server. */
export interface Config {
  /** `development` allows notification endpoints on this machine. */
  readonly environment: 'production' | 'development'
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly database: DatabaseConfig
  /** As given: one or several keys. Never logged or shown. */
  readonly masterKey: string
  /** Empty: processor updates are not accepted. */
  readonly processorSecrets: readonly string[]
  /** Empty: the server reads and delivers, and indexes nothing. */
  readonly chains: readonly ChainConfig[]
  /** How long an indexer that died keeps another process from following its chains, in milliseconds. */
  readonly leaseMs: number
  readonly receipts: ReceiptsConfig
  readonly delivery: DeliveryConfig
  /** Null: identity verifications are not shared. */
  readonly identity: IdentityConfig | null
  /** Whom the audit log names for what is done here; null: whoever the caller says. */
  readonly actor: string | null
  /**
   * What others than the service may take from a payment that verify calls paid, in basis points of the gross amount.
   */
  readonly maxExtraFeeBps: number
  readonly logLevel: LogLevel
  /** Null: metrics are neither kept nor served. */
  readonly metrics: MetricsConfig | null
  /** Whether `/reference` is served. */
  readonly reference: boolean
  readonly limits: LimitsConfig
  /** How long a stop may take, in milliseconds. */
  readonly shutdownTimeoutMs: number
}

/** The environment does not describe a server. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'ERR_CONFIG'
  /** Every problem, each naming its variable. No secret values. */
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((each) => `- ${each}`).join('\n')}`)
    this.problems = problems
  }
}
