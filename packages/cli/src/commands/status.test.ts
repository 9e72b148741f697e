import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { fillDeliveries } from '../../test/fill-deliveries.js'
import { operatedDeliveries, rejected, shop } from '../../test/operated-deliveries.js'
import { listenLocally, serveHttp } from '../../test/serve-http.js'
import { getEvents, testIo } from '../../test/test-io.js'
import { runCli } from '../run-cli.js'
import {
  findServerUrl,
  notificationsText,
  oldSnapshotText,
  parseServerUrl,
  processesText,
  proofsText,
} from './status.js'

const node = {
  ...{ name: 'a.example #1', score: 0.98, inUse: true, head: 1_200, latencyMs: 14.4, maxRange: 2_000, lastError: null },
  ...{ failures: 2, contradictions: 0, failedProofs: 1, calls: 3_000, receivedBytes: 4_096_000, blocks: 1_200 },
}
const chain = {
  ...{ chainId: 137, leading: true, head: 1_200, headAt: 1_767_323_093_000, indexed: 1_198, lag: 2, proof: 'root' },
  ...{ reorgs: 3, nodes: [node], error: null, lastError: null },
}
const healthy = { status: 'ok', database: 'ok', chains: [chain] }

/** A server that answers every request with one body. */
async function answering(body: unknown, status = 200) {
  const requests: string[] = []
  const url = await serveHttp((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.writeHead(status, { location: '/elsewhere' }).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return { url, requests }
}

const status = (url: string, ...args: string[]) => statusIn({}, url, ...args)
async function statusIn(env: Record<string, string>, url: string, ...args: string[]) {
  const io = testIo({ env, now: () => 1_767_323_105_000 })
  const exitCode = await runCli(['status', '--url', url, ...args], io)
  return { exitCode, lines: io.lines, errors: io.errors }
}

describe('status', () => {
  it('marks a chain whose newest block is five minutes old', async () => {
    const heads = [chain, { ...chain, chainId: 10, headAt: chain.headAt - 288_000 }]
    const { url } = await answering({ ...healthy, chains: heads })
    const { lines } = await status(url)
    const old = lines.filter((line) => line.includes('old head'))
    expect(old).toEqual(['  old head: the newest block is 5 min old; are the nodes in sync?'])
  })

  it('prints tables of chains and nodes, and exits with 0 when all is well', async () => {
    const { url, requests } = await answering(healthy)
    const { exitCode, lines } = await status(`${url}/below/`)
    expect(lines).toEqual([
      `ok: ${url}/below, database ok`,
      '',
      'chain   head  age   indexed  lag  proof  reorgs  role',
      '  137  1,200  12 s    1,198    2  root        3  leads',
      '',
      'Chain 137',
      '  node          score  used   head  ms  failures  contradictions  failed proofs  blocks per request',
      '  a.example #1   0.98  yes   1,200  14         2               0              1               2,000',
      '  node          calls      bytes  blocks  calls per block  bytes per block  cost',
      '  a.example #1  3,000  4,096,000   1,200             2.50            3,413     -',
    ])
    expect(exitCode).toBe(0)
    expect(requests).toEqual(['GET /below/health'])
  })

  it('prints what the calls to each node cost at the price of its chain, and no rate before the first block', async () => {
    const idle = { ...node, name: 'b.example #2', calls: 7, receivedBytes: 0, blocks: 0 }
    const { url } = await answering({ ...healthy, chains: [{ ...chain, nodes: [node, idle] }] })
    const { lines } = await statusIn({ PI_RPC_PRICE_137: '1.5', PI_RPC_PRICE_1: '9' }, url)
    expect(lines.slice(-3)).toEqual([
      '  node          calls      bytes  blocks  calls per block  bytes per block    cost',
      '  a.example #1  3,000  4,096,000   1,200             2.50            3,413  0.0045',
      '  b.example #2      7          0       0                -                -  0.0000',
    ])
  })

  it('prints each error on one line without control characters, and exits with 1', async () => {
    const lastError = { message: 'node is away', at: 1_767_323_045_000 }
    const nodes = [{ ...node, lastError: 'cut\nanswer' }]
    const failing = { ...chain, error: 'node is\u001b[2J away', lastError, nodes }
    const { url } = await answering({ ...healthy, status: 'degraded', chains: [failing] })
    const { exitCode, lines } = await status(url)
    expect(lines[0]).toBe(`degraded: ${url}, database ok`)
    expect(lines.slice(-3)).toEqual([
      '  error: node is [2J away',
      '  last error, 60 s ago: node is away',
      '  a.example #1: cut answer',
    ])
    expect(exitCode).toBe(1)
  })

  it('prints the report of a server that is down, and exits with 1', async () => {
    const { url } = await answering({ status: 'down', database: 'unavailable', chains: [] }, 503)
    const { exitCode, lines } = await status(url)
    expect(lines).toEqual([`down: ${url}, database unavailable`, 'The server follows no chain.'])
    expect(exitCode).toBe(1)
  })

  it('prints the report as one JSON object', async () => {
    const { url } = await answering(healthy)
    const { lines } = await status(url, '--json')
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ event: 'status', url, ...healthy }])
  })

  it('prints the report of an older server, which has no time of a head, as it is', async () => {
    const { headAt: _, ...older } = chain
    const report = { ...healthy, chains: [older] }
    const { url } = await answering(report)
    expect((await status(url)).lines[3]).toBe('  137  1,200    -    1,198    2  root        3  leads')
    const { lines } = await status(url, '--json')
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ event: 'status', url, ...report }])
  })

  it.each([
    ['another body', { hello: 'world' }, 200],
    ['a health report of another version', { ...healthy, chains: [{ chainId: 1, head: 1, indexed: 1 }] }, 200],
    ['not JSON', '<html>', 502],
    ['nested over 32 levels', `{"a":${'['.repeat(32)}${']'.repeat(32)},${JSON.stringify(healthy).slice(1)}`, 200],
    ['too large', `${JSON.stringify(healthy)}${' '.repeat(1_100_000)}`, 200],
  ])('rejects an answer that is %s', async (_, body, code) => {
    const { url } = await answering(body, code)
    const { exitCode, lines, errors } = await status(url)
    const sentence = 'is not a payment integration server of this version; pass another URL with --url.'
    expect({ exitCode, lines, errors }).toEqual({
      exitCode: 1,
      lines: [],
      errors: [`The server at ${url} ${sentence}`],
    })
  })

  it('follows no redirect, and reports that no server answers', async () => {
    const { url, requests } = await answering('', 302)
    const { exitCode, errors } = await status(url)
    expect(errors).toEqual([`No server answers at ${url}; is it running? Pass another URL with --url.`])
    expect([exitCode, requests]).toEqual([1, ['GET /health']])
  })

  it('reports an interrupt during the request as one', async () => {
    const io = testIo()
    const url = await serveHttp(() => io.interrupt())
    expect(await runCli(['status', '--url', url], io)).toBe(1)
    expect(io.errors).toEqual(['The status was not read: the command was interrupted.'])
  })
})

