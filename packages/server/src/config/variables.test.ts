/** Each variable on its own: the texts that it takes, the values that they become, and the message for any other. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { chain, development, findProblems, oidc, postgres, read, sharing } from '../../test/support/config-problems.js'
import type { Environment } from './read-variables.js'

const address = `0x${'Ab'.repeat(20)}`
const lowercase = address.toLowerCase()
const token = `0x${'12'.repeat(20)}`
const dayMs = 86_400_000

const ofChain = (value: object) => ({ chains: [value] })

// biome-ignore format: a table
const accepted: readonly (readonly [env: Environment, config: object])[] = [
  [{ PI_MASTER_KEY: `${randomBytes(32).toString('base64url')},${randomBytes(32).toString('hex')}` }, {}],
  [{ PI_HOST: '::1', PI_PORT: '0' }, { host: '::1', port: 0 }],
  [{ PI_DATABASE_URL: 'sqlite:other.db' }, { database: { kind: 'sqlite', path: 'other.db' } }],
  ...[
    'postgres://app:can%23%2F%3F%25@db.example/payments',
    'postgres://app:p@ss:w@db.example/payments',
    'postgresql://db.example:5432/payments?application_name=a@b',
    'postgres:///payments?host=/run/postgresql&user=a@b',
    'postgres://%2Frun%2Fpostgresql/payments',
  ].map((url) => [{ PI_DATABASE_URL: url }, { database: { kind: 'postgres', connectionString: url } }] as const),
  [{ PI_RETENTION_ATTEMPTS: '1d', PI_RETENTION_AUDIT: 'keep' }, { retention: { policy: { attempts: dayMs, audit: null } } }],
  [{ PI_RETENTION_UPDATES: '9999d' }, { retention: { policy: { updates: 9_999 * dayMs, deliveries: null } } }],
  [
    { PI_RPC_URL_1: 'https://a.example , ws://b.example,wss://c.example/%2C', PI_HEADS_URL_1: 'wss://a.example/heads' },
    ofChain({ nodes: [{ url: 'https://a.example', headsUrl: 'wss://a.example/heads' }, { url: 'ws://b.example' }, { url: 'wss://c.example/%2C' }] }),
  ],
  [{ ...chain, PI_ROUTERS_1: `${address}@0.8, ${address}@0.6` }, ofChain({ routers: [{ address: lowercase, version: '0.8' }, { version: '0.6' }] })],
  [{ ...chain, PI_SPOKE_POOLS_1: `${address}, ${token}` }, ofChain({ spokePools: [lowercase, token] })],
  [{ ...chain, PI_TOKENS_1: `${token}:USD₮0:USD, ${address}:A-B:A-B` }, ofChain({ tokens: [{ address: token, symbol: 'USD₮0', currency: 'USD' }, { address: lowercase, symbol: 'A-B', currency: 'A-B' }]})],
  [{ ...chain, PI_PRICE_FEEDS_1: `${address}:USD0++:A_B:0,${token}:CHF:USD:77` }, ofChain({ priceFeeds: [{ address: lowercase, base: 'USD0++', quote: 'A_B', decimals: 0 }, { decimals: 77 }] })],
  [{ ...chain, PI_START_BLOCK_1: '0', PI_RPC_PRICE_1: '0.85' }, ofChain({ startBlock: 0, callPrice: 0.85 })],
  [{ PI_CHAIN_FEED_URL: 'tls://nats-1:4222, tls://nats-2' }, { feed: { servers: ['tls://nats-1:4222', 'tls://nats-2'] } }],
  [{ ...development, PI_SIMULATED_CHAINS: '137, 10' }, { simulatedChains: [137, 10] }],
  [{ PI_DELIVERY_DENY: '203.0.113.7, 2001:db8::/32' }, { delivery: { denied: ['203.0.113.7', '2001:db8::/32'] } }],
  [{ PI_DNS_SERVERS: '192.0.2.1:5353, 127.0.0.1' }, { delivery: { dnsServers: ['192.0.2.1:5353', '127.0.0.1:53'] } }],
  [{ PI_DNS_SERVERS: '2001:db8::1,[2001:db8::1],[::1]:65535' }, { delivery: { dnsServers: ['[2001:db8::1]:53', '[2001:db8::1]:53', '[::1]:65535'] } }],
  [{ PI_PROCESSOR_SECRETS: 'first-secret-of-it, second-secret-of-it' }, { processorSecrets: ['first-secret-of-it', 'second-secret-of-it'] }],
  [sharing, { identity: { appToken: 'app-token', secretKey: 'secret-key', levelName: 'My level', webhookSecrets: ['new-secret', 'secret-8'], url: null, redeemBy: 'reuse', namespace: 'pi', ratePercent: 100}}],
  [{ ...sharing, PI_IDENTITY_URL: 'https://provider.example:8443/v1' }, { identity: { url: 'https://provider.example:8443/v1' } }],
  [{ ...sharing, PI_IDENTITY_NAMESPACE: ' shop.staging_2 ', PI_IDENTITY_RATE_PERCENT: '3' }, { identity: { namespace: 'shop.staging_2', ratePercent: 3 } }],
  ...['http://127.0.0.1:4749', 'http://[::1]:4749', 'http://localhost:4749'].map((url) => [{ ...sharing, ...development, PI_IDENTITY_URL: url }, { identity: { url } }] as const),
  ...[
    ['https://PAY.example:8443/', 'https://pay.example:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ].map(([url, origin]) => [{ PI_CONSOLE_URL: url, PI_PORTAL: 'on', PI_PORTAL_URL: url }, { consoleUrl: origin, portal: { publicUrl: origin } }] as const),
  [{ ...oidc, PI_OIDC_NAME_CLAIM: 'upn' }, { oidc: { issuer: 'https://id.example/realms/shop', clientId: 'pay', clientSecret: 'client-secret', nameClaim: 'upn' } }],
  [{ ...oidc, PI_OIDC_ISSUER: 'http://127.0.0.1:9000' }, { oidc: { issuer: 'http://127.0.0.1:9000', nameClaim: 'email' } }],
  [{ PI_TRUSTED_PROXIES: '10.0.0.7, 192.168.0.0/16' }, { limits: { trustedProxies: ['10.0.0.7', '192.168.0.0/16'] } }],
  [{ PI_LIMIT_PER_CALLER: '200', PI_LIMIT_CONNECTIONS: '1' }, { limits: { requestsPerCaller: 200, connectionsPerSource: 1 } }],
  [{ PI_METRICS_TOKEN: 'a-token-of-the-metrics' }, { admin: { metricsToken: 'a-token-of-the-metrics' } }],
  ...['alice', 'Alice of Operations', 'ci:deploy/17', 'Łukasz', 'x'.repeat(100), 'x'].map((actor) => [{ PI_ACTOR: actor }, { actor }] as const),
]

it.each(accepted)('%j is read as %j', (env, config) => {
  expect(read(env)).toMatchObject(config)
})

/** For each variable: the others that it needs, the texts that it does not take, and the end of the message. */
// biome-ignore format: a table
const rejected: readonly (readonly [others: Environment, name: string, texts: readonly string[], expected: string])[] =
  [
  [{}, 'PI_ENV', ['prod', ' production'], 'one of production, development'],
  [{}, 'PI_HOST', ['http://x', 'a b', 'x'.repeat(254)], 'an address or host name of this machine, without scheme or port'],
  [{}, 'PI_PORT', ['65536', ' 80', '-1', '1.5', '1e3', '08', '0x50'], 'a port from 0 to 65535, in plain digits'],
  [postgres, 'PI_DATABASE_PREPARED', ['transaction'], 'one of session, off'],
  [postgres, 'PI_DATABASE_LOCK_TIMEOUT_MS', ['0', '99', '3600001'], 'milliseconds from 100 to 3600000, in plain digits'],
  [postgres, 'PI_DATABASE_ENGINE', ['My DB'], 'the name that ERR_STORE_ENGINE reports'],
  [{}, 'PI_MIGRATE', ['yes', 'ON'], 'one of on, off'],
  [{}, 'PI_RETENTION_DELIVERIES', ['0d', '01d', '90', '90 d', '1h', '-1d', '10000d', 'forever', '1.5d', 'KEEP'], 'keep, or days from 1d to 9999d'],
  [chain, 'PI_PROOF_1', ['full'], 'one of root, bloom, none'],
  [chain, 'PI_MAX_RANGE_1', ['0', '1000001'], 'blocks from 1 to 1000000, in plain digits'],
  [chain, 'PI_RPC_PRICE_1', ['1,5', '1.1234567', '-1'], 'the price of a million calls, such as 0.85: at most 6 decimals'],
  [chain, 'PI_START_BLOCK_1', ['tail', '-1'], 'head or a block number, in plain digits'],
  [chain, 'PI_POLL_MS_1', ['10'], 'milliseconds from 50 to 3600000, in plain digits'],
  [chain, 'PI_CONFIRMATIONS_1', ['-1'], 'blocks from 0 to 1000000, in plain digits'],
  [chain, 'PI_ROUTERS_1', ['0x12@0.8', `${address}@0`], '0x and 40 hex digits, an @ and a version, as in 0x<address>@0.8'],
  [chain, 'PI_SPOKE_POOLS_1', ['0x12'], '0x and 40 hex digits'],
  [chain, 'PI_TOKENS_1', [
    `${token}`, `${token}:USDC:`, `${token}:USDC:usd`, `${token}:USDC:USD:6`, `${token}:US DC:USD`, `${token}:US\u200bDC:USD`,
    `${token}:${'S'.repeat(33)}:USD`, `${token}:USDC:${'C'.repeat(17)}`, `${token.slice(0, -1)}:USDC:USD`,
  ], '0x and 40 hex digits, a symbol and a currency code, as in 0x<address>:USDC:USD'],
  [chain, 'PI_PRICE_FEEDS_1', [
    `${token}:CHF:USD`, `${token}:CHF:USD:78`, `${token}:CHF:USD:08`, `${token}:CHF:USD:8:1`, `${token}:USD:USD:8`,
    `${token}:chf:USD:8`, `${token}:CHFUSD:8`, '0x12:CHF:USD:8',
  ], '0x and 40 hex digits, two currency codes and 0 to 77 decimals, as in 0x<address>:CHF:USD:8'],
  [{}, 'PI_MAX_EXTRA_FEE_BPS', ['10001'], 'basis points from 0 to 10000, in plain digits'],
  [{}, 'PI_LEASE_MS', ['999'], 'milliseconds from 1000 to 600000, in plain digits'],
  [development, 'PI_SIMULATED_CHAINS', ['0', 'polygon'], 'chain ids, such as 137,10'],
  [{}, 'PI_DELIVERY_CONCURRENCY', ['0', '10001', 'many'], 'a number of notifications from 1 to 10000, in plain digits'],
  [{}, 'PI_DNS_SERVERS', [
    'dns.example', '192.0.2.256', '192.0.2', '192.0.2.1:', '192.0.2.1:0', '192.0.2.1:65536', '192.0.2.1:053',
    '[192.0.2.1]:53', '[::1', '::1]:53', 'fe80::1%eth0', '[fe80::1%eth0]:53', 'udp://192.0.2.1', '192.0.2.1;::1',
  ], 'IP addresses with or without a port, such as 192.0.2.1, 192.0.2.1:5353 or [2001:db8::1]:53'],
  [{}, 'PI_RECEIPTS', ['on'], 'one of off, chain, http'],
  [sharing, 'PI_IDENTITY_REDEEM_BY', ['copy', 'Reuse', 'reuse,import', ' reuse'], 'one of reuse, import'],
  [sharing, 'PI_IDENTITY_NAMESPACE', ['a b', 'a:b', 'ü', 'x'.repeat(33)], '1 to 32 letters, digits, dots, dashes or underscores'],
  [sharing, 'PI_IDENTITY_RATE_PERCENT', ['2', '101', '33.3', '25%'], 'a percentage from 3 to 100, in plain digits'],
  [oidc, 'PI_OIDC_NAME_CLAIM', ['e mail'], 'the name of a claim, such as email or preferred_username'],
  [{}, 'PI_LIMIT_PER_SOURCE', ['0', '1.5'], 'requests per second from 1 to 1000000, in plain digits'],
  [{}, 'PI_LIMIT_FAILED_SIGN_INS', ['-1'], 'rejections per minute from 1 to 1000000, in plain digits'],
  [{}, 'PI_ROLES', ['web', 'indexer:0'], 'some of api, console, dispatcher, poller, indexer and indexer:<chainId>'],
  [{}, 'PI_LOG_LEVEL', ['loud'], 'one of debug, info, warn, error, silent'],
  [{}, 'PI_ACTOR', [' alice', 'alice ', 'a\nb', 'a\u001b[2Jb', '\u202Eevil', 'x'.repeat(101), ' '], 'a name of 1 to 100 characters, without spaces around it'],
]
const quote = (text: string) => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

