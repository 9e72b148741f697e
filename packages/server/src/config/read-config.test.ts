/** The whole configuration: defaults, how variables go together, and unknown names. */
import { describe, expect, it } from 'vitest'
import {
  chain,
  development,
  findProblems,
  masterKey,
  oidc,
  postgres,
  problemsIn,
  read,
  sharing,
} from '../../test/support/config-problems.js'
import { ConfigError, readConfig, readDatabaseConfig, readFeedPublisherConfig } from './read-config.js'
import type { Environment } from './read-variables.js'

const processor = { PI_PROCESSOR_SECRETS: 'secret-of-16-char' }
const console = { PI_CONSOLE: 'on', PI_CONSOLE_URL: 'https://pay.example' }
const token = { PI_METRICS_TOKEN: 'a-token-of-the-metrics' }

it('a master key is enough; everything else has a default, and an empty variable counts as not set', () => {
  const { settings, ...config } = read({ PI_PORT: '', PI_PROCESSOR_SECRETS: '', PI_RPC_URL_1: '', PI_RPC_URL_x: '' })
  expect(config).toEqual({
    environment: 'production',
    retention: { policy: { attempts: null, deliveries: null, updates: null, audit: null }, folder: null },
    host: '127.0.0.1',
    port: 4747,
    database: { kind: 'sqlite', path: 'payment-integration.db' },
    migrates: true,
    masterKey,
    processorSecrets: [],
    chains: [],
    feed: null,
    leaseMs: 15_000,
    receipts: { kind: 'chain' },
    delivery: { concurrency: 256, perEndpoint: 32, denied: [], dnsServers: [] },
    actor: null,
    maxExtraFeeBps: 100,
    recording: 'all',
    logLevel: 'info',
    identity: null,
    roles: { api: true, console: false, dispatcher: true, poller: true, indexer: 'all' },
    admin: { listen: null, metricsToken: null },
    reference: false,
    console: false,
    consoleUrl: null,
    oidc: null,
    portal: null,
    deliveryStream: false,
    simulatedChains: [],
    limits: {
      requestsPerSource: null,
      requestsPerCaller: null,
      failedSignInsPerSource: null,
      connectionsPerSource: null,
      trustedProxies: [],
    },
    keepAliveMs: 5_000,
    drainMs: 0,
    accessLog: false,
    tracing: false,
    shutdownTimeoutMs: 10_000,
  })
  expect(settings.filter(({ isDefault }) => !isDefault).map(({ name }) => name)).toEqual(['PI_MASTER_KEY'])
})

it('chains are read by their ids, with the confirmations of the contract or the configured ones', () => {
  const urls = { PI_RPC_URL_137: 'http://127.0.0.1:1', PI_RPC_URL_8453: 'http://127.0.0.1:1', ...chain }
  const confirmations = (env: Environment) =>
    read({ ...urls, ...env }).chains.map((each) => `${each.chainId}: ${each.confirmations}`)
  expect(confirmations({})).toEqual(['1: 3', '137: 50', '8453: null'])
  const configured = { PI_CONFIRMATIONS_137: '7', PI_CONFIRMATIONS_8453: '0' }
  expect(confirmations(configured)).toEqual(['1: 3', '137: 7', '8453: 0'])
  expect(read(chain).chains).toEqual([
    {
      chainId: 1,
      nodes: [{ url: 'http://node.example' }],
      routers: null,
      spokePools: null,
      tokens: [],
      priceFeeds: [],
      startBlock: 'head',
      pollMs: 1_000,
      callPrice: null,
      proof: null,
      rawReceipts: true,
      maxRange: null,
      confirmations: 3,
    },
  ])
})

