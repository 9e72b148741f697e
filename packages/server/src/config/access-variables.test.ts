import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { describeConfig } from './describe-config.js'
import { readConfig } from './read-config.js'

const minimal = { PI_MASTER_KEY: randomBytes(32).toString('hex') }

const problemsOf = (env: Record<string, string>) => problemsIn(() => readConfig({ ...minimal, ...env }))

describe('access and rate limits', () => {
  it.each([
    [{}, { listen: null, metricsToken: null }, ['off', 'off']],
    [
      { PI_ADMIN_PORT: '9464' },
      { listen: { host: '127.0.0.1', port: 9464 }, metricsToken: null },
      ['127.0.0.1:9464', 'on the admin port'],
    ],
    [
      { PI_METRICS_TOKEN: 'a-token-of-the-metrics' },
      { listen: null, metricsToken: 'a-token-of-the-metrics' },
      ['off', 'on the port of the API with a token'],
    ],
  ])('%j serves operators in no other way than %j, in production and development alike', (env, admin, shown) => {
    for (const PI_ENV of ['production', 'development']) {
      const config = readConfig({ ...minimal, PI_ENV, ...env })
      const described = describeConfig(config)
      expect([config.admin, [described.admin, described.metrics]]).toEqual([admin, shown])
    }
  })

  it('offer streams of deliveries only when they are on', () => {
    const stream = (env: Record<string, string>) => readConfig({ ...minimal, ...env }).deliveryStream
    expect([stream({}), stream({ PI_ENV: 'development' }), stream({ PI_LISTEN: 'off' })]).toEqual([false, false, false])
    expect(stream({ PI_LISTEN: 'on' })).toBe(true)
  })

  it('simulate chains in development alone, when they are named, and none that has a node', () => {
    const chains = (env: Record<string, string>) => readConfig({ ...minimal, ...env }).simulatedChains
    const development = { PI_ENV: 'development' }
    expect([chains({}), chains(development)]).toEqual([[], []])
    expect(chains({ ...development, PI_SIMULATED_CHAINS: '137, 10' })).toEqual([137, 10])
    expect(problemsOf({ PI_SIMULATED_CHAINS: '137' })).toEqual([expect.stringContaining('PI_ENV=development')])
    for (const value of ['0', '137,137', 'polygon', '1,'])
      expect(problemsOf({ ...development, PI_SIMULATED_CHAINS: value })).toEqual([
        expect.stringContaining('different chain ids'),
      ])
    const node = { PI_RPC_URL_137: 'http://127.0.0.1:8545' }
    expect(problemsOf({ ...development, ...node, PI_SIMULATED_CHAINS: '10,137' })).toEqual([
      expect.stringContaining('PI_RPC_URL_137'),
    ])
  })

  it('serve the reference in development unless it is off, and in production only when it is on', () => {
    const reference = (env: Record<string, string>) => readConfig({ ...minimal, ...env }).reference
    expect(reference({ PI_ENV: 'development' })).toBe(true)
    expect(reference({ PI_ENV: 'development', PI_REFERENCE: 'off' })).toBe(false)
    expect(reference({ PI_REFERENCE: 'on' })).toBe(true)
  })

  it('are read from every variable', () => {
    const config = readConfig({
      ...minimal,
      PI_ADMIN_HOST: '10.0.0.1',
      PI_ADMIN_PORT: '0',
      PI_METRICS_TOKEN: 'a-token-of-the-metrics',
      PI_REFERENCE: 'off',
      PI_LIMIT_PER_SOURCE: '100',
      PI_LIMIT_PER_CALLER: '200',
      PI_LIMIT_FAILED_SIGN_INS: '10',
      PI_LIMIT_CONNECTIONS: '50',
      PI_TRUSTED_PROXIES: '10.0.0.7, 192.168.0.0/16,2001:db8::/32',
    })
    expect(config).toMatchObject({
      admin: { listen: { host: '10.0.0.1', port: 0 }, metricsToken: 'a-token-of-the-metrics' },
      reference: false,
      limits: {
        requestsPerSource: 100,
        requestsPerCaller: 200,
        failedSignInsPerSource: 10,
        connectionsPerSource: 50,
        trustedProxies: ['10.0.0.7', '192.168.0.0/16', '2001:db8::/32'],
      },
    })
  })

  it.each([
    [{ PI_ADMIN_PORT: '65536' }, 'PI_ADMIN_PORT is "65536"; expected a port from 0 to 65535'],
    [{ PI_ADMIN_PORT: '4747' }, 'PI_ADMIN_PORT is 4747, where the API listens; choose another port.'],
    [{ PI_ADMIN_PORT: '1', PI_ADMIN_HOST: 'http://x' }, 'PI_ADMIN_HOST is "http://x"; expected an address'],
    [{ PI_ADMIN_HOST: '10.0.0.1' }, 'PI_ADMIN_HOST is set; it is only used with PI_ADMIN_PORT.'],
    [{ PI_METRICS_TOKEN: 'fifteen-letters' }, 'PI_METRICS_TOKEN has 15 characters; expected at least 16.'],
    [{ PI_METRICS_TOKEN: 'a token with spaces' }, 'PI_METRICS_TOKEN holds a space or a character'],
    [{ PI_REFERENCE: 'yes' }, 'PI_REFERENCE is "yes"; expected one of on, off.'],
    [{ PI_LIMIT_PER_SOURCE: '0' }, 'PI_LIMIT_PER_SOURCE is "0"; expected requests per second from 1 to 1000000'],
    [{ PI_LIMIT_PER_CALLER: '1.5' }, 'PI_LIMIT_PER_CALLER is "1.5"; expected requests per second from 1'],
    [{ PI_LIMIT_FAILED_SIGN_INS: '-1' }, 'PI_LIMIT_FAILED_SIGN_INS is "-1"; expected refusals per minute from 1'],
    [{ PI_LIMIT_CONNECTIONS: 'many' }, 'PI_LIMIT_CONNECTIONS is "many"; expected a number of connections from 1'],
    [
      { PI_TRUSTED_PROXIES: '10.0.0.7,10.0.0.1/24' },
      'PI_TRUSTED_PROXIES has "10.0.0.1/24", which has bits set beyond its prefix; expected addresses and ranges',
    ],
  ])('%j is a problem that names its variable', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(problem)])
  })
})
