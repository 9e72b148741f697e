/** Measures pages of the console and the portal on a large database. @module */
import { createConsole, createPortal, type Portal } from '@payment-integration/console'
import type { ChainStatus } from '@payment-integration/core'
import { createServiceOn, type Engine, readCpuMs } from './databases.js'
import {
  chainAt,
  chainIds,
  type FillOptions,
  hotWallet,
  integrationAt,
  integrationCount,
  newestMs,
  openFilled,
  timestampAt,
  txHashAt,
  versionCount,
} from './filled.js'
import { median, round, type Table } from './report.js'

export interface ConsoleEffort extends FillOptions {
  /** Requests of each page; the pages take turns. */
  readonly rounds: number
}

/** The goal of every page, in milliseconds. */
const goal = { p50: 50, p99: 150 } as const

/** Paths by page: below `/portal` if the name begins with `portal`, else below `/console`. @param id - A payment. */
type Pages = Readonly<Record<string, (id: number) => string>>

const origin = 'http://127.0.0.1'
const [large, rare] = [integrationAt(0), integrationAt(integrationCount - 1)]

/** The pages that read most. */
function getPages(payments: number): Pages {
  const at = (id: number) => timestampAt(id, payments)
  const belowPayment = (id: number) => `before=${at(id)}.${id}`
  const hour = (id: number) => `since=${at(id)}&until=${at(id) + 3_600_000}`
  const belowDelivery = (id: number) => `before=${id * versionCount}`
  const [paymentsPath, deliveriesPath] = ['/payments?', '/deliveries?']
  return {
    overview: () => '',
    'payments: newest': () => paymentsPath,
    'payments: at any depth': (id) => paymentsPath + belowPayment(id),
    'payments: a rare state': () => `${paymentsPath}state=failure`,
    'payments: a rare chain and a rare state': () => `${paymentsPath}chain=5&state=failure`,
    'payments: a large integration, at any depth': (id) => `${paymentsPath}integration=${large}&${belowPayment(id)}`,
    'payments: a large integration and a rare state': () => `${paymentsPath}integration=${large}&state=failure`,
    'payments: an hour, a chain and an integration': (id) =>
      `${paymentsPath}chain=137&integration=${large}&${hour(id)}`,
    'search: wallet of all integrations': () => `${paymentsPath}q=${hotWallet}`,
    // A whole memo would redirect to its payment, so this is the common beginning of ten memos.
    'search: memo': (id) => `${paymentsPath}q=order%20${String(id).padStart(8, '0').slice(0, 7)}`,
    'search: invoice within a large integration': (id) => `${paymentsPath}q=${id % 9_973}.50&integration=${large}`,
    'deliveries: newest': () => deliveriesPath,
    'deliveries: delivered, at any depth': (id) => `${deliveriesPath}status=delivered&${belowDelivery(id)}`,
    'deliveries: exhausted': () => `${deliveriesPath}status=exhausted`,
    'deliveries: a rare chain, exhausted': () => `${deliveriesPath}chain=5&status=exhausted`,
    'deliveries: a rare integration': () => `${deliveriesPath}integration=${rare}`,
    'deliveries: transaction': (id) => `${deliveriesPath}hash=${txHashAt(id)}`,
    'one payment': (id) => `/payments/${chainAt(id)}/${txHashAt(id)}`,
    'failing endpoints': () => '/endpoints?health=failing',
    'first step of a replay': () => '/deliveries/replay?status=exhausted',
    'first step of a replay of millions': () => '/deliveries/replay?status=delivered',
    'audit, at any depth': (id) => `/audit?before=${1_000_100 + (id % 9_000)}`,
    'portal: overview': () => '',
    'portal: deliveries, at any depth': (id) => `/deliveries?${belowDelivery(id)}`,
  }
}

interface Sample {
  readonly ms: number
  /** Processor time of this process and the database server. */
  readonly cpuMs: number
}