describe('the database', () => {
  it('may be reached through a pooler, past it, and at a standby, and is all that a migration reads', () => {
    const ca = '-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----'
    const env = {
      ...postgres,
      PI_DATABASE_PREPARED: 'off',
      PI_DATABASE_DIRECT_URL: 'postgres://app@direct.example/payments',
      PI_DATABASE_READ_URL: 'postgres://app@standby.example/payments',
      PI_DATABASE_POOL: '20',
      PI_DATABASE_STATEMENT_TIMEOUT_MS: '5000',
      PI_DATABASE_LOCK_TIMEOUT_MS: '2000',
      PI_DATABASE_CA_FILE: '/etc/ssl/ca.pem',
      PI_DATABASE_ENGINE: 'citus',
    }
    expect(readDatabaseConfig(env, () => `${ca}\n`)).toEqual({
      kind: 'postgres',
      connectionString: postgres.PI_DATABASE_URL,
      preparedStatements: false,
      directConnectionString: 'postgres://app@direct.example/payments',
      reader: { connectionString: 'postgres://app@standby.example/payments', maxLagMs: 1_000 },
      maxConnections: 20,
      statementTimeoutMs: 5_000,
      lockTimeoutMs: 2_000,
      ca,
      acceptedEngine: 'citus',
    })
    expect(readDatabaseConfig(postgres)).toEqual({
      kind: 'postgres',
      connectionString: postgres.PI_DATABASE_URL,
      ...{ maxConnections: 10, statementTimeoutMs: 30_000, lockTimeoutMs: 10_000 },
    })
    expect(() => readDatabaseConfig({ PI_DATABASE_URL: 'mysql://db.example/payments' })).toThrow(ConfigError)
  })

  it('with certificates decides about TLS alone', () => {
    const env = { PI_DATABASE_URL: 'postgres://db/p?sslmode=require', PI_DATABASE_CA_FILE: '/ca.pem' }
    expect(problemsIn(() => readDatabaseConfig(env, () => '-----BEGIN CERTIFICATE-----'))).toEqual([
      'PI_DATABASE_URL has a parameter such as sslmode, which PI_DATABASE_CA_FILE replaces; remove it.',
    ])
    expect(problemsIn(() => readDatabaseConfig({ ...env, ...postgres }, () => 'canary'))).toEqual([
      'PI_DATABASE_CA_FILE names a file without a certificate; expected PEM text.',
    ])
  })

  it.each([
    ['sqlite:payments.db', undefined, true],
    ['sqlite:payments.db', 'off', false],
    ['postgres://db.example/payments', undefined, false],
    ['postgres://db.example/payments', 'on', true],
  ])('%s with PI_MIGRATE %s migrates at the start: %s', (url, value, migrates) => {
    expect(read({ PI_DATABASE_URL: url, PI_MIGRATE: value }).migrates).toBe(migrates)
  })
})

// biome-ignore format: a table
it.each([
  [{}, { receipts: { kind: 'chain' } }],
  [processor, { receipts: { kind: 'off' } }],
  [{ ...processor, PI_RECEIPTS: 'chain' }, { receipts: { kind: 'chain' } }],
  [{ ...processor, ...development, PI_RECEIPTS: 'http', PI_RECEIPTS_URL: 'http://p.example/receipts' }, { receipts: { kind: 'http', url: 'http://p.example/receipts' } }],
  [{ PI_DELIVERY_CONCURRENCY: '64' }, { delivery: { concurrency: 64, perEndpoint: 16 } }],
  [{ PI_DELIVERY_CONCURRENCY: '1' }, { delivery: { concurrency: 1, perEndpoint: 1 } }],
  [{ PI_DELIVERY_CONCURRENCY: '10000' }, { delivery: { concurrency: 10_000, perEndpoint: 32 } }],
  [{ PI_DELIVERY_CONCURRENCY: '7', PI_DELIVERY_PER_ENDPOINT: '7' }, { delivery: { concurrency: 7, perEndpoint: 7 } }],
  [development, { reference: true, console: false, portal: null, deliveryStream: false, simulatedChains: [] }],
  [{ ...development, PI_REFERENCE: 'off' }, { reference: false }],
  [{ PI_REFERENCE: 'on', PI_LISTEN: 'on' }, { reference: true, deliveryStream: true }],
  [{ PI_CONSOLE_URL: 'https://pay.example' }, { console: false, consoleUrl: 'https://pay.example' }],
  [{ ...console, PI_HOST: '0.0.0.0' }, { console: true, consoleUrl: 'https://pay.example' }],
  [{ ...development, PI_CONSOLE: 'on', PI_PORTAL: 'on' }, { console: true, consoleUrl: null, portal: { publicUrl: null } }],
  [{ ...development, PI_CONSOLE: 'on', PI_HOST: '::1' }, { console: true, consoleUrl: null }],
  [{ PI_ADMIN_PORT: '9464' }, { admin: { listen: { host: '127.0.0.1', port: 9464 }, metricsToken: null } }],
  [{ ...token, PI_ADMIN_PORT: '0', PI_ADMIN_HOST: '10.0.0.1' }, { admin: { listen: { host: '10.0.0.1', port: 0 } } }],
  [{ ...token, PI_ADMIN_PORT: '9464', PI_ROLES: 'dispatcher' }, { admin: { metricsToken: token.PI_METRICS_TOKEN } }],
  [{ PI_CHAIN_FEED_URL: 'nats://nats-1:4222' }, { feed: { credentialsFile: null, caFile: null } }],
  [{ PI_CHAIN_FEED_URL: 'tls://nats-1', PI_CHAIN_FEED_CREDENTIALS_FILE: '/f', PI_CHAIN_FEED_CA_FILE: '/ca.pem' }, { feed: { credentialsFile: '/f', caFile: '/ca.pem' } }],
])('%j makes %j', (env, config) => {
  expect(read(env)).toMatchObject(config)
})