it.each(rejected.flatMap(([others, name, texts, expected]) => texts.map((text) => ({ others, name, text, expected }))))(
  '$name is not $text: the message quotes it, and says what is expected',
  ({ others, name, text, expected }) => {
    // Only numbers, days and lists are a single text with a comma or without.
    const [problem, ...more] = findProblems({ ...others, [name]: text })
    expect(problem).toMatch(new RegExp(`^${name} (\\([12] of 2\\) )?is "`))
    if (!text.includes(',')) expect(problem).toBe(`${name} is ${quote(text)}; expected ${expected}.`)
    expect(problem).toContain(`; expected ${expected}.`)
    expect(more.every((each) => each.startsWith(name))).toBe(true)
  },
)

const issuer = 'https://<host> without query, fragment or credentials (http:// only to this machine)'
const origin = 'https://<host> without path, query or credentials (http:// only to this machine)'
const node = 'http://, https://, ws:// or wss:// and a host, with # and / in a password as %23 and %2F'
const expectedKey = '32 random bytes as base64url or 64 hex digits, for example from openssl rand -hex 32'
const database = 'sqlite:<path> or postgres://<user>@<host>/<database>'
const encode = 'has a # / ? or % in its user name, password or database; encode it, such as %23 for # and %2F for /'
const badOrigins = [
  ...['pay.example', 'http://pay.example', 'ftp://pay.example', 'https://pay.example/console'],
  ...['https://pay.example/?a', 'https://pay.example/#a', 'https://user:canary@pay.example', 'javascript:alert(1)'],
]

