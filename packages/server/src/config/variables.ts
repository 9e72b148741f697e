/** Every configuration variable: kind, default and meaning. docs/configuration.md is built from it. @module */
import { defaultMaxExtraFeeBps, defaultNamespace, dispatcherDefaults } from '@payment-integration/core/internal'
import { minRatePercent } from '../identity/limited-provider.js'
import { choice, integer, list, onOff, text, type Variable } from './kinds.js'
import * as parsers from './parsers.js'

/** Whole milliseconds from `min` to `max`. */
const ms = (min: number, max: number) => ({ unit: 'milliseconds', min, max })
const upToAMillion = (unit: string) => ({ unit, min: 1, max: 1_000_000 })
const port = { unit: 'a port', min: 0, max: 65_535 }
const notifications = { unit: 'a number of notifications', min: 1, max: 10_000 }

const hostName = 'an address or host name of this machine, without scheme or port'
const toThisMachine = '(`http://` only to this machine)'
const origin = `\`https://<host>\` without path, query or credentials ${toThisMachine}`
const postgresUrl = '`postgres://<user>@<host>/<database>`'
const encoded = 'and a host, with # and / in a password as %23 and %2F'
const ranges = 'addresses and ranges such as `203.0.113.7`, `203.0.113.0/24` or `2001:db8::/32`'
const days = '`keep`, or days from `1d` to `9999d`'
/** A URL that may hold a password or an API key. */
const secretUrl = { isSecret: true, isUrl: true } as const
const onPostgres = { onlyWith: 'PI_DATABASE_URL=postgres…' } as const
const withIssuer = { onlyWith: 'PI_OIDC_ISSUER' } as const
const requiredByIssuer = { ...withIssuer, required: 'PI_OIDC_ISSUER needs it' } as const
const withSharing = { onlyWith: 'PI_IDENTITY_APP_TOKEN' } as const
const sharingNeeds = (what: string) => ({ ...withSharing, required: `sharing identity verifications needs ${what}` })

// biome-ignore format: a table; each row ends with its documentation
const basic = {
  PI_MASTER_KEY: text('32 random bytes as base64url or 64 hex digits, for example from `openssl rand -hex 32`', parsers.parseMasterKeys, {
    isSecret: true, required: true,
    doc: 'Several while you replace a key, separated by commas, newest first. Store it outside the database: without it no stored secret can be decrypted.' }),
  PI_ENV: choice(['production', 'development'], 'production', {
    doc: 'Development allows notification and receipt addresses on this machine, over `http:` too, and [blocks a failing receiver](decisions/fairness.md) for 3 s at a time.' }),
  PI_HOST: text(hostName, parsers.parseHost, { fallback: '127.0.0.1', doc: 'Address to listen on.' }),
  PI_PORT: integer(port, 4747, { doc: 'Port to listen on. 0 takes any free port.' }),
}

