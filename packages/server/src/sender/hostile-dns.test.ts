import dns, { type Answer } from 'dns-packet'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Canary, startCanary, watchDialling } from '../../test/support/hostile-canary.js'
import type { Answers, DnsServer, Query } from '../../test/support/hostile-dns.js'
import { always, rcode, records, startDns } from '../../test/support/hostile-dns.js'
import { eventually } from '../../test/support/tcp-server.js'
import { type ClosableSender, createUndiciSender, type UndiciSenderOptions } from './undici-sender.js'

/** Public by the rule, but in an unassigned part of IPv6: it reaches no machine, and its dialling is cut short. */
const unrouted = '3000::1'
const publicIPv4 = '93.184.216.34'

let canary: Canary
let before = 0
const watch = watchDialling()
beforeAll(async () => {
  canary = await startCanary()
})
beforeEach(() => {
  before = canary.connections()
  watch.dialled.length = 0
})
afterAll(async () => {
  watch.stop()
  await canary.stop()
})

async function resolver(answers: Answers): Promise<DnsServer> {
  const server = await startDns(answers)
  onTestFinished(server.stop)
  return server
}
function sender({ servers }: DnsServer, options: UndiciSenderOptions = {}): ClosableSender {
  const { ca, httpsPort, httpPort } = canary
  const made = createUndiciSender({ servers, ca, ports: [httpsPort, httpPort], connectTimeoutMs: 600_000, ...options })
  onTestFinished(() => made.close())
  return made
}
const dev = { allowLoopbackHttp: true }
const url = (name = 'shop', port = canary.httpsPort) => `https://${name}.hook.example:${port}/${name}`
const post = (to: string, timeoutMs = 600_000) => ({ url: to, headers: {}, body: Buffer.from('{}'), timeoutMs })
const cname = (name: string, data: string): Answer => ({ name, type: 'CNAME', data, ttl: 0 })

it('the canary receives the notification when development allows this machine: only the rule protects it', async () => {
  const one = sender(await resolver(always('127.0.0.1')), dev)
  expect(await one.post(post(url()))).toMatchObject({ kind: 'answer', status: 200, excerpt: 'canary' })
  expect(await one.post(post(`http://localhost:${canary.httpPort}/`))).toMatchObject({ status: 200 })
  expect(canary.connections()).toBe(before + 2)
  expect(watch.dialled).toHaveLength(2)
})

