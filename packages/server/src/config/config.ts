/** Types of a checked configuration. `variables.ts` has the meaning of each variable. @module */
import type { KnownPriceFeed, KnownRouter, KnownToken } from '@payment-integration/chain-evm'
import type { OidcOptions } from '@payment-integration/console'
import type { Recording, RetentionPolicy } from '@payment-integration/core'
import type { LoopRoles } from '@payment-integration/core/internal'
import type { ProofLevel } from '@payment-integration/core/ports'
import { ServerError } from '../errors.js'

export type DatabaseConfig = { readonly kind: 'sqlite'; readonly path: string } | PostgresConfig

/** A PostgreSQL database; an absent field has the default of `createPostgresStore`. */
export interface PostgresConfig {
  readonly kind: 'postgres'
  /** May hold a password, like the addresses below: never logged or shown. */
  readonly connectionString: string
  /** False: behind a pooler that gives each transaction another connection. */
  readonly preparedStatements?: boolean | undefined
  /** The address of the database past that pooler. */
  readonly directConnectionString?: string | undefined
  /** A standby for reads that may be stale. */
  readonly reader?: { readonly connectionString: string; readonly maxLagMs: number } | undefined
  readonly maxConnections?: number | undefined
  readonly statementTimeoutMs?: number | undefined
  readonly lockTimeoutMs?: number | undefined
  /** PEM text. */
  readonly ca?: string | undefined
  /** An untested database product that the operator accepts, by the name that `ERR_STORE_ENGINE` reports. */
  readonly acceptedEngine?: string | undefined
}

export interface NodeConfig {
  /** `http:`, `https:`, `ws:` or `wss:`. May hold an API key: never logged or shown. */
  readonly url: string
  /** `ws:` or `wss:`, used only for notices of new blocks. May hold an API key, too. */
  readonly headsUrl?: string | undefined
}

/** One chain to follow. Addresses are 0x and 40 lowercase hex digits. */
export interface ChainConfig {
  readonly chainId: number
  /** At least one, the preferred one first. */
  readonly nodes: readonly NodeConfig[]
  /** Null: the known routers of the chain. */
  readonly routers: readonly KnownRouter[] | null
  /**
   * SpokePools of the Across bridge. Deposits into any of them are trusted; payments arrive at the first. Null: the
   * known SpokePools of the chain.
   */
  readonly spokePools: readonly string[] | null
  /** Added to the known tokens of the chain; an entry with the address of a known token replaces it. */
  readonly tokens: readonly KnownToken[]
  /** Added to the known price feeds of the chain in the same way. */
  readonly priceFeeds: readonly KnownPriceFeed[]
  readonly startBlock: number | 'head'
  readonly pollMs: number
  /** Price of a million calls at the chain's nodes, in the operator's currency; null: no cost is computed. */
  readonly callPrice: number | null
  /** The proof level that every block needs; null: the chain's default. Source: docs/decisions/completeness.md. */
  readonly proof: ProofLevel | null
  readonly rawReceipts: boolean
  /** The most blocks of the first request for logs; null: the default of the chain's adapter. */
  readonly maxRange: number | null
  /** Confirmations until a block is final; null: never. Source: docs/interface.md 8, docs/decisions/legacy.md. */
  readonly confirmations: number | null
}

/** Where proven blocks are read. Source: docs/decisions/chain-feed.md. */
export interface ChainFeedConfig {
  /** `nats://host:port` or `tls://host:port`, at least one, all of the same scheme. */
  readonly servers: readonly string[]
  /** Path of a `.creds` file or of an nkey seed; null: none. */
  readonly credentialsFile: string | null
  /** Path of the certificates that servers are checked with; null: the certificates of Node. */
  readonly caFile: string | null
}

/** Where the outcome of pending payments is polled. */
export type ReceiptsConfig =
  | { readonly kind: 'off' }
  | { readonly kind: 'chain' }
  | { readonly kind: 'http'; readonly url: string }

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
  readonly namespace: string
  /**
   * This process's share of the provider's rate limits, in percent. The shares of all processes add up to at most 100.
   */
  readonly ratePercent: number
}