// biome-ignore format: a table; each row ends with its documentation
const database = {
  PI_DATABASE_URL: text(`\`sqlite:<path>\` or ${postgresUrl}`, parsers.parseDatabaseUrl, {
    ...secretUrl, fallback: 'sqlite:payment-integration.db',
    doc: 'A missing file is created for its owner alone. A path that begins with a colon is rejected, as in `sqlite::memory:`.' }),
  PI_DATABASE_PREPARED: choice(['session', 'off'], 'session', { ...onPostgres,
    doc: '`off` behind a [pooler](databases.md#behind-a-pooler) that gives each transaction another connection.' }),
  PI_DATABASE_DIRECT_URL: text(postgresUrl, parsers.parsePostgresUrl, {
    ...secretUrl, ...onPostgres, unset: 'none: with `PI_DATABASE_PREPARED=off`, due deliveries of other processes are found by the poll',
    doc: 'The same database without that pooler in between, for `LISTEN` and for making indexes.' }),
  PI_DATABASE_POOL: integer({ unit: 'a number of connections', min: 1, max: 1_000 }, 10, { ...onPostgres,
    doc: 'Connections a process may open to each URL, besides two to `PI_DATABASE_DIRECT_URL` and one for `LISTEN`.' }),
  PI_DATABASE_STATEMENT_TIMEOUT_MS: integer(ms(100, 3_600_000), 30_000, { ...onPostgres,
    doc: 'Statement timeout, except in a migration.' }),
  PI_DATABASE_LOCK_TIMEOUT_MS: integer(ms(100, 3_600_000), 10_000, { ...onPostgres,
    doc: 'Longest wait of a statement for a lock.' }),
  PI_DATABASE_CA_FILE: text('PEM text', parsers.parseCertificates, {
    ...onPostgres, content: 'certificates as PEM text', unset: 'TLS as the URL says',
    doc: "File with PEM certificates that sign the server's certificate. URLs then may not have `sslmode`." }),
  PI_DATABASE_READ_URL: text(postgresUrl, parsers.parsePostgresUrl, { ...secretUrl, ...onPostgres,
    doc: 'Streaming standby for [stale reads](decisions/reads.md#stale-reads).' }),
  PI_DATABASE_READ_MAX_LAG_MS: integer(ms(10, 3_600_000), 1_000, { onlyWith: 'PI_DATABASE_READ_URL',
    doc: 'Largest lag of that standby; beyond it the primary is read.' }),
  PI_DATABASE_ENGINE: text('the name that `ERR_STORE_ENGINE` reports', parsers.parseEngine, {
    ...onPostgres,
    doc: 'Accepts an [untested database product](databases.md#engines).' }),
  PI_MIGRATE: onOff(null, { unset: '`off` on PostgreSQL, `on` on SQLite',
    doc: 'Whether opening the database changes the schema. With `off` run `payment-integration migrate apply` first ([upgrades](upgrades.md)).' }),
  PI_RETENTION_ATTEMPTS: text(days, parsers.parseDays, { unset: '`keep`',
    doc: 'How long attempts stay; [`payment-integration retention run`](retention.md) removes older ones.' }),
  PI_RETENTION_DELIVERIES: text(days, parsers.parseDays, { unset: '`keep`', doc: 'How long deliveries stay.' }),
  PI_RETENTION_UPDATES: text(days, parsers.parseDays, { unset: '`keep`', doc: 'How long updates stay.' }),
  PI_RETENTION_AUDIT: text(days, parsers.parseDays, { unset: '`keep`', doc: 'How long audit records stay.' }),
  PI_RETENTION_FOLDER: text('a path', parsers.parseText, { unset: 'none: `retention run` needs `--folder`',
    doc: 'Existing folder for the files of removed history.' }),
}

