/** Measures the read and legacy APIs on a million payments, beside a request that reads nothing. @module */
import { Client } from 'undici'
import { createServiceOn, type Engine, masterKey } from '../databases.js'
import { chainAt, type FillOptions, hotWallet, integrationAt, openFilled, txHashAt } from '../filled.js'
import { bundle, startWorker, type Worker } from '../processes.js'
import { median, round, type Table } from '../report.js'
import type { ServerCalls } from './server.js'

export interface ReadEffort extends FillOptions {
  /** Warm-up requests of each route, until hot code is compiled. */
  readonly warmUps: number
  /** How often the routes take turns: many short turns, because the machine's speed changes every second. */
  readonly rounds: number
  /** Time of a turn, in seconds. */
  readonly seconds: number
}

interface Route {
  readonly name: string
  readonly paths: readonly string[]
  readonly authorization: string
}

interface Burst {
  readonly perSecond: number
  /** CPU time of the server for one request, in microseconds. */
  readonly cpuUs: number
}

interface Server {
  readonly url: string
  readonly worker: Worker<ServerCalls>
}

const integrationAddress = integrationAt(0)
const listPath = '/api/v1/integration/payments'
const walletListPath = `/api/v1/integration/wallet/${hotWallet}/payments`
const pageSize = 50
/** Open connections, each with one request at a time: more than enough to keep one core busy. */
const connections = 16

export async function benchReadApi(engine: Engine, effort: ReadEffort): Promise<Table[]> {
  const database = await openFilled(engine, effort)
  const bundles = await bundle(['read-api/server.ts'])
  const store = database.openStore()
  const { integrations, legacyKeys } = createServiceOn(store)
  const { apiSecret } = await integrations.rotateApiSecret(integrationAddress)
  const { apiKey } = await legacyKeys.create({ name: 'bench' })
  await store.close()
  const env = {
    PI_DATABASE_URL: database.url,
    PI_MASTER_KEY: masterKey,
    PI_PORT: '0',
    PI_ROLES: 'api',
    PI_LOG_LEVEL: 'error',
  }
  const worker = startWorker<ServerCalls>(bundles.findPath('server'), [], env)
  try {
    const server = { worker, url: await worker.ask('url') }
    const basic = `Basic ${Buffer.from(`${integrationAddress}:${apiSecret}`).toString('base64')}`
    const routes = await getRoutes(server, basic, apiKey, effort.payments)
    const bursts = await takeTurns(server, routes, effort)
    const getMedian = (all: readonly Burst[], field: keyof Burst) => median(all.map((each) => each[field]))
    const [floor = []] = bursts
    return [
      {
        title: `Requests per second, ${effort.payments.toLocaleString('en')} payments, ${engine}`,
        columns: ['', 'requests/s', 'CPU µs', 'CPU of the floor'],
        rows: routes.map(({ name }, at) => {
          const measured = bursts[at] ?? []
          const ratio = median(measured.map(({ cpuUs }, turn) => cpuUs / (floor[turn]?.cpuUs ?? Number.NaN)))
          return [name, round(getMedian(measured, 'perSecond')), round(getMedian(measured, 'cpuUs')), round(ratio, 2)]
        }),
      },
    ]
  } finally {
    await worker.stop()
    await bundles.remove()
    await database.end()
  }
}

async function getRoutes(server: Server, basic: string, apiKey: string, payments: number): Promise<Route[]> {
  // Every fifth payment is the integration's, and every second of those the wallet's.
  const perIntegration = Math.floor(payments / 5)
  const route = (name: string, paths: readonly string[], authorization = basic) => ({ name, paths, authorization })
  const deepPage = async (name: string, path: string, count: number) => {
    const page = Math.min(2_000, Math.floor(count / pageSize) - 1)
    const paths = [`${path}?cursor=${await readCursor(server, path, page, basic)}`]
    return route(`page ${page.toLocaleString('en')} of 50, ${name}`, paths)
  }
  // Payments of the integration on the chain 10, evenly spread.
  const ids = Array.from({ length: 500 }, (_, n) => 10 * (1 + Math.floor(((Math.floor(payments / 10) - 1) * n) / 500)))
  const getPaths = (findPath: (id: number) => string) => ids.map(findPath)
  return [
    route('/health/live, the floor', ['/health/live']),
    route('page 1 of 50, integration', [listPath]),
    await deepPage('integration', listPath, perIntegration),
    route('page 1 of 50, wallet', [walletListPath]),
    await deepPage('wallet', walletListPath, perIntegration / 2),
    route(
      'single look-up',
      getPaths((id) => `${listPath}/${txHashAt(id)}`),
    ),
    route(
      'legacy look-up',
      getPaths((id) => `/api/v1/tx/${chainAt(id)}/${txHashAt(id)}`),
      apiKey,
    ),
  ]
}

/** The cursor of a page, obtained as by a client. */
async function readCursor({ url }: Server, path: string, page: number, authorization: string): Promise<string> {
  let cursor = ''
  for (let behind = (page - 1) * pageSize; behind > 0; ) {
    const limit = Math.min(200, behind)
    behind -= limit
    const query = `?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`
    const answer = await fetch(`${url}${path}${query}`, { headers: { authorization } })
    cursor = ((await answer.json()) as { nextCursor: string }).nextCursor
  }
  return cursor
}

async function takeTurns(server: Server, routes: readonly Route[], effort: ReadEffort): Promise<Burst[][]> {
  const requestCounts: number[] = []
  for (const route of routes) {
    await assertAnswer(server, route)
    const { perSecond } = await burst(server, route, effort.warmUps)
    requestCounts.push(Math.max(connections, Math.round(perSecond * effort.seconds)))
  }
  const bursts: Burst[][] = routes.map(() => [])
  for (let turn = 0; turn < effort.rounds; turn += 1)
    for (const [at, route] of routes.entries()) bursts[at]?.push(await burst(server, route, requestCounts[at] ?? 0))
  return bursts
}

/** An empty page or an unknown payment could look fast. */
async function assertAnswer({ url }: Server, { name, paths, authorization }: Route): Promise<void> {
  const answer = await fetch(`${url}${paths.at(-1)}`, { headers: { authorization } })
  const payments = (await answer.text()).split('"sender"').length - 1
  const expected = name.startsWith('page') ? pageSize : name.startsWith('single') ? 1 : 0
  if (payments !== expected) throw new Error(`${name}: the answer has ${payments} payments, not ${expected}.`)
}

/** Sends `count` requests as fast as the server answers. Rejects unless every answer is a 200. */
async function burst({ url, worker }: Server, { paths, authorization }: Route, count: number): Promise<Burst> {
  const clients = Array.from({ length: connections }, () => new Client(url))
  let sent = 0
  async function sendAll(client: Client): Promise<void> {
    while (sent < count) {
      const path = paths[sent % paths.length] ?? ''
      sent += 1
      const { statusCode, body } = await client.request({ method: 'GET', path, headers: { authorization } })
      await body.arrayBuffer()
      if (statusCode !== 200) throw new Error(`${path}: the answer was ${statusCode}.`)
    }
  }
  const before = await worker.ask('cpuUs')
  const startedAt = performance.now()
  await Promise.all(clients.map(sendAll))
  const seconds = (performance.now() - startedAt) / 1_000
  const after = await worker.ask('cpuUs')
  await Promise.all(clients.map((client) => client.close()))
  return { perSecond: count / seconds, cpuUs: (after - before) / count }
}