// biome-ignore format: a table
it.each<[Environment, string | readonly string[]]>([
  [{ PI_MASTER_KEY: '' }, 'PI_MASTER_KEY is not set; expected 32 random bytes as base64url or 64 hex digits'],
  [{ PI_DATABASE_POOL: '5' }, 'PI_DATABASE_POOL is set; it is only used with PI_DATABASE_URL=postgres….'],
  [{ ...postgres, PI_DATABASE_READ_MAX_LAG_MS: '50' }, 'MAX_LAG_MS is set; it is only used with PI_DATABASE_READ_URL.'],
  ...[{ PI_PROOF_10: 'root' }, { PI_MAX_RANGE_10: '9' }, { PI_HEADS_URL_10: 'ws://a' }, { PI_TOKENS_10: `0x${'1'.repeat(40)}:A:USD` }].map(
    (env): [Environment, string] => [env, 'PI_RPC_URL_10 is not set; this chain has other variables, so it needs an RPC URL.'],
  ),
  [{ PI_RPC_URL_x: 'http://node.example' }, 'PI_RPC_URL_x ends in "x"; expected a chain id in plain digits'],
  [{ ...chain, PI_HEADS_URL_1: 'ws://a.example,ws://b.example' }, 'PI_HEADS_URL_1 names 2 nodes and PI_RPC_URL_1 1; the n-th belongs to the n-th.'],
  [{ PI_SIMULATED_CHAINS: '137' }, 'PI_SIMULATED_CHAINS is set; payments without a chain are only made with PI_ENV=dev'],
  [{ ...development, ...chain, PI_SIMULATED_CHAINS: '10,1' }, 'PI_SIMULATED_CHAINS names 1, which PI_RPC_URL_1 reads.'],
  [{ PI_CHAIN_FEED_URL: 'nats://nats-1,tls://nats-2' }, 'PI_CHAIN_FEED_URL mixes nats:// and tls://; use one of them'],
  [{ PI_CHAIN_FEED_URL: 'nats://nats-1', PI_CHAIN_FEED_CA_FILE: '/ca.pem' }, 'PI_CHAIN_FEED_CA_FILE is set; it is only used with tls://'],
  [{ PI_CHAIN_FEED_CREDENTIALS_FILE: '/f' }, 'PI_CHAIN_FEED_CREDENTIALS_FILE is set; it is only used with PI_CHAIN_FEED_URL.'],
  [{ PI_DELIVERY_CONCURRENCY: '8', PI_DELIVERY_PER_ENDPOINT: '9' }, 'PI_DELIVERY_PER_ENDPOINT is 9, above the 8 notifications of PI_DELIVERY_CONCURRENCY; lower one or raise the other.'],
  [{ PI_RECEIPTS: 'http', PI_RECEIPTS_URL: 'https://p.example' }, 'PI_RECEIPTS is "http"; it needs PI_PROCESSOR_SECRETS'],
  [{ ...processor, PI_RECEIPTS: 'http' }, 'PI_RECEIPTS_URL is not set; PI_RECEIPTS=http needs the address of the receipts.'],
  [{ ...processor, PI_RECEIPTS: 'http', PI_RECEIPTS_URL: 'http://p.example' }, 'PI_RECEIPTS_URL begins with http://, which is only accepted with PI_ENV=development; use https://.'],
  [{ PI_RECEIPTS_URL: 'https://p.example' }, 'PI_RECEIPTS_URL is set; it is only used with PI_RECEIPTS=http.'],
  [{ PI_IDENTITY_LEVEL: 'basic' }, 'PI_IDENTITY_LEVEL is set; it is only used with PI_IDENTITY_APP_TOKEN.'],
  [
    { PI_IDENTITY_APP_TOKEN: 'app-token' },
    [
      'PI_IDENTITY_SECRET_KEY is not set; sharing identity verifications needs the secret key of the app token.',
      'PI_IDENTITY_LEVEL is not set; sharing identity verifications needs the name of the verification level.',
      'PI_IDENTITY_WEBHOOK_SECRETS is not set; sharing identity verifications needs the secret of the webhook',
    ],
  ],
  [{ ...sharing, PI_IDENTITY_URL: 'http://127.0.0.1:4749' }, 'PI_IDENTITY_URL begins with http://, which is only accepted with PI_ENV=development; use https://.'],
  [{ PI_CONSOLE: 'on' }, 'PI_CONSOLE is on without PI_CONSOLE_URL, so nobody signs in; set PI_CONSOLE_URL, or PI_ENV=development for pages without sign-in.'],
  [{ ...development, PI_CONSOLE: 'on', PI_HOST: '0.0.0.0' }, 'PI_CONSOLE is on without PI_CONSOLE_URL, so nobody signs in; set PI_CONSOLE_URL, or a loopback address as PI_HOST instead of "0.0.0.0".'],
  [{ ...oidc, PI_CONSOLE_URL: '' }, 'PI_OIDC_ISSUER is set; it needs PI_CONSOLE_URL, to which the provider sends people'],
  [{ ...oidc, PI_OIDC_CLIENT_ID: '' }, 'PI_OIDC_CLIENT_ID is not set; PI_OIDC_ISSUER needs it.'],
  [{ ...oidc, PI_OIDC_CLIENT_SECRET: '' }, 'PI_OIDC_CLIENT_SECRET is not set; PI_OIDC_ISSUER needs it.'],
  [{ ...oidc, PI_OIDC_ISSUER: '' }, ['PI_OIDC_CLIENT_ID is set; it is only used with PI_OIDC_ISSUER.', 'PI_OIDC_CLIENT_SECRET is set; it is only used']],
  [{ PI_PORTAL: 'on' }, 'PI_PORTAL is on without PI_PORTAL_URL; set the origin that integrators open, such as https://'],
  [{ ...development, PI_PORTAL: 'on', PI_HOST: '0.0.0.0' }, 'PI_PORTAL is on without PI_PORTAL_URL'],
  [{ PI_PORTAL_URL: 'https://pay.example' }, 'PI_PORTAL_URL is set; it is only used with PI_PORTAL=on.'],
  [{ PI_ADMIN_PORT: '4747' }, 'PI_ADMIN_PORT is 4747, where the API listens; choose another port.'],
  [{ PI_ADMIN_HOST: '10.0.0.1' }, 'PI_ADMIN_HOST is set; it is only used with PI_ADMIN_PORT.'],
  [{ ...token, PI_ROLES: 'dispatcher' }, 'PI_METRICS_TOKEN is set, and PI_ROLES serve no requests; metrics need PI_ADMIN'],
  [{ PI_ROLES: 'console' }, 'PI_ROLES has console; it needs PI_CONSOLE=on or PI_PORTAL=on.'],
  [{ ...chain, PI_ROLES: 'indexer,indexer:1' }, 'PI_ROLES is "indexer,indexer:1"; indexer stands for all chains'],
  [{ ...chain, PI_ROLES: 'indexer:10' }, 'PI_ROLES has indexer:10; it needs PI_RPC_URL_10.'],
  [{ ...development, PI_SIMULATED_CHAINS: '1', PI_ROLES: 'api' }, 'PI_ROLES has api without indexer:1; a simulated chain is in one process.'],
  [{ PI_MASTERKEY: 'x' }, 'PI_MASTERKEY is not a known variable; check its spelling or remove it.'],
  [{ PI_RPC_URL: 'http://node.example' }, 'PI_RPC_URL is not a known variable'],
  [{ PI_HOST_FILE: '/f' }, 'PI_HOST_FILE is not a known variable'],
])('%j is a problem: %s', (env, expected) => {
  expect(findProblems(env)).toEqual([expected].flat().map((each) => expect.stringContaining(each)))
})