/** A chain id follows each of these names. */
// biome-ignore format: a table; each row ends with its documentation
export const chainVariables = {
  PI_RPC_URL_: list(`\`http://\`, \`https://\`, \`ws://\` or \`wss://\` ${encoded}`, parsers.createNodeUrlParser('http:', 'https:', 'ws:', 'wss:'), {
    ...secretUrl, required: 'this chain has other variables, so it needs an RPC URL', getKey: (url) => url,
    doc: 'JSON-RPC nodes of the chain, the preferred one first, with a comma within an address as `%2C`. Without any chain the server indexes nothing and logs a warning.' }),
  PI_HEADS_URL_: list(`\`ws://\` or \`wss://\` ${encoded}`, parsers.createNodeUrlParser('ws:', 'wss:'), {
    ...secretUrl, getKey: (url) => url, unset: 'none: nodes are polled, and those at a `ws:` address announce blocks themselves',
    doc: 'Addresses that only announce new blocks. The n-th address belongs to the n-th node of `PI_RPC_URL_<chainId>`.' }),
  PI_PROOF_: choice(['root', 'bloom', 'none'], null, { unset: '`bloom`; `none` for chains 25, 324, 999',
    doc: '[Proof](decisions/completeness.md) that no payment of a block is missing.' }),
  PI_RAW_RECEIPTS_: onOff(true, {
    doc: 'Whether receipts are read by `debug_getRawReceipts` where a node has it, at half of the bytes. Turn it off where that method is billed higher.' }),
  PI_MAX_RANGE_: integer(upToAMillion('blocks'), null, { unset: '`2000`',
    doc: 'Blocks in the first requests for logs. The server then adapts to each node.' }),
  PI_ROUTERS_: list('0x and 40 hex digits, an @ and a version, as in `0x<address>@0.8`', parsers.parseRouter, {
    fallback: null, unset: 'the known routers of that chain; a chain without any needs the variable',
    doc: 'Router contracts whose events are payments.' }),
  PI_SPOKE_POOLS_: list('0x and 40 hex digits', parsers.parseAddress, {
    fallback: null, unset: 'the known ones of that chain',
    doc: 'Trusted SpokePool contracts of the [Across bridge](decisions/cross-chain.md), in place of the known ones. Payments from other chains are filled at the first one.' }),
  PI_TOKENS_: list('0x and 40 hex digits, a symbol and a currency code, as in `0x<address>:USDC:USD`', parsers.parseToken, {
    getKey: (token) => token.address, unset: 'none besides the known ones',
    doc: 'Tokens whose payments the legacy API may verify, added to the known ones or in place of one. A symbol has no spaces and at most 32 characters. One token counts as one unit of the currency.' }),
  PI_PRICE_FEEDS_: list('0x and 40 hex digits, two currency codes and 0 to 77 decimals, as in `0x<address>:CHF:USD:8`', parsers.parsePriceFeed, {
    getKey: (feed) => feed.address, unset: 'none besides the known ones',
    doc: 'Trusted price feeds, added to the known ones or in place of one: address, base, quote, decimals. The rate is the price of one unit of the base, in the quote currency.' }),
  PI_START_BLOCK_: text('`head` or a block number, in plain digits', parsers.parseStartBlock, { fallback: 'head',
    doc: 'First block of a chain that is not indexed yet.' }),
  PI_POLL_MS_: integer(ms(50, 3_600_000), 1_000, {
    doc: 'Longest time between two reads of the head; ten times as long while a node announces blocks.' }),
  PI_RPC_PRICE_: text('the price of a million calls, such as `0.85`: at most 6 decimals', parsers.parsePrice, {
    unset: 'none: no cost is shown',
    doc: 'Price of a million JSON-RPC calls, in your currency, for `status` and the metric `node_cost_total`.' }),
  PI_CONFIRMATIONS_: integer({ unit: 'blocks', min: 0, max: 1_000_000 }, null, {
    unset: 'the finality of known chains (1: 3, 10: 48, 100: 1, 137: 50, 42161: 1600); any other chain is never final',
    doc: 'Blocks on top of a block until it is final: for the legacy API, receipts by the chain, payments from other chains, and [reorgs](decisions/reorganizations.md).' }),
}