/** Texts that may hold a secret, and the message for each, which repeats no part of the text. */
// biome-ignore format: a table
const hidden: readonly (readonly [others: Environment, name: string, texts: readonly string[], message: string])[] = [
  [{}, 'PI_MASTER_KEY', ['canary'], `is rejected: A master key is 32 random bytes as base64url (43 characters) or 64 hex digits; this one has 6 characters; expected ${expectedKey}`],
  [{}, 'PI_MASTER_KEY', ['00'.repeat(32)], `is rejected: A master key must be random; this one repeats a few bytes; expected ${expectedKey}`],
  [{}, 'PI_DATABASE_URL', ['mysql://u:canary@h/d'], `has mysql:; expected ${database}`],
  [{}, 'PI_DATABASE_URL', ['canary.db'], `has no scheme; expected ${database}`],
  [{}, 'PI_DATABASE_URL', ['postgres://'], `has postgres:; expected ${database}`],
  [{}, 'PI_DATABASE_URL', ['sqlite:'], `is "sqlite:", which names no file on a disk; expected ${database}`],
  [{}, 'PI_DATABASE_URL', ['sqlite:file:a.db'], `is "sqlite:file:a.db", which names no file on a disk; expected ${database}`],
  [{}, 'PI_DATABASE_URL', ['sqlite::a.db'], `is "sqlite::a.db", whose path begins with a colon; expected ${database}`],
  [{}, 'PI_DATABASE_URL', [
    'postgres://app:canary#1@db.example/payments', 'postgres://app:canary/1@db.example/payments',
    'postgres://app:canary?1@db.example/payments', 'postgresql://app:12#canary@db.example/payments',
    'postgres://app:12/canary@db.example/payments', 'postgres://app:12?canary@db.example/payments',
    'postgres://app:canary=/x=@db.example/payments', 'postgres://app:a@canary#1@db.example/payments',
    'postgres://app:canary%@db.example/payments', 'postgres://app#canary@db.example/payments', 'postgres://app@db.example/pay#canary',
  ], `${encode}; expected ${database}`],
  [postgres, 'PI_DATABASE_DIRECT_URL', ['sqlite:a.db'], 'has sqlite:; expected postgres://<user>@<host>/<database>'],
  [postgres, 'PI_DATABASE_READ_URL', ['postgres://app#canary@db/p'], `${encode}; expected postgres://<user>@<host>/<database>`],
  [{}, 'PI_RPC_URL_1', ['canary', 'https://user:12#canary@node.example', 'https://user:a/b@node.example', 'ftp://canary.example', 'http:'], `is not usable; expected ${node}`],
  [chain, 'PI_HEADS_URL_1', ['http://canary'], 'is not usable; expected ws:// or wss:// and a host, with # and / in a password as %23 and %2F'],
  [{}, 'PI_CHAIN_FEED_URL', ['http://canary:4222', 'canary:4222', 'nats://me:canary@nats:4222', 'nats://'], 'is not usable; expected nats://<host>:<port> or tls://<host>:<port>, without a user'],
  [{}, 'PI_PROCESSOR_SECRETS', ['canary'], 'has 6 characters; expected at least 16 characters'],
  [{ PI_RECEIPTS: 'http', PI_PROCESSOR_SECRETS: 'secret-of-16-char' }, 'PI_RECEIPTS_URL', ['canary', 'ftp://p.example', 'https://p.example/?canary', 'https://p.example/#canary'], 'is not usable; expected https:// without query or fragment (http:// only in development)'],
  [sharing, 'PI_IDENTITY_APP_TOKEN', ['canary canary', 'canaryü', ' \t'], 'holds a space or a character that no header can carry; expected printable characters without spaces'],
  [sharing, 'PI_IDENTITY_SECRET_KEY', [' \t'], 'is blank; expected any text'],
  [sharing, 'PI_IDENTITY_WEBHOOK_SECRETS', ['canary', '       x'], 'characters; expected at least 8 characters'],
  [{ ...sharing, ...development }, 'PI_IDENTITY_URL', ['canary.example', 'https://', 'ftp://provider.example', 'https://u@provider.example', 'http://provider.example'], 'is not usable; expected https:// without credentials, query or fragment (http:// to this machine in development)'],
  [{}, 'PI_CONSOLE_URL', badOrigins, `is not usable; expected ${origin}`],
  [{ PI_PORTAL: 'on' }, 'PI_PORTAL_URL', badOrigins, `is not usable; expected ${origin}`],
  [oidc, 'PI_OIDC_ISSUER', ['http://id.example', 'https://user:canary@id.example', 'https://id.example?canary', 'https://id.example?'], `is not usable; expected ${issuer}`],
  [{}, 'PI_METRICS_TOKEN', ['canary-of-fifte', 'x'.repeat(513)], 'characters; expected 16 to 512 printable characters without spaces'],
  [{}, 'PI_METRICS_TOKEN', ['canary with spaces'], 'holds a space or a character that no header can carry; expected 16 to 512 printable characters without spaces'],
]

