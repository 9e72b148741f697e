import { randomBytes } from 'node:crypto'
import { dispatcherDefaults } from '@payment-integration/core'
import { describe, expect, it } from 'vitest'
import { problemsIn } from '../../test/support/config-problems.js'
import { describeConfig } from './describe-config.js'
import { readConfig } from './read-config.js'

const PI_MASTER_KEY = randomBytes(32).toString('hex')
const read = (env: Record<string, string>) => readConfig({ PI_MASTER_KEY, ...env })

const problemsOf = (env: Record<string, string>) => problemsIn(() => read(env))

describe('POSTs in flight', () => {
  it.each([
    [{}, { concurrency: dispatcherDefaults.concurrency, perEndpoint: dispatcherDefaults.perEndpoint }],
    [{ PI_DELIVERY_CONCURRENCY: '64' }, { concurrency: 64, perEndpoint: 16 }],
    [{ PI_DELIVERY_CONCURRENCY: '1' }, { concurrency: 1, perEndpoint: 1 }],
    [{ PI_DELIVERY_CONCURRENCY: '10000' }, { concurrency: 10_000, perEndpoint: dispatcherDefaults.perEndpoint }],
    [{ PI_DELIVERY_PER_ENDPOINT: '5' }, { concurrency: dispatcherDefaults.concurrency, perEndpoint: 5 }],
    [
      { PI_DELIVERY_CONCURRENCY: '7', PI_DELIVERY_PER_ENDPOINT: '7' },
      { concurrency: 7, perEndpoint: 7 },
    ],
  ])('%j is %j: one endpoint has a quarter at most, unless it is said', (env, expected) => {
    expect(read(env).delivery).toMatchObject(expected)
  })

  it.each(['0', '10001', '-1', '1.5', '1e3', ' 8', 'many'])('%j is rejected, with the expected range', (value) => {
    for (const variable of ['PI_DELIVERY_CONCURRENCY', 'PI_DELIVERY_PER_ENDPOINT'])
      expect(problemsOf({ [variable]: value })).toEqual([
        `${variable} is ${JSON.stringify(value)}; expected a number of posts from 1 to 10000, in plain digits.`,
      ])
  })

  it('for one endpoint must not exceed those for all', () => {
    expect(problemsOf({ PI_DELIVERY_CONCURRENCY: '8', PI_DELIVERY_PER_ENDPOINT: '9' })).toEqual([
      'PI_DELIVERY_PER_ENDPOINT is 9, above the 8 posts of PI_DELIVERY_CONCURRENCY; lower one or raise the other.',
    ])
  })
})

describe('name servers', () => {
  it.each([
    ['', []],
    ['192.0.2.1', ['192.0.2.1:53']],
    ['192.0.2.1:5353, 127.0.0.1', ['192.0.2.1:5353', '127.0.0.1:53']],
    ['2001:db8::1', ['[2001:db8::1]:53']],
    ['[2001:db8::1],[::1]:65535', ['[2001:db8::1]:53', '[::1]:65535']],
  ])('%j are %j', (value, expected) => {
    expect(read({ PI_DNS_SERVERS: value }).delivery.dnsServers).toEqual(expected)
  })

  it.each([
    ...['dns.example', '192.0.2.256', '192.0.2', '192.0.2.1:', '192.0.2.1:0', '192.0.2.1:65536', '192.0.2.1:053'],
    ...['[192.0.2.1]:53', '[::1', '::1]:53', 'fe80::1%eth0', '[fe80::1%eth0]:53', 'udp://192.0.2.1', '192.0.2.1;::1'],
  ])('%j is refused by name', (value) => {
    const [problem, ...others] = problemsOf({ PI_DNS_SERVERS: value })
    expect(problem).toMatch(/^PI_DNS_SERVERS has ".+"; expected IP addresses with or without a port, such as /)
    expect(problem).toContain(JSON.stringify(value))
    expect(others).toEqual([])
  })

  it('are at most eight, and none of them is empty', () => {
    const nine = Array.from({ length: 9 }, (_, index) => `192.0.2.${index}`).join(',')
    expect(problemsOf({ PI_DNS_SERVERS: nine })).toEqual(['PI_DNS_SERVERS names 9 servers; expected at most 8.'])
    expect(problemsOf({ PI_DNS_SERVERS: '192.0.2.1,,192.0.2.2' })).toHaveLength(1)
  })
})

describe('the actor', () => {
  it.each(['alice', 'Alice of Operations', 'ci:deploy/17', 'Łukasz', 'x'.repeat(100), 'x'])('may be %j', (actor) => {
    expect(read({ PI_ACTOR: actor }).actor).toBe(actor)
  })

  it.each([' alice', 'alice ', 'a\nb', 'a\u001b[2Jb', '\u202Eevil', 'x'.repeat(101), ' '])('is not %j', (actor) => {
    expect(problemsOf({ PI_ACTOR: actor })).toEqual([
      expect.stringMatching(/^PI_ACTOR is ".*"; expected a name of 1 to 100 characters, without spaces around it[.]$/),
    ])
  })

  it('is unset without the variable', () => {
    expect(read({}).actor).toBeNull()
  })
})

it('describeConfig shows how deliveries are sent', () => {
  const shown = (env: Record<string, string>) => describeConfig(read(env)).delivery
  expect(shown({ PI_DELIVERY_CONCURRENCY: '8' })).toEqual({
    concurrency: 8,
    perEndpoint: 2,
    denied: [],
    dnsServers: 'system',
  })
  expect(shown({ PI_DELIVERY_DENY: '203.0.113.0/24' })).toMatchObject({ denied: ['203.0.113.0/24'] })
  expect(shown({ PI_DNS_SERVERS: '192.0.2.1' })).toMatchObject({ dnsServers: ['192.0.2.1:53'] })
})

describe('PI_DELIVERY_DENY', () => {
  it('is a list of addresses and ranges', () => {
    expect(read({}).delivery.denied).toEqual([])
    expect(read({ PI_DELIVERY_DENY: '203.0.113.7, 2001:db8::/32' }).delivery.denied).toEqual([
      '203.0.113.7',
      '2001:db8::/32',
    ])
  })

  it('names the problem of each range', () => {
    expect(problemsOf({ PI_DELIVERY_DENY: '203.0.113.7/24,shop.example,' })).toEqual([
      expect.stringMatching(/^PI_DELIVERY_DENY has "203.0.113.7\/24", which has bits set beyond its prefix; expected /),
      expect.stringMatching(/^PI_DELIVERY_DENY has "shop.example", which is no IP address or CIDR range; expected /),
      expect.stringMatching(/^PI_DELIVERY_DENY has "", which is no IP address or CIDR range; expected /),
    ])
  })
})