// biome-ignore format: a table; each row ends with its documentation
const chains = {
  PI_CHAIN_FEED_URL: list('`nats://<host>:<port>` or `tls://<host>:<port>`, without a user', parsers.parseFeedServer, {
    isUrl: true, unset: 'none: chains are read from their nodes',
    doc: 'Servers of a [feed of proven blocks](decisions/chain-feed.md), read before the nodes; all of one scheme.' }),
  PI_CHAIN_FEED_CREDENTIALS_FILE: text('a path', parsers.parseText, { onlyWith: 'PI_CHAIN_FEED_URL',
    doc: '`.creds` file, or file with the seed of a user nkey. Without it, anyone who can reach the NATS servers can publish payments.' }),
  PI_CHAIN_FEED_CA_FILE: text('a path', parsers.parseText, { onlyWith: 'PI_CHAIN_FEED_URL', unset: 'those of Node',
    doc: 'Certificates for `tls:` servers.' }),
  PI_RECORD: choice(['all', 'own'], 'all', {
    doc: 'Stored payments: `all`, or `own`, those that name an integration of the database ([cells](scale.md)). The same for all processes of a database.' }),
  PI_LEASE_MS: integer(ms(1_000, 600_000), 15_000, {
    doc: 'How long the chains of a killed process wait for [another process](decisions/following-a-chain.md).' }),
  PI_SIMULATED_CHAINS: list('chain ids, such as `137,10`', parsers.parseChainId, { max: 16, getKey: (id) => id,
    doc: 'Chains without a node, on which integrations may [trigger events](decisions/trigger-and-listen.md#trigger). Only with `PI_ENV=development`.' }),
  PI_MAX_EXTRA_FEE_BPS: integer({ unit: 'basis points', min: 0, max: 10_000 }, defaultMaxExtraFeeBps, {
    doc: 'Largest fee of other parties that [verify](decisions/legacy.md) accepts, as a share of the gross amount; 100 is 1 %. The payer chooses this fee and its receiver.' }),
}

// biome-ignore format: a table; each row ends with its documentation
const deliveries = {
  PI_DELIVERY_CONCURRENCY: integer(notifications, dispatcherDefaults.concurrency, {
    doc: 'Notifications that one process may have in flight.' }),
  PI_DELIVERY_PER_ENDPOINT: integer(notifications, null, {
    unset: '`32`, or a quarter of `PI_DELIVERY_CONCURRENCY` where that is less',
    doc: 'Notifications that one process may have in flight to one host and port. A receiver that hangs occupies all of them, so set it well below `PI_DELIVERY_CONCURRENCY`.' }),
  PI_DELIVERY_DENY: list(ranges, parsers.parseRange, {
    doc: 'Public addresses that receive no notification, such as those of your own network.' }),
  PI_DNS_SERVERS: list('IP addresses with or without a port, such as `192.0.2.1`, `192.0.2.1:5353` or `[2001:db8::1]:53`', parsers.parseNameServer, {
    max: 8, unset: "the system's",
    doc: 'Name servers that resolve the hosts of notification URLs.' }),
  PI_PROCESSOR_SECRETS: list('at least 16 characters', parsers.createSecretParser(16), { isSecret: true,
    doc: 'Secrets that processors sign updates with. Without any, the updates endpoint answers 404.' }),
  PI_RECEIPTS: choice(['off', 'chain', 'http'], null, { unset: '`chain` when no processor secret is set, else `off`',
    doc: 'Source of [receipts](decisions/processor-updates.md#receipt-polling) for unfinished payments.' }),
  PI_RECEIPTS_URL: text('`https://` without query or fragment (`http://` only in development)', parsers.parseReceiptsUrl, {
    ...secretUrl, onlyWith: 'PI_RECEIPTS=http', required: 'PI_RECEIPTS=http needs the address of the receipts',
    doc: "The processor's receipts. User and password in it are sent as Basic credentials." }),
}

