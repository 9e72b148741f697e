/** Compares the read and legacy APIs with a bare handler, on a million payments. @module */
import { median } from '../measure.js'
import type { BenchDatabase } from './database.js'
import { chainId, fill, type Keys, timestampAt, txHashAt, wallet } from './dataset.js'
import { layerCpu } from './layers.js'
import { type Burst, burst, connections, type Load } from './load.js'
import { type ServerProcess, startServerProcess } from './server-process.js'

/** How long to measure. */
export interface ReadEffort {
  readonly payments: number
  /** Warm-up requests per route and server, until hot code is compiled. */
  readonly warmUps: number
  /** How often the two servers take turns: many short turns, because the machine's speed changes every second. */
  readonly rounds: number
  /** Time of a turn, in seconds. */
  readonly seconds: number
  /** Requests of the memory run. */
  readonly memoryRequests: number
  readonly layerRequests: number
}

const list = '/api/v1/integration/payments'
const walletList = `/api/v1/integration/wallet/${wallet}/payments`
const pageSize = 50

/** Fills a database, measures on it, removes it, and returns Markdown. */
export async function benchReadApi(open: () => Promise<BenchDatabase>, effort: ReadEffort): Promise<string> {
  const database = await open()
  try {
    return await measure(database, effort)
  } finally {
    await database.remove()
  }
}

async function measure(database: BenchDatabase, effort: ReadEffort): Promise<string> {
  const { engine } = database
  const store = database.openStore()
  await store.migrate()
  const keys = await fill(store, effort.payments)
  await database.settle()
  const { busyCallerUs, rareCallerUs } = await layerCpu(store, keys.basic, effort.layerRequests)
  await store.close()
  const ours = await startServerProcess('ours', database.url)
  const floor = await startServerProcess('floor', database.url)
  try {
    const lines = []
    const all = await routes(ours, keys, effort.payments)
    for (const route of all) {
      await assertSameAnswer(ours, floor, route)
      lines.push(row(route.name, await sideBySide(ours, floor, route, effort)))
    }
    const [page, deepPage, walletPage, deepWalletPage] = all
    const size = effort.payments.toLocaleString('en')
    return [
      `### Requests per second, ${size} payments, ${engine}`,
      '',
      '| | ours, requests/s | floor, requests/s | ours of floor | ours, CPU µs | floor, CPU µs |',
      '| --- | --- | --- | --- | --- | --- |',
      ...lines,
      '',
      `Authentication, validation and cursor, CPU per request: ${busyCallerUs.toFixed(1)} µs for a busy caller, ${rareCallerUs.toFixed(1)} µs with a look-up each time.`,
      await depth(ours, page, deepPage, effort),
      await depth(ours, walletPage, deepWalletPage, effort),
      await memory(ours, { paths: singlePaths(effort.payments), authorization: keys.basic }, effort.memoryRequests),
      '',
    ].join('\n')
  } finally {
    await Promise.all([ours.stop(), floor.stop()])
  }
}

/** Hashes of the measured integration's payments, evenly spread. */
function someHashes(payments: number): string[] {
  const own = Math.floor(payments / 5)
  return Array.from({ length: 500 }, (_, n) => txHashAt(Math.floor((own * n) / 500) * 5))
}

function singlePaths(payments: number): string[] {
  return someHashes(payments).map((hash) => `${list}/${hash}`)
}

interface Route {
  readonly name: string
  readonly ours: Load
  readonly floor: Load
}

async function routes(ours: ServerProcess, keys: Keys, payments: number): Promise<Route[]> {
  const own = Math.floor(payments / 5)
  const lastPage = Math.min(2_000, Math.floor(own / pageSize) - 1)
  const { basic: authorization, legacyKey } = keys
  const same = (name: string, paths: readonly string[], key = authorization): Route => {
    const load = { paths, authorization: key }
    return { name, ours: load, floor: load }
  }
  const last = ((lastPage - 1) * pageSize - 1) * 5
  const position = [timestampAt(last), chainId, txHashAt(last)].join('.')
  // The wallet is on every second payment of the integration.
  const lastWalletPage = Math.min(2_000, Math.floor(own / 2 / pageSize) - 1)
  const lastOfWallet = ((lastWalletPage - 1) * pageSize - 1) * 10
  const walletPosition = [timestampAt(lastOfWallet), chainId, txHashAt(lastOfWallet)].join('.')
  return [
    same('page 1 of 50, integration', [list]),
    {
      name: `page ${lastPage.toLocaleString('en')} of 50, integration`,
      ours: { paths: [`${list}?cursor=${await cursorOf(ours, list, lastPage, authorization)}`], authorization },
      floor: { paths: [`${list}?cursor=${position}`], authorization },
    },
    same('page 1 of 50, wallet', [walletList]),
    {
      name: `page ${lastWalletPage.toLocaleString('en')} of 50, wallet`,
      ours: {
        paths: [`${walletList}?cursor=${await cursorOf(ours, walletList, lastWalletPage, authorization)}`],
        authorization,
      },
      floor: { paths: [`${walletList}?cursor=${walletPosition}`], authorization },
    },
    same('single look-up', singlePaths(payments)),
    same(
      'legacy look-up',
      someHashes(payments).map((hash) => `/api/v1/tx/${chainId}/${hash}`),
      legacyKey,
    ),
  ]
}