it.each(hidden.flatMap(([others, name, texts, message]) => texts.map((text) => ({ others, name, text, message }))))(
  '$name is not $text: the message repeats no part of it',
  ({ others, name, text, message }) => {
    const [problem = '', ...more] = findProblems({ ...others, [name]: text })
    expect(problem.startsWith(`${name} `) && problem.endsWith(`${message}.`), problem).toBe(true)
    expect(more).toEqual([])
    expect(problem.toLowerCase()).not.toMatch(/canary|db\.example|node\.example/)
  },
)

// biome-ignore format: a table
it.each([
  [chain, 'PI_TOKENS_1', `${token}:DAI:USD,${address}`, [`PI_TOKENS_1 (2 of 2) is "${address}"; expected`]],
  [chain, 'PI_TOKENS_1', `${address}:A:USD,${lowercase}:B:USD`, ['PI_TOKENS_1 (2 of 2) repeats entry 1; keep one of them.']],
  [chain, 'PI_PRICE_FEEDS_1', `${token}:CHF:USD:8,${token}:CHF:USD:8`, ['PI_PRICE_FEEDS_1 (2 of 2) repeats entry 1']],
  [chain, 'PI_ROUTERS_1', `${address}@0.8,`, ['PI_ROUTERS_1 (2 of 2) is ""; expected']],
  [chain, 'PI_SPOKE_POOLS_1', `${address},0x12`, ['PI_SPOKE_POOLS_1 (2 of 2) is "0x12"; expected']],
  [{}, 'PI_RPC_URL_1', 'http://a.example,,ipc:///b', ['PI_RPC_URL_1 (2 of 3) is not usable', 'PI_RPC_URL_1 (3 of 3) is not']],
  [{}, 'PI_RPC_URL_1', 'http://a.example/k,ws://a.example,http://a.example/k', ['PI_RPC_URL_1 (3 of 3) repeats entry 1; keep']],
  [development, 'PI_SIMULATED_CHAINS', '137,137', ['PI_SIMULATED_CHAINS (2 of 2) repeats entry 1']],
  [{}, 'PI_DNS_SERVERS', '192.0.2.1,,192.0.2.2', ['PI_DNS_SERVERS (2 of 3) is ""; expected IP addresses']],
  [{}, 'PI_DNS_SERVERS', Array.from({ length: 9 }, (_, index) => `192.0.2.${index}`).join(','), ['PI_DNS_SERVERS has 9 entries; expected at most 8.']],
  [
    {},
    'PI_DELIVERY_DENY',
    '203.0.113.7/24,shop.example,',
    [
      'PI_DELIVERY_DENY (1 of 3) is "203.0.113.7/24", which has bits set beyond its prefix; expected addresses and ranges',
      'PI_DELIVERY_DENY (2 of 3) is "shop.example", which is no IP address or CIDR range; expected',
      'PI_DELIVERY_DENY (3 of 3) is "", which is no IP address or CIDR range; expected',
    ],
  ],
  [{}, 'PI_TRUSTED_PROXIES', '10.0.0.7,10.0.0.1/24', ['PI_TRUSTED_PROXIES (2 of 2) is "10.0.0.1/24", which has bits']],
  [{}, 'PI_PROCESSOR_SECRETS', 'a-long-enough-secret,', ['PI_PROCESSOR_SECRETS (2 of 2) has 0 characters; expected']],
  [sharing, 'PI_IDENTITY_WEBHOOK_SECRETS', 'long-enough,short-7', ['PI_IDENTITY_WEBHOOK_SECRETS (2 of 2) has 7 char']],
  [{}, 'PI_ROLES', 'api,api', ['PI_ROLES (2 of 2) repeats entry 1']],
  [{}, 'PI_ROLES', 'api,', ['PI_ROLES (2 of 2) is ""; expected some of api']],
  [{}, 'PI_ACTOR', 'x'.repeat(65_537), ['PI_ACTOR has 65537 characters; 65536 at most.']],
])('a problem of the list %j, %s=%s names its position', (others, name, text, expected) => {
  const problems = expected.map((each) => expect.stringContaining(each))
  expect(findProblems({ ...(others as Environment), [name]: text })).toEqual(problems)
})