// biome-ignore format: a table; each row ends with its documentation
const identity = {
  PI_IDENTITY_APP_TOKEN: text('printable characters without spaces', parsers.parseAppToken, {
    isSecret: true, unset: 'none: sharing is off',
    doc: 'App token of the service at the [identity provider](#sharing-identity-verifications).' }),
  PI_IDENTITY_SECRET_KEY: text('any text', parsers.parseTrimmed, {
    ...sharingNeeds('the secret key of the app token'), isSecret: true,
    doc: 'Secret key of that app token.' }),
  PI_IDENTITY_LEVEL: text('a name', parsers.parseTrimmed, { ...sharingNeeds('the name of the verification level'),
    doc: 'Verification level of redeemed applicants.' }),
  PI_IDENTITY_WEBHOOK_SECRETS: list('at least 8 characters', parsers.createSecretParser(8), {
    ...sharingNeeds('the secret of the webhook that brings verdicts'), isSecret: true,
    doc: "Accepted secrets of the provider's webhook." }),
  PI_IDENTITY_URL: text('`https://` without credentials, query or fragment (`http://` to this machine in development)', parsers.parseProviderUrl, {
    ...withSharing, isUrl: true, unset: "the provider's own, `https://api.sumsub.com`",
    doc: 'Base address of the provider.' }),
  PI_IDENTITY_REDEEM_BY: choice(['reuse', 'import'], 'reuse', { ...withSharing,
    doc: 'Endpoint that redeems tokens: `reuse`, the current one, or `import`, the older one.' }),
  PI_IDENTITY_NAMESPACE: text('1 to 32 letters, digits, dots, dashes or underscores', parsers.parseNamespace, {
    ...withSharing, fallback: defaultNamespace,
    doc: "Prefix of applicants' names at the provider, different for each service and environment that shares an account there." }),
  PI_IDENTITY_RATE_PERCENT: integer({ unit: 'a percentage', min: minRatePercent, max: 100 }, 100, { ...withSharing,
    doc: "This process's share of [the provider's rates](#sharing-the-providers-rates)." }),
}

// biome-ignore format: a table; each row ends with its documentation
const pages = {
  PI_CONSOLE: onOff(false, {
    doc: "Whether the operators' pages are served at `/console`. Without `PI_CONSOLE_URL` there is no sign-in, so the pages need `PI_ENV=development` and a loopback address as `PI_HOST`." }),
  PI_CONSOLE_URL: text(origin, parsers.parseOrigin, { isUrl: true,
    doc: 'Origin under which [operators](decisions/operators.md) open these pages and sign in; other hosts are answered 403. Set it for the commands too, which print one-time links.' }),
  PI_OIDC_ISSUER: text(`\`https://<host>\` without query, fragment or credentials ${toThisMachine}`, parsers.parseIssuer, {
    isUrl: true, unset: 'none: passphrases alone',
    doc: 'OpenID provider at which operators may sign in. Register `<PI_CONSOLE_URL>/console/oidc/callback` there as redirect URI.' }),
  PI_OIDC_CLIENT_ID: text('any text', parsers.parseText, { ...requiredByIssuer,
    doc: "The service's client at that provider." }),
  PI_OIDC_CLIENT_SECRET: text('any text', parsers.parseText, { ...requiredByIssuer, isSecret: true, doc: 'Secret of that client, sent by `client_secret_basic` if the provider allows it, else by `client_secret_post`.' }),
  PI_OIDC_NAME_CLAIM: text('the name of a claim, such as `email` or `preferred_username`', parsers.parseClaim, {
    ...withIssuer, fallback: 'email',
    doc: "The claim with the operator's name. `email` counts only with `email_verified`. Choose a claim that people cannot change themselves." }),
  PI_PORTAL: onOff(false, {
    doc: "Whether [integrators' pages](decisions/operators.md#the-portal) are served at `/portal`." }),
  PI_PORTAL_URL: text(origin, parsers.parseOrigin, { isUrl: true, onlyWith: 'PI_PORTAL=on',
    doc: 'The origin that integrators open; other hosts are answered 403. Required, except in development on a loopback address.' }),
  PI_REFERENCE: onOff(null, { unset: '`on` in development, else `off`',
    doc: 'Whether `/reference` is served; `/openapi.json` always is.' }),
}

