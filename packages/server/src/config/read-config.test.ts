import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { ConfigError } from './config.js'
import { readConfig } from './read-config.js'
import type { Environment } from './variables.js'

const key = randomBytes(32).toString('hex')
const minimal = { PI_MASTER_KEY: key }
const router = `0x${'Ab'.repeat(20)}`
const token = `0x${'12'.repeat(20)}`

const problemsOf = (env: Environment) => problemsIn(() => readConfig(env))

describe('readConfig', () => {
  it('needs only a master key; everything else has a default', () => {
    expect(readConfig(minimal)).toEqual({
      environment: 'production',
      retention: { policy: { attempts: null, deliveries: null, updates: null, audit: null }, folder: null },
      host: '127.0.0.1',
      port: 4747,
      database: { kind: 'sqlite', path: 'payment-integration.db' },
      migrates: true,
      masterKey: key,
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
  })

  it('reads every variable', () => {
    const config = readConfig({
      PI_ENV: 'development',
      PI_HOST: '::1',
      PI_PORT: '0',
      PI_DATABASE_URL: 'postgresql://user:pass@db.example/payments',
      PI_MASTER_KEY: `${randomBytes(32).toString('base64url')},${key}`,
      PI_PROCESSOR_SECRETS: 'first-secret-of-it, second-secret-of-it',
      PI_RPC_URL_31337: 'http://127.0.0.1:8545, wss://node.example/key,https://other.example/?key=1%2C2',
      PI_HEADS_URL_31337: 'ws://127.0.0.1:8546',
      PI_PROOF_31337: 'bloom',
      PI_MAX_RANGE_31337: '5000',
      PI_RAW_RECEIPTS_31337: 'off',
      PI_ROUTERS_31337: `${router}@0.8, ${router}@0.6`,
      PI_SPOKE_POOLS_31337: `${router}, ${token}`,
      PI_TOKENS_31337: `${token}:USD₮0:USD, ${router}:WETH.e:ETH`,
      PI_PRICE_FEEDS_31337: `${router}:CHF:USD:8`,
      PI_START_BLOCK_31337: '0',
      PI_POLL_MS_31337: '250',
      PI_RPC_PRICE_31337: '0.85',
      PI_RPC_URL_1: 'https://rpc.example/v3/key',
      PI_START_BLOCK_1: 'head',
      PI_RECEIPTS: 'http',
      PI_RECEIPTS_URL: 'http://127.0.0.1:1/receipts',
      PI_MAX_EXTRA_FEE_BPS: '10000',
      PI_LOG_LEVEL: 'silent',
      PI_LEASE_MS: '60000',
      PI_SHUTDOWN_TIMEOUT_MS: '500',
      PATH: '/bin',
    })
    expect(config).toMatchObject({
      environment: 'development',
      host: '::1',
      port: 0,
      database: { kind: 'postgres', connectionString: 'postgresql://user:pass@db.example/payments' },
      migrates: false,
      processorSecrets: ['first-secret-of-it', 'second-secret-of-it'],
      receipts: { kind: 'http', url: 'http://127.0.0.1:1/receipts' },
      maxExtraFeeBps: 10_000,
      logLevel: 'silent',
      leaseMs: 60_000,
      shutdownTimeoutMs: 500,
    })
    expect(config.chains.map(({ chainId }) => chainId)).toEqual([1, 31337])
    expect(config.chains[0]).toMatchObject({
      endpoints: [{ url: 'https://rpc.example/v3/key' }],
      startBlock: 'head',
      pollMs: 1_000,
      callPrice: null,
      proof: null,
      rawReceipts: true,
      maxRange: null,
      routers: null,
      spokePools: null,
      tokens: [],
      priceFeeds: [],
    })
    expect(config.chains[1]).toEqual({
      chainId: 31337,
      endpoints: [
        { url: 'http://127.0.0.1:8545', headsUrl: 'ws://127.0.0.1:8546' },
        { url: 'wss://node.example/key' },
        { url: 'https://other.example/?key=1%2C2' },
      ],
      routers: [
        { address: router.toLowerCase(), version: '0.8' },
        { address: router.toLowerCase(), version: '0.6' },
      ],
      spokePools: [router.toLowerCase(), token],
      tokens: [
        { address: token, symbol: 'USD₮0', currency: 'USD' },
        { address: router.toLowerCase(), symbol: 'WETH.e', currency: 'ETH' },
      ],
      priceFeeds: [{ address: router.toLowerCase(), base: 'CHF', quote: 'USD', decimals: 8 }],
      startBlock: 0,
      pollMs: 250,
      callPrice: 0.85,
      proof: 'bloom',
      rawReceipts: false,
      maxRange: 5_000,
      confirmations: null,
    })
  })

  it('uses the confirmations of the contract for its chains, none for others, and configured ones for both', () => {
    const chains = { ...minimal, PI_RPC_URL_137: 'http://127.0.0.1:1', PI_RPC_URL_8453: 'http://127.0.0.1:1' }
    const confirmations = (env: Record<string, string>) => readConfig(env).chains.map((chain) => chain.confirmations)
    expect(confirmations(chains)).toEqual([50, null])
    expect(confirmations({ ...chains, PI_CONFIRMATIONS_137: '7', PI_CONFIRMATIONS_8453: '0' })).toEqual([7, 0])
    expect(() => readConfig({ ...chains, PI_CONFIRMATIONS_137: '-1' })).toThrow('PI_CONFIRMATIONS_137')
  })

  it('takes receipts from the chain unless a processor is connected', () => {
    expect(readConfig(minimal).receipts).toEqual({ kind: 'chain' })
    const connected = { ...minimal, PI_PROCESSOR_SECRETS: 'secret-of-16-char' }
    expect(readConfig(connected).receipts).toEqual({ kind: 'off' })
    expect(readConfig({ ...connected, PI_RECEIPTS: 'chain' }).receipts).toEqual({ kind: 'chain' })
  })

  it('treats an empty variable as not set', () => {
    expect(readConfig({ ...minimal, PI_PORT: '', PI_PROCESSOR_SECRETS: '', PI_RPC_URL_1: '' })).toEqual(
      readConfig(minimal),
    )
  })

  it.each<[Environment, string]>([
    [{ PI_MASTER_KEY: '' }, 'PI_MASTER_KEY is not set; expected 32 random bytes'],
    [{ PI_MASTER_KEY: 'short' }, 'PI_MASTER_KEY is refused'],
    [{ PI_DNS_SERVERS: ','.repeat(65_537) }, 'PI_DNS_SERVERS has 65537 characters; 65536 at most.'],
    [{ PI_MASTER_KEY: '00'.repeat(32) }, 'PI_MASTER_KEY is refused'],
    [{ PI_ENV: 'prod' }, 'PI_ENV is "prod"; expected one of production, development.'],
    [{ PI_PORT: '65536' }, 'PI_PORT is "65536"; expected a port from 0 to 65535'],
    [{ PI_PORT: ' 80' }, 'PI_PORT is " 80"'],
    [{ PI_HOST: 'http://x' }, 'PI_HOST is "http://x"'],
    [{ PI_DATABASE_URL: 'sqlite:' }, 'PI_DATABASE_URL is "sqlite:", which names no file on a disk'],
    [
      { PI_DATABASE_URL: 'sqlite::payments.db' },
      'PI_DATABASE_URL is "sqlite::payments.db", whose path begins with a colon',
    ],
    [{ PI_DATABASE_URL: 'sqlite:file:a.db' }, 'PI_DATABASE_URL is "sqlite:file:a.db", which names no file on a disk'],
    [{ PI_DATABASE_URL: 'mysql://u:p@h/d' }, 'PI_DATABASE_URL has mysql:; expected sqlite:<path> or postgres://'],
    [{ PI_DATABASE_URL: 'payments.db' }, 'PI_DATABASE_URL has no scheme'],
    [{ PI_DATABASE_URL: 'postgres://' }, 'PI_DATABASE_URL has postgres:'],
    [{ PI_PROCESSOR_SECRETS: 'short' }, 'PI_PROCESSOR_SECRETS: secret 1 of 1 has 5 characters; expected at least 16.'],
    [{ PI_PROCESSOR_SECRETS: 'a-long-enough-secret,' }, 'PI_PROCESSOR_SECRETS: secret 2 of 2 has 0 characters'],
    [{ PI_PROOF_1: 'root' }, 'PI_RPC_URL_1 is not set; this chain has other variables'],
    [
      { PI_RPC_URL_1: 'http://a.example', PI_PROOF_1: 'full' },
      'PI_PROOF_1 is "full"; expected one of root, bloom, none.',
    ],
    [{ PI_RPC_URL_1: 'http://a.example', PI_MAX_RANGE_1: '0' }, 'PI_MAX_RANGE_1 is "0"; expected blocks from 1 to'],
    [
      { PI_RPC_URL_1: 'http://a.example', PI_RPC_PRICE_1: '1,5' },
      'PI_RPC_PRICE_1 is "1,5"; expected the price of a million calls',
    ],
    [{ PI_MAX_RANGE_1: '9' }, 'PI_RPC_URL_1 is not set; this chain has other variables'],
    [{ PI_RPC_URL_x: 'http://node.example' }, 'PI_RPC_URL_x ends in "x"; expected a chain id'],
    [{ PI_ROUTERS_1: `${router}@0.8` }, 'PI_RPC_URL_1 is not set; this chain has other variables'],
    [
      { PI_RPC_URL_1: 'http://node.example', PI_ROUTERS_1: '0x12@0.8' },
      'PI_ROUTERS_1 holds "0x12@0.8"; expected 0x and 40',
    ],
    [{ PI_RPC_URL_1: 'http://node.example', PI_ROUTERS_1: `${router}@0.8,` }, 'PI_ROUTERS_1 holds ""'],
    [
      { PI_RPC_URL_1: 'http://node.example', PI_SPOKE_POOLS_1: `${router},0x12` },
      'PI_SPOKE_POOLS_1 holds "0x12"; expected 0x and 40 hex digits.',
    ],
    [{ PI_RPC_URL_1: 'http://node.example', PI_SPOKE_POOLS_1: `${router},` }, 'PI_SPOKE_POOLS_1 holds ""'],
    [{ PI_SPOKE_POOLS_1: router }, 'PI_RPC_URL_1 is not set; this chain has other variables'],
    [
      { PI_RPC_URL_1: 'http://node.example', PI_START_BLOCK_1: 'tail' },
      'PI_START_BLOCK_1 is "tail"; expected `head` or',
    ],
    [
      { PI_RPC_URL_1: 'http://node.example', PI_POLL_MS_1: '10' },
      'PI_POLL_MS_1 is "10"; expected milliseconds from 50',
    ],
    [{ PI_RECEIPTS: 'on' }, 'PI_RECEIPTS is "on"; expected one of off, chain, http.'],
    [
      { PI_RECEIPTS: 'http', PI_RECEIPTS_URL: 'https://p.example' },
      'PI_RECEIPTS is "http"; it needs PI_PROCESSOR_SECRETS',
    ],
    [{ PI_RECEIPTS: 'http', PI_PROCESSOR_SECRETS: 'secret-of-16-char' }, 'PI_RECEIPTS_URL is not set'],
    [
      { PI_RECEIPTS: 'http', PI_PROCESSOR_SECRETS: 'secret-of-16-char', PI_RECEIPTS_URL: 'http://p.example' },
      'PI_RECEIPTS_URL is not usable; expected https://',
    ],
    [{ PI_RECEIPTS_URL: 'https://p.example' }, 'PI_RECEIPTS_URL is set; it is only used with PI_RECEIPTS=http.'],
    [
      { PI_MAX_EXTRA_FEE_BPS: '10001' },
      'PI_MAX_EXTRA_FEE_BPS is "10001"; expected basis points from 0 to 10000, in plain digits.',
    ],
    [{ PI_LOG_LEVEL: 'loud' }, 'PI_LOG_LEVEL is "loud"; expected one of debug, info, warn, error, silent.'],
    [{ PI_LEASE_MS: '999' }, 'PI_LEASE_MS is "999"; expected milliseconds from 1000 to 600000'],
    [{ PI_SHUTDOWN_TIMEOUT_MS: '1' }, 'PI_SHUTDOWN_TIMEOUT_MS is "1"; expected milliseconds from 100'],
    [{ PI_MASTERKEY: key }, 'PI_MASTERKEY is not a known variable; check its spelling or remove it.'],
    [{ PI_RPC_URL: 'http://node.example' }, 'PI_RPC_URL is not a known variable'],
  ])('%j is a problem that names its variable', (env, problem) => {
    const problems = problemsOf({ ...minimal, ...env })
    expect(problems).toEqual([expect.stringContaining(problem)])
  })

  const badTokens = [
    '',
    `${token}`,
    `${token}:USDC:`,
    `${token}:USDC:usd`,
    `${token}:USDC:USD:6`,
    `${token}:US DC:USD`,
    `${token}:US\u200bDC:USD`,
    `${token}:${'S'.repeat(33)}:USD`,
    `${token}:USDC:${'C'.repeat(17)}`,
    `${token.slice(0, -1)}:USDC:USD`,
  ]
  it.each(badTokens)('the token %j is a problem, in every place of the list', (bad) => {
    const env = { ...minimal, PI_RPC_URL_1: 'http://node.example' }
    const problem = expect.stringMatching(
      /^PI_TOKENS_1 holds ".*"; expected 0x and 40 hex digits, a symbol and a currency/,
    )
    for (const list of [`${bad},${router}:DAI:USD`, `${router}:DAI:USD,${bad}`])
      expect(problemsOf({ ...env, PI_TOKENS_1: list })).toEqual([problem])
  })

  const badFeeds = [
    '',
    `${token}:CHF:USD`,
    `${token}:CHF:USD:78`,
    `${token}:CHF:USD:08`,
    `${token}:CHF:USD:8:1`,
    `${token}:USD:USD:8`,
    `${token}:chf:USD:8`,
    `${token}:CHFUSD:8`,
    `0x12:CHF:USD:8`,
  ]
  it.each(badFeeds)('the price feed %j is a problem, in every place of the list', (bad) => {
    const env = { ...minimal, PI_RPC_URL_1: 'http://node.example' }
    const problem = expect.stringMatching(
      /^PI_PRICE_FEEDS_1 holds ".*"; expected 0x and 40 hex digits, two currency codes/,
    )
    for (const list of [`${bad},${router}:EUR:USD:0`, `${router}:EUR:USD:77,${bad}`])
      expect(problemsOf({ ...env, PI_PRICE_FEEDS_1: list })).toEqual([problem])
  })

  it('reads currency codes with plus, dash and underscore', () => {
    const { chains } = readConfig({
      ...minimal,
      PI_RPC_URL_1: 'http://node.example',
      PI_TOKENS_1: `${token}:USD+:USD+,${router}:A-B:A-B`,
      PI_PRICE_FEEDS_1: `${router}:USD0++:A_B:8`,
    })
    expect(chains[0]).toMatchObject({
      tokens: [{ symbol: 'USD+', currency: 'USD+' }, { currency: 'A-B' }],
      priceFeeds: [{ base: 'USD0++', quote: 'A_B', decimals: 8 }],
    })
  })

  it('accepts an address once in each list, in any case', () => {
    const env = { ...minimal, PI_RPC_URL_1: 'http://node.example' }
    const twice = `${router}:DAI:USD,${router.toLowerCase()}:USDC:USD`
    expect(problemsOf({ ...env, PI_TOKENS_1: twice })).toEqual([
      `PI_TOKENS_1 names ${router.toLowerCase()} twice; keep one of them.`,
    ])
    expect(problemsOf({ ...env, PI_PRICE_FEEDS_1: `${token}:CHF:USD:8,${token}:CHF:USD:8` })).toEqual([
      `PI_PRICE_FEEDS_1 names ${token} twice; keep one of them.`,
    ])
  })

  it('needs an RPC URL for a chain that has tokens or price feeds', () => {
    for (const name of ['PI_TOKENS_10', 'PI_PRICE_FEEDS_10'])
      expect(problemsOf({ ...minimal, [name]: 'x' })).toContainEqual(
        'PI_RPC_URL_10 is not set; this chain has other variables, so it needs an RPC URL.',
      )
  })

  it('reports all problems at once, in one error', () => {
    const env = { PI_PORT: 'x', PI_ENV: 'x', PI_DATABASE_URL: 'x', PI_RPC_URL_1: 'x', PI_TYPO: 'x' }
    const problems = problemsOf(env)
    const variables = problems.map((problem) => problem.split(' ')[0])
    expect(variables).toEqual(['PI_ENV', 'PI_PORT', 'PI_DATABASE_URL', 'PI_RPC_URL_1', 'PI_MASTER_KEY', 'PI_TYPO'])
    expect(() => readConfig(env)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG', name: 'ConfigError' }))
    for (const problem of problems) expect(new ConfigError(problems).message).toContain(problem)
  })

  it('repeats no secret in a problem', () => {
    const canary = 'CANARY'
    const problems = problemsOf({
      PI_MASTER_KEY: canary,
      PI_PROCESSOR_SECRETS: `${canary},${canary}`,
      PI_DATABASE_URL: `mysql://user:${canary}@host/${canary}`,
      PI_RPC_URL_1: `ftp://user:${canary}@host/${canary}?key=${canary}`,
      PI_RPC_URL_10: `no url ${canary}`,
      PI_RPC_URL_100: `${canary}:x,http://${canary}.example/a,http://${canary}.example/a`,
      PI_HEADS_URL_100: `${canary}://x`,
      PI_RECEIPTS_URL: `https://user:${canary}@host/`,
      PI_UNKNOWN: canary,
    })
    expect(problems.length).toBeGreaterThan(9)
    expect(problems.join('\n').toLowerCase()).not.toContain(canary.toLowerCase())
  })
})