/** The part of the service that a process runs. */
export interface RolesConfig extends LoopRoles {
  readonly api: boolean
  /** Serves the pages of console and portal, where they are configured. */
  readonly console: boolean
}

/** Rate limits per source and per caller, of this process; null: no limit. */
export interface LimitsConfig {
  /** Requests per second. */
  readonly requestsPerSource: number | null
  /** Authenticated requests per second of one integration, and of one legacy API key. */
  readonly requestsPerCaller: number | null
  /** 401 answers per minute. */
  readonly failedSignInsPerSource: number | null
  /** Open connections. */
  readonly connectionsPerSource: number | null
  /** Addresses and CIDR ranges whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
}

/** Log levels, from the most to the least verbose. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The whole configuration of a server. */
export interface Config {
  readonly environment: 'production' | 'development'
  readonly host: string
  readonly port: number
  readonly database: DatabaseConfig
  /** Whether the schema is brought up to date at the start. If not, an outdated schema is an error. */
  readonly migrates: boolean
  readonly retention: {
    readonly policy: RetentionPolicy
    /** Folder for the files of removed history; null: not configured. */
    readonly folder: string | null
  }
  /** As given: one or several keys. Never logged or shown. */
  readonly masterKey: string
  /** Empty: processor updates are not accepted. */
  readonly processorSecrets: readonly string[]
  /** Empty: the server serves and delivers, but indexes nothing. */
  readonly chains: readonly ChainConfig[]
  /** The feed that the chains are read from before their nodes; null: the nodes alone. */
  readonly feed: ChainFeedConfig | null
  readonly recording: Recording
  readonly leaseMs: number
  readonly receipts: ReceiptsConfig
  readonly delivery: {
    readonly concurrency: number
    readonly perEndpoint: number
    /** Name servers to use, `<address>:<port>`, IPv6 in brackets. Empty: the name servers of the system. */
    readonly dnsServers: readonly string[]
    readonly denied: readonly string[]
  }
  /** Null: identity verifications cannot be shared. */
  readonly identity: IdentityConfig | null
  /** Actor that the audit log records; null: the actor that the caller names. */
  readonly actor: string | null
  readonly maxExtraFeeBps: number
  readonly logLevel: LogLevel
  readonly roles: RolesConfig
  readonly admin: {
    /** A listener for `/live`, `/ready`, `/health` and `/metrics`, port 0 for any free one. Null: there is none. */
    readonly listen: { readonly host: string; readonly port: number } | null
    /** Never logged or shown. Without the listener it serves `/metrics` on the port of the API. */
    readonly metricsToken: string | null
  }
  readonly accessLog: boolean
  readonly tracing: boolean
  readonly reference: boolean
  readonly console: boolean
  /**
   * Origin of the console, at which operators sign in; one-time links begin with it. Null: nobody signs in, so the
   * pages are only served in development, on a loopback address.
   */
  readonly consoleUrl: string | null
  /** Null: operators sign in with passphrases alone. */
  readonly oidc: OidcOptions | null
  /** The integrators' pages at `/portal`; null: they are not served. */
  readonly portal: PortalConfig | null
  readonly deliveryStream: boolean
  /** Chains without a node, on which integrations cause events. Empty outside of development. */
  readonly simulatedChains: readonly number[]
  readonly limits: LimitsConfig
  readonly keepAliveMs: number
  readonly drainMs: number
  readonly shutdownTimeoutMs: number
  /** The variables as read, for people. */
  readonly settings: readonly Setting[]
}

/** A configuration variable without secrets: secrets are counted, and URLs are cut to scheme, host and port. */
export interface Setting {
  readonly name: string
  /** The group of the variable, such as `Database`. */
  readonly section: string
  readonly value: string
  readonly defaultValue: string
  /** Whether the variable is not set. */
  readonly isDefault: boolean
  readonly doc: string
}

/** How the integrators' pages are served. */
export interface PortalConfig {
  /** The origin of these pages; null: only this machine may open them. */
  readonly publicUrl: string | null
}

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