/** The cursor of a page, obtained as by a client. */
async function cursorOf({ url }: ServerProcess, path: string, page: number, authorization: string): Promise<string> {
  let cursor = ''
  for (let behind = (page - 1) * pageSize; behind > 0; ) {
    const limit = Math.min(200, behind)
    behind -= limit
    const query = `?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`
    const answer = await fetch(`${url}${path}${query}`, { headers: { authorization: authorization ?? '' } })
    cursor = ((await answer.json()) as { nextCursor: string }).nextCursor
  }
  return cursor
}

/** Checks that the floor gives the same answers. */
async function assertSameAnswer(ours: ServerProcess, floor: ServerProcess, route: Route): Promise<void> {
  const [left, right] = await Promise.all(
    (
      [
        [ours, route.ours],
        [floor, route.floor],
      ] as const
    ).map(async ([server, { paths, authorization }]) => {
      const answer = await fetch(`${server.url}${paths[0]}`, { headers: { authorization: authorization ?? '' } })
      return (await answer.text()).replace(/"nextCursor":"[^"]+"/, '"nextCursor":"…"')
    }),
  )
  if (left !== right)
    throw new Error(
      `${route.name}: the floor answers something else.\n${left?.slice(0, 1_000)}\n${right?.slice(0, 1_000)}`,
    )
}

async function sideBySide(ours: ServerProcess, floor: ServerProcess, route: Route, effort: ReadEffort) {
  await burst(ours, route.ours, effort.warmUps)
  const { requestsPerSecond } = await burst(floor, route.floor, effort.warmUps)
  const amount = amountOf(requestsPerSecond, effort)
  const turns = { ours: () => burst(ours, route.ours, amount), floor: () => burst(floor, route.floor, amount) }
  return inTurns(turns, effort.rounds)
}

function amountOf(requestsPerSecond: number, { seconds }: ReadEffort): number {
  return Math.max(connections, Math.round(requestsPerSecond * seconds))
}

/** Runs both repeatedly, and alternates the order, so that neither has an advantage. */
async function inTurns<Name extends string>(
  turns: Readonly<Record<Name, () => Promise<Burst>>>,
  rounds: number,
): Promise<Readonly<Record<Name, readonly Burst[]>>> {
  const names = Object.keys(turns) as Name[]
  const bursts = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Burst[]>
  for (let round = 0; round < rounds; round += 1)
    for (const name of round % 2 === 0 ? names : names.toReversed()) bursts[name].push(await turns[name]())
  return bursts
}

/** Compares the cost of a deep page with the first one, both from our server, in turns. */
async function depth(ours: ServerProcess, first: Route | undefined, deep: Route | undefined, effort: ReadEffort) {
  if (first === undefined || deep === undefined) throw new Error('There are no pages to compare.')
  const amount = amountOf((await burst(ours, first.ours, effort.warmUps)).requestsPerSecond, effort)
  const turns = { near: () => burst(ours, first.ours, amount), far: () => burst(ours, deep.ours, amount) }
  const { near, far } = await inTurns(turns, effort.rounds)
  const ratios = near.map((one, round) => one.requestsPerSecond / (far[round]?.requestsPerSecond ?? Number.NaN))
  return `Taking turns, ${deep.name}, costs ${median(ratios).toFixed(2)} of page 1.`
}

function row(name: string, { ours, floor }: { ours: readonly Burst[]; floor: readonly Burst[] }): string {
  const rate = (bursts: readonly Burst[]) => median(bursts.map(({ requestsPerSecond }) => requestsPerSecond))
  const cpu = (bursts: readonly Burst[]) => median(bursts.map(({ cpuUsPerRequest }) => cpuUsPerRequest))
  const ratio = median(
    ours.map((own, round) => own.requestsPerSecond / (floor[round]?.requestsPerSecond ?? Number.NaN)),
  )
  const cells = [
    rate(ours).toFixed(0),
    rate(floor).toFixed(0),
    ratio.toFixed(2),
    cpu(ours).toFixed(0),
    cpu(floor).toFixed(0),
  ]
  return `| ${name} | ${cells.join(' | ')} |`
}

/** The heap after a tenth of the requests and after all of them, each after a collection. */
async function memory(server: ServerProcess, load: Load, requests: number): Promise<string> {
  const tenth = Math.ceil(requests / 10)
  await burst(server, load, tenth)
  const early = await server.heapBytes()
  await burst(server, load, requests - tenth)
  const late = await server.heapBytes()
  const mib = (bytes: number) => (bytes / 1_048_576).toFixed(1)
  return `Heap after ${tenth.toLocaleString('en')} requests: ${mib(early)} MiB; after ${requests.toLocaleString('en')}: ${mib(late)} MiB.`
}