describe('processes', () => {
  const process = { id: 'a', pid: 7, release: '0.2.0', startedAt: 1_767_323_045_000, silentMs: null, leases: [] }

  it('are a table with their releases, roles and leases', () => {
    const processes = [
      { ...process, host: 'pod-1', roles: ['api', 'poller'], release: '0.1.0' },
      { ...process, host: 'pod-2', roles: ['indexer:137'], leases: ['indexer:137'] },
      { ...process, host: 'pod\u001b-3', roles: ['dispatcher'], silentMs: 90_000 },
    ]
    expect(processesText({ processes }, 1_767_323_105_000)).toEqual([
      '',
      'Processes',
      '  process   release  roles        state             leases',
      '  pod-1 7     0.1.0  api poller   runs for 60 s     -',
      '  pod-2 7     0.2.0  indexer:137  runs for 60 s     indexer:137',
      '  pod -3 7    0.2.0  dispatcher   silent for 2 min  -',
    ])
    expect(processesText({ processes: [] }, 0)).toEqual(['', 'No process runs on this database.'])
  })

  it("are listed although no server answers at the URL, for which the system's error code is reported", async () => {
    const { env } = await operatedDeliveries()
    const io = testIo({ env })
    const server = createServer()
    const url = await listenLocally(server)
    await once(server.close(), 'close')
    expect(await runCli(['status', '--url', url, '--json'], io)).toBe(1)
    expect(getEvents(io)[0]).toEqual({ event: 'processes', processes: [] })
    expect(io.errors.join()).toContain(`No server answers at ${url} (ECONNREFUSED); is it running?`)
  })
})