describe('roles', () => {
  const none = { api: false, console: false, dispatcher: false, poller: false, indexer: [] }

  it.each<[Environment, object]>([
    [{}, { api: true, console: false, dispatcher: true, poller: true, indexer: 'all' }],
    [console, { api: true, console: true, dispatcher: true, poller: true, indexer: 'all' }],
    [{ PI_ROLES: 'api' }, { ...none, api: true }],
    [{ PI_ROLES: 'dispatcher, poller' }, { ...none, dispatcher: true, poller: true }],
    [{ PI_ROLES: 'indexer' }, { ...none, indexer: 'all' }],
    [{ PI_ROLES: 'indexer:10,indexer:1' }, { ...none, indexer: [10, 1] }],
    [
      { ...console, PI_ROLES: 'console,api' },
      { ...none, api: true, console: true },
    ],
  ])('%j are %j', (env, roles) => {
    expect(read({ ...chain, PI_RPC_URL_10: 'http://127.0.0.1:8546', ...env }).roles).toEqual(roles)
  })

  it('api and the indexer of a simulated chain are one process', () => {
    const simulated = { ...development, PI_SIMULATED_CHAINS: '137' }
    for (const PI_ROLES of ['api,indexer', 'api,indexer:137', 'dispatcher'])
      expect(findProblems({ ...simulated, PI_ROLES })).toEqual([])
  })
})