// biome-ignore format: a table; each row ends with its documentation
const limits = {
  PI_LIMIT_PER_SOURCE: integer(upToAMillion('requests per second'), null, {
    doc: 'Requests of one source ([rate limits](decisions/rate-limits.md)).' }),
  PI_LIMIT_PER_CALLER: integer(upToAMillion('requests per second'), null, {
    doc: 'Authenticated requests of one integration, and of one legacy API key.' }),
  PI_LIMIT_FAILED_SIGN_INS: integer(upToAMillion('rejections per minute'), null, {
    doc: '401 answers to one source. Beyond it, every request of that source is 429.' }),
  PI_LIMIT_CONNECTIONS: integer(upToAMillion('a number of connections'), null, {
    doc: 'Connections of one source at once; further ones are closed.' }),
  PI_TRUSTED_PROXIES: list(ranges, parsers.parseRange, {
    doc: 'Proxies whose `X-Forwarded-For` is trusted. Behind another proxy all clients are one source.' }),
  PI_KEEP_ALIVE_MS: integer(ms(1_000, 600_000), 5_000, {
    doc: "How long an idle connection stays open. Behind a balancer, set it above the balancer's own limit." }),
}

// biome-ignore format: a table; each row ends with its documentation
const operations = {
  PI_ROLES: list('some of `api`, `console`, `dispatcher`, `poller`, `indexer` and `indexer:<chainId>`', parsers.parseRole, {
    fallback: null, unset: 'all', getKey: (role) => role,
    doc: 'The [roles](roles.md) that this process runs. `--role` overrides it.' }),
  PI_LOG_LEVEL: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', { doc: 'Level of the log.' }),
  PI_ACCESS_LOG: onOff(false, {
    doc: 'Whether every answered request is [logged](observability.md).' }),
  PI_TRACING: onOff(false, {
    doc: 'Whether payments are [traced](observability.md) through OpenTelemetry, and deliveries carry `traceparent`. It needs the package `@opentelemetry/api`.' }),
  PI_ADMIN_PORT: integer(port, null, {
    doc: 'Port of a listener for `/live`, `/ready`, `/health` and `/metrics`. 0 takes any free port.' }),
  PI_ADMIN_HOST: text(hostName, parsers.parseHost, { onlyWith: 'PI_ADMIN_PORT', fallback: '127.0.0.1',
    doc: 'Address of that listener, out of reach of the public.' }),
  PI_METRICS_TOKEN: text('16 to 512 printable characters without spaces', parsers.parseMetricsToken, {
    isSecret: true, unset: 'none: without it and `PI_ADMIN_PORT`, metrics are not served',
    doc: 'Bearer token that `/metrics` requires. Without `PI_ADMIN_PORT` it serves `/metrics` on the port of the API.' }),
  PI_LISTEN: onOff(false, {
    doc: 'Whether integrations may [stream their deliveries](decisions/trigger-and-listen.md#listen) to a local receiver.' }),
  PI_ACTOR: text('a name of 1 to 100 characters, without spaces around it', parsers.parseActor, {
    unset: '`cli:` and the user of the machine',
    doc: 'Actor of the commands in the audit log, not verified. `--actor` overrides it.' }),
  PI_DRAIN_MS: integer(ms(0, 600_000), 0, {
    doc: 'How long a server goes on accepting requests after SIGTERM, while `/ready` answers 503 ([rolling restarts](roles.md#rolling-restarts)).' }),
  PI_SHUTDOWN_TIMEOUT_MS: integer(ms(100, 600_000), 10_000, {
    doc: 'Longest time of a shutdown after `PI_DRAIN_MS`. Unfinished work is then aborted, and repeated after the next start.' }),
}

/** Every variable except those of a single chain. */
export const variables = {
  ...basic,
  ...database,
  ...chains,
  ...deliveries,
  ...identity,
  ...pages,
  ...limits,
  ...operations,
}

/** The variables in groups, for people. */
export const sections: Readonly<Record<string, Readonly<Record<string, Variable<unknown>>>>> = {
  'Required and basic': basic,
  Database: database,
  'Each chain': chainVariables,
  'All chains': chains,
  'Deliveries and processors': deliveries,
  Identity: identity,
  Pages: pages,
  Limits: limits,
  Operations: operations,
}