export async function benchConsole(engine: Engine, effort: ConsoleEffort): Promise<Table[]> {
  const database = await openFilled(engine, effort)
  const store = database.openStore()
  try {
    const service = { ...createServiceOn(store), indexers: chainIds.map(buildIdleIndexer) }
    let time = newestMs
    const console = createConsole({ service, clock: { now: () => time } })
    const portal = createPortal({ service, clock: { now: () => time } })
    const cookie = await signIn(portal, (await service.integrations.rotateApiSecret(large)).apiSecret)
    const read = async (name: string, path: string): Promise<void> => {
      const [app, base] = name.startsWith('portal') ? [portal, 'portal'] : [console, 'console']
      const headers = base === 'portal' ? { Cookie: cookie } : {}
      const answer = await app.fetch(new Request(`${origin}/${base}${path}`, { headers }))
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${name}: the answer was ${answer.status}.\n${text.slice(-2_000)}`)
    }
    const pages = Object.entries(getPages(effort.payments))
    const samples = new Map<string, Sample[]>(pages.map(([name]) => [name, []]))
    for (const [name, path] of pages) await read(name, path(1))
    for (let turn = 0; turn < effort.rounds; turn += 1)
      for (const [name, path] of pages) {
        // When the clock goes back, the overview reads all minutes instead of only the newest.
        time = newestMs - turn * 2_000
        // Golden ratio: the payments of any number of rounds are evenly spread.
        const id = 1 + Math.floor((((turn + 1) * 0.618_033_988_75) % 1) * (effort.payments - 1))
        const [cpu, startedAt] = [readCpuMs(database.serverData), performance.now()]
        await read(name, path(id))
        samples.get(name)?.push({ ms: performance.now() - startedAt, cpuMs: readCpuMs(database.serverData) - cpu })
      }
    console.close()
    return [buildTable(engine, effort, samples)]
  } finally {
    await store.close()
    await database.end()
  }
}

/** The cookie of a new session of the portal. */
async function signIn(portal: Portal, secret: string): Promise<string> {
  const body = new URLSearchParams({ address: large, secret })
  const request = new Request(`${origin}/portal/sign-in`, { method: 'POST', body, headers: { Origin: origin } })
  const answer = await portal.fetch(request)
  const [cookie = ''] = answer.headers.getSetCookie()
  if (answer.status !== 303) throw new Error(`The sign-in at the portal was answered ${answer.status}.`)
  return cookie.split(';')[0] ?? ''
}

/** An indexer that only has a status. */
function buildIdleIndexer(chainId: number) {
  const position = { head: 11_000_010, headAt: newestMs, indexed: 11_000_000, leading: true }
  const noTrouble = { reorgs: 0, newestReorgs: [], error: null, lastError: null }
  const status: ChainStatus = { chainId, ...position, ...noTrouble, proof: 'root', nodes: [] }
  const unused = () => Promise.reject(new Error('Nothing is indexed here.'))
  return { chainId, status: () => status, step: unused, run: unused, nativeHash: () => null }
}

function buildTable(engine: Engine, { payments, rounds }: ConsoleEffort, samples: ReadonlyMap<string, Sample[]>) {
  const figures = [...samples].map(([name, all]) => {
    const times = all.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN
    return { name, p50: median(times), p99, cpu: median(all.map((each) => each.cpuMs)) }
  })
  const missed = figures.filter(({ p50, p99 }) => p50 > goal.p50 || p99 > goal.p99).map(({ name }) => name)
  return {
    title: `Pages of the console, ${payments.toLocaleString('en')} payments, ${engine}`,
    columns: ['', 'median ms', 'p99 ms', 'CPU, median ms'],
    rows: figures.map(({ name, p50, p99, cpu }) => [name, ...[p50, p99, cpu].map((value) => round(value, 1))]),
    notes: [
      `${rounds} requests of each page. Goal: median ${goal.p50} ms, p99 ${goal.p99} ms; ${missed.length === 0 ? 'reached by every page' : `missed by ${missed.join('; ')}`}.`,
    ],
  }
}