it('a publisher of the feed needs servers and chains, and no master key', () => {
  const publisher = { ...chain, PI_CHAIN_FEED_URL: 'nats://nats-1:4222' }
  expect(readFeedPublisherConfig(publisher)).toMatchObject({ chains: [{ chainId: 1 }], logLevel: 'info' })
  expect(problemsIn(() => readFeedPublisherConfig({}))).toEqual([
    expect.stringContaining('PI_CHAIN_FEED_URL is not set'),
    expect.stringContaining('No PI_RPC_URL_<chainId> is set'),
  ])
  expect(problemsIn(() => readFeedPublisherConfig({ ...chain, PI_CHAIN_FEED_URL: 'nats://' }))).toHaveLength(1)
})

it('all problems are reported at once, in one error', () => {
  const env = { PI_PORT: 'x', PI_ENV: 'x', PI_DATABASE_URL: 'x', PI_RPC_URL_1: 'x', PI_TYPO: 'x' }
  const problems = problemsIn(() => readConfig(env))
  const names = problems.map((problem) => problem.split(' ')[0])
  expect(names).toEqual(['PI_MASTER_KEY', 'PI_ENV', 'PI_PORT', 'PI_DATABASE_URL', 'PI_RPC_URL_1', 'PI_TYPO'])
  expect(() => readConfig(env)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG', name: 'ConfigError' }))
  for (const problem of problems) expect(new ConfigError(problems).message).toContain(problem)
})