it('proven ranges are a table', () => {
  const ranges = [
    { from: 900, to: 1_200, proof: 'root', node: 'a.example #1' },
    { from: 0, to: 899, proof: 'bloom', node: 'b.example #2' },
  ] as const
  expect(proofsText({ chainId: 1, ranges })).toEqual([
    '',
    'Chain 1: how its blocks were proven, newest first',
    '  from     to  proof  node',
    '   900  1,200  root   a.example #1',
    '     0    899  bloom  b.example #2',
  ])
  expect(proofsText({ chainId: 1, ranges: [] })).toEqual(['', 'Chain 1: no block is stored.'])
})

describe('notifications, with a configured database', () => {
  it.each([
    [0, 'Notifications: no blocked endpoint.'],
    [1, 'Notifications: 1 blocked endpoint; see deliveries endpoints.'],
    [1_200, 'Notifications: 1,200 blocked endpoints; see deliveries endpoints.'],
  ])('with %s blocked endpoints are %j', (failing, line) => {
    expect(notificationsText({ failing })).toEqual(['', line])
  })

  it.each(['PI_DATABASE_URL', 'PI_DATABASE_URL_FILE'])('are read when %s is set', async (name) => {
    const { url } = await answering({ ...healthy, chains: [] })
    const io = testIo({ env: { [name]: '/no/such/file' } })
    expect(await runCli(['status', '--url', url], io)).toBe(1)
    expect(io.errors.join('\n')).toContain(name)
  })

  it('are counted', async () => {
    const { url } = await answering({ ...healthy, chains: [] })
    const { env } = await operatedDeliveries()
    const failing = async (...args: string[]) => {
      const io = testIo({ env })
      expect(await runCli(['status', '--url', url, ...args], io)).toBe(0)
      return io
    }
    expect((await failing()).lines.at(-1)).toBe('Notifications: no blocked endpoint.')
    await fillDeliveries(env, { integrationAddress: shop, payments: 6, ...rejected, blockMs: 60_000 })
    expect(getEvents(await failing('--json')).at(-1)).toEqual({ event: 'notifications', failing: 1 })
  })
})

it.each([
  [{ holder: 'session', databaseUser: 'ada', application: 'charts' }, 'session charts of database user ada'],
  [{ holder: 'session', databaseUser: 'ada', application: '' }, 'session without a name of database user ada'],
  [{ holder: 'replication slot', databaseUser: null, application: 'standby_2' }, 'replication slot standby_2'],
] as const)('an old database snapshot of %j is named with its age', (snapshot, named) => {
  expect(oldSnapshotText({ ...snapshot, ageMs: 600_000 })).toEqual([
    '',
    `Warning: a database snapshot has been open for 10 min and slows deliveries: ${named}.`,
    'See docs/runbooks/old-database-snapshot.md.',
  ])
})

describe('parseServerUrl', () => {
  it.each([
    ['http://127.0.0.1:4747', 'http://127.0.0.1:4747'],
    ['https://shop.example/payments//', 'https://shop.example/payments'],
    ['HTTP://[::1]:80/', 'http://[::1]'],
  ])('reads %s', (text, url) => expect(parseServerUrl(text)).toBe(url))

  it.each([
    ...['', 'shop.example', 'ftp://x', 'ws://x', 'http://', 'http://x/?a', 'http://x/#a'],
    ...['http://u:CANARY@x', 'http://CANARY@x'],
  ])('rejects %j without printing it', (text) => {
    expect(() => parseServerUrl(text)).toThrow(/^Expected http/)
  })
})

describe('findServerUrl', () => {
  it.each([
    [{}, 'http://127.0.0.1:4747'],
    [{ PI_PORT: '80', PI_HOST: 'shop.local' }, 'http://shop.local:80'],
    [{ PI_HOST: '0.0.0.0' }, 'http://127.0.0.1:4747'],
    [{ PI_HOST: '::', PI_PORT: '1' }, 'http://[::1]:1'],
    [{ PI_HOST: '' }, 'http://127.0.0.1:4747'],
  ])('with %j is %s', (env, url) => expect(findServerUrl(env)).toBe(url))

  it.each([{ PI_PORT: '0' }, { PI_PORT: 'x' }, { PI_HOST: 'a b' }])(
    'rejects %j, which does not determine the URL',
    (env) => expect(() => findServerUrl(env)).toThrow(expect.objectContaining({ code: 'ERR_USAGE' })),
  )
})