describe('a name that resolves to a denied address', () => {
  const many = Array.from({ length: 500 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
  it.each<[string, readonly string[]]>([
    ['IPv6 loopback', ['::1']],
    ['a private A and its NAT64 AAAA', ['10.0.0.1', '64:ff9b::a00:1']],
    ['500 private addresses', many],
  ])('%s is rejected: the canary counts nothing, and nothing was dialled', async (_, addresses) => {
    // An answer larger than a datagram goes over TCP.
    const server = await resolver((query) =>
      addresses.length > 20 && query.transport === 'udp'
        ? { flags: dns.TRUNCATED_RESPONSE, answers: [] }
        : { answers: records(query, addresses) },
    )
    for (const port of [canary.httpsPort, canary.httpPort])
      expect(await sender(server).post(post(url('shop', port)))).toMatchObject({ reason: 'rejected_address' })
    expect([canary.connections(), watch.dialled]).toEqual([before, []])
  })

  it.each<[string, Answers]>([
    ['a CNAME', aliases(1, ['10.0.0.1'])],
    ['a chain of eight CNAMEs', aliases(8, ['127.0.0.1', '::1'])],
    ['a record of another name', (query) => ({ answers: records({ ...query, name: 'other.example' }, ['127.0.0.1']) })],
    ['the additional section beside a private answer', both('127.0.0.1', publicIPv4)],
  ])('through %s is rejected', async (_, answers) => {
    expect(await sender(await resolver(answers)).post(post(url()))).toMatchObject({ reason: 'rejected_address' })
    expect([canary.connections(), watch.dialled]).toEqual([before, []])
  })
})

describe('a denied address among allowed ones', () => {
  const nat64 = '64:ff9b::5db8:d822'
  it.each<[string, readonly string[], readonly string[]]>([
    ['an A of loopback', ['127.0.0.1', unrouted], [unrouted]],
    ['a private AAAA after a public one', [unrouted, 'fd00::1'], [unrouted]],
    ['NAT64 of loopback beside NAT64 of a public address', ['64:ff9b::7f00:1', nat64], [nat64]],
    ['four private AAAA before a public one', ['fd00::1', 'fd00::2', 'fd00::3', 'fd00::4', unrouted], [unrouted]],
  ])('is left out: %s', async (_, addresses, dialled) => {
    const server = await resolver((query) => ({ answers: records(query, addresses) }))
    expect(await sender(server).post(post(url()))).toMatchObject({ kind: 'failure', reason: 'connection' })
    expect(watch.dialled).toEqual(dialled)
    expect(canary.connections()).toBe(before)
  })

  it('does not keep a notification from the allowed one', async () => {
    const server = await resolver((query) => ({ answers: records(query, ['10.0.0.1', '127.0.0.1', 'fd00::1']) }))
    expect(await sender(server, dev).post(post(url()))).toMatchObject({ kind: 'answer', status: 200 })
    expect(watch.dialled).toEqual(['127.0.0.1'])
  })

  it('is also the NAT64 of an IPv4 that the operator denied', async () => {
    const server = await resolver((query) => ({ answers: records(query, [publicIPv4, nat64, unrouted]) }))
    const denied = { denied: [`${publicIPv4}/32`] }
    expect(await sender(server, denied).post(post(url()))).toMatchObject({ kind: 'failure' })
    expect(watch.dialled).toEqual([unrouted])
  })
})

/** So many CNAMEs, each of the one before, and the addresses of the last. */
function aliases(count: number, addresses: readonly string[]): Answers {
  return (query) => {
    const names = [query.name, ...Array.from({ length: count }, (_, n) => `c${n}.example`)]
    const chain = names.slice(1).map((name, n) => cname(names[n] ?? '', name))
    return { answers: [...chain, ...records({ ...query, name: names[count] ?? '' }, addresses)] }
  }
}

/** One address as the answer, the other as an additional record. */
function both(answer: string, additional: string): Answers {
  return (query) => ({ answers: records(query, [answer]), additionals: records(query, [additional]) })
}

describe('a name that changes its answer', () => {
  const flips = (...lists: readonly string[][]): Answers => {
    return (query) => ({ answers: records(query, lists[Math.min(query.before, lists.length - 1)] ?? []) })
  }

  it('between the check and the connection is dialled at the checked address, and queried once', async () => {
    const server = await resolver(flips([unrouted], ['127.0.0.1', '::1']))
    expect(await sender(server).post(post(url()))).toMatchObject({ kind: 'failure' })
    expect(server.queries.map(({ type }) => type).sort()).toEqual(['A', 'AAAA'])
    expect(watch.dialled).toEqual([unrouted])
    expect(canary.connections()).toBe(before)
  })

  it('between two sends over new connections is rejected from then on', async () => {
    const server = await resolver(flips(['127.0.0.1'], ['10.0.0.1'], ['192.168.1.1']))
    // A separate sender for each has no connection to reuse.
    for (const expected of [{ status: 200 }, { reason: 'rejected_address' }, { reason: 'rejected_address' }])
      expect(await sender(server, dev).post(post(url()))).toMatchObject(expected)
    expect(watch.dialled).toEqual(['127.0.0.1'])
    expect(server.queries).toHaveLength(6)
  })

  it('during a kept-alive connection stays at the address that was checked when it was opened', async () => {
    const server = await resolver(flips(['127.0.0.1'], ['10.0.0.1']))
    const one = sender(server, { ...dev, connectionsPerOrigin: 1 })
    for (let n = 0; n < 3; n++) expect(await one.post(post(url()))).toMatchObject({ status: 200 })
    expect(server.queries).toHaveLength(2)
  })
})

describe('a DNS server that', () => {
  const loop: Answers = ({ name }) => ({ answers: [cname(name, 'b.example'), cname('b.example', name)] })
  const half = (query: Query) =>
    dns.encode({ type: 'response', id: query.id, questions: [{ name: query.name, type: query.type as 'A' }] })
  it.each<[string, Answers, string | RegExp]>([
    ['says the name does not exist', () => ({ flags: rcode.noSuchName }), 'connection'],
    ['says the name has no address', () => ({ answers: [] }), 'connection'],
    ['answers CNAMEs in a circle', loop, 'connection'],
    ['answers the other family', (query) => ({ answers: otherFamily(query) }), 'connection'],
    ['never answers', () => null, 'timeout'],
    ['answers under another id', (query) => ({ id: query.id ^ 1, answers: records(query, ['127.0.0.1']) }), 'timeout'],
    [
      'answers another question',
      (query) => ({
        questions: [{ name: 'other.example', type: query.type as 'A' }],
        answers: records({ ...query, name: 'other.example' }, ['127.0.0.1']),
      }),
      'timeout',
    ],
    ['answers noise', () => Buffer.from('not a DNS answer'), /timeout|connection/],
    [
      'announces records that are not there',
      (query) => {
        const bytes = half(query)
        bytes.writeUInt16BE(500, 6)
        return bytes
      },
      /timeout|connection/,
    ],
    [
      'answers too much for a datagram and then nothing',
      ({ transport }) => (transport === 'udp' ? { flags: dns.TRUNCATED_RESPONSE } : null),
      'timeout',
    ],
  ])('%s makes a failure within the budget, and nothing is dialled', async (_, answers, reason) => {
    const server = await resolver(answers)
    const result = await sender(server, dev).post(post(url(), reason === 'connection' ? 600_000 : 700))
    expect(result).toMatchObject({ kind: 'failure', reason: expect.stringMatching(reason) })
    await eventually(() => server.queries.length > 0)
    expect(watch.dialled).toEqual([])
  })

  it('answers after the budget changes nothing: its address is not dialled', async () => {
    const late: (() => void)[] = []
    const server = await resolver(async (query) => {
      await new Promise<void>((resolve) => late.push(resolve))
      return { answers: records(query, ['127.0.0.1']) }
    })
    const one = sender(server, { ...dev, connectTimeoutMs: 1_000 })
    expect(await one.post(post(url(), 100))).toMatchObject({ kind: 'failure', reason: 'timeout' })
    await one.close()
    for (const answer of late) answer()
    const other = sender(await resolver(always('127.0.0.1')), dev)
    expect(await other.post(post(url()))).toMatchObject({ status: 200 })
    expect(watch.dialled).toEqual(['127.0.0.1'])
  })

  it('answers too much for a datagram is queried over TCP', async () => {
    const server = await resolver((query) =>
      query.transport === 'udp' ? { flags: dns.TRUNCATED_RESPONSE } : { answers: records(query, ['127.0.0.1']) },
    )
    expect(await sender(server, dev).post(post(url()))).toMatchObject({ status: 200 })
    expect(server.queries.some(({ transport }) => transport === 'tcp')).toBe(true)
  })
})

/** Records of the other family. */
function otherFamily(query: Query): Answer[] {
  return records({ ...query, type: query.type === 'A' ? 'AAAA' : 'A' }, ['127.0.0.1', '::1'])
}

it('the names below localhost are this machine in development, without a query', async () => {
  const server = await resolver(always('10.0.0.1'))
  const one = sender(server, dev)
  for (const name of ['localhost', 'LOCALHOST', 'shop.localhost'])
    expect(await one.post(post(`http://${name}:${canary.httpPort}/`)), name).toMatchObject({ status: 200 })
  expect(server.queries).toEqual([])
})

it.each([['not an address'], ['127.0.0.1:99999x'], ['dns.example:53']])('a DNS server %j is a TypeError', (server) => {
  expect(() => createUndiciSender({ servers: [server] })).toThrow(TypeError)
})
