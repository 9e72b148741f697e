/** Measures each page of the console on a large database, and compares it with its reads alone. @module */
import { loadavg } from 'node:os'
import { createConsole, createPortal, type Portal } from '@payment-integration/console'
import type { ChainStatus } from '@payment-integration/core'
import { median } from '../measure.js'
import { type Case, casesFor, clockAt, portalOf } from './cases.js'
import { cpuMs } from './cpu.js'
import { type Engine, openFilled, serviceOn } from './database.js'
import { chainIds, newest } from './dataset.js'
import { type TimedStore, timeReads } from './timed-store.js'

/** How much to measure. */
export interface PagesEffort {
  readonly payments: number
  /** Requests of each page; the pages take turns. */
  readonly rounds: number
  /** The folder of databases that stay; null: temporary ones. */
  readonly keep: string | null
}

/** The goal of every page, in milliseconds. */
const goal = { p50: 50, p99: 150 } as const

const origin = 'http://127.0.0.1'

interface Sample {
  readonly ms: number
  /** Of that, time with a read of the store in flight. */
  readonly readMs: number
  readonly reads: number
  /** Processor time of this process and the database server; null: unknown. */
  readonly cpuMs: number | null
}

/** Fills or opens a database, measures all pages, and returns Markdown. */
export async function benchPages(engine: Engine, effort: PagesEffort): Promise<string> {
  const database = await openFilled(engine, effort)
  try {
    const timed = timeReads(database.openStore())
    const cases = casesFor(effort.payments)
    const samples = await measure(timed, cases, effort, database.serverData)
    await timed.store.close()
    return report(engine, effort, cases, samples)
  } finally {
    await database.end()
  }
}

async function measure(timed: TimedStore, cases: readonly Case[], effort: PagesEffort, serverData: string | null) {
  const { payments, rounds } = effort
  let clock = newest
  const service = { ...serviceOn(timed.store), indexers: chainIds.map(indexer) }
  const pages = createConsole({ service, now: () => clock })
  const portal = createPortal({ service, now: () => clock })
  const cookie = await signIn(portal, (await service.integrations.rotateApiSecret(portalOf)).apiSecret)
  const read = async ({ section, name, path }: Case, id: number): Promise<void> => {
    const [app, base] = section === 'Portal' ? [portal, 'portal'] : [pages, 'console']
    const headers = section === 'Portal' ? { Cookie: cookie } : {}
    const answer = await app.fetch(new Request(`${origin}/${base}${path(id)}`, { headers }))
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${name}: the answer was ${answer.status}.\n${text.slice(-2_000)}`)
  }
  const samples = new Map<Case, Sample[]>(cases.map((each) => [each, []]))
  for (const each of cases) await read(each, 1)
  for (let round = 0; round < rounds; round += 1)
    for (const each of cases) {
      clock = clockAt(each, round)
      // Golden ratio: the payments of any number of rounds are evenly spread.
      const id = 1 + Math.floor((((round + 1) * 0.618_033_988_75) % 1) * (payments - 1))
      timed.take()
      const cpuBefore = cpuMs(serverData)
      const begun = performance.now()
      await read(each, id)
      const ms = performance.now() - begun
      const { ms: readMs, reads } = timed.take()
      const cpuAfter = cpuMs(serverData)
      const cpu = cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore
      samples.get(each)?.push({ ms, readMs, reads, cpuMs: cpu })
    }
  pages.close()
  return samples
}

/** The cookie of a new session of the portal. */
async function signIn(portal: Portal, secret: string): Promise<string> {
  const body = new URLSearchParams({ address: portalOf, secret })
  const request = new Request(`${origin}/portal/sign-in`, { method: 'POST', body, headers: { Origin: origin } })
  const answer = await portal.fetch(request)
  const [cookie = ''] = answer.headers.getSetCookie()
  if (answer.status !== 303) throw new Error(`The sign-in at the portal was answered ${answer.status}.`)
  return cookie.split(';')[0] ?? ''
}

/** An indexer that only has a status. */
function indexer(chainId: number) {
  const status: ChainStatus = {
    ...{
      chainId,
      head: 11_000_010,
      headAt: newest,
      indexed: 11_000_000,
      proof: 'root',
      reorganisations: 0,
      newestReorganisations: [],
    },
    ...{ leading: true, endpoints: [], error: null, lastError: null },
  }
  const unused = () => Promise.reject(new Error('Nothing is indexed here.'))
  return { chainId, status: () => status, step: unused, run: unused, nativeHash: () => null }
}

function report(
  engine: Engine,
  { payments, rounds }: PagesEffort,
  cases: readonly Case[],
  samples: ReadonlyMap<Case, readonly Sample[]>,
) {
  const rows = cases.map((each) => ({ each, ...figures(samples.get(each) ?? []) }))
  const slow = rows.filter(({ p50, p99 }) => p50 > goal.p50 || p99 > goal.p99)
  const lines = rows.map(
    ({ each, p50, p99, cpu, ratio, reads }) =>
      `| ${each.section}: ${each.name} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${cpu.toFixed(1)} | ${reads === 0 ? '' : ratio.toFixed(2)} | ${reads} |`,
  )
  const missed = slow.map(({ each }) => `${each.section}: ${each.name}`).join('; ')
  return [
    `### Pages of the console, ${payments.toLocaleString('en')} payments, ${engine}`,
    '',
    `${rounds} requests of each page; load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| | median ms | p99 ms | CPU, median ms | of its reads alone | reads |',
    '| --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `Goal: median ${goal.p50} ms, p99 ${goal.p99} ms; ${missed === '' ? 'reached by every page' : `missed by ${missed}`}.`,
    '',
  ].join('\n')
}

function figures(samples: readonly Sample[]) {
  const times = samples.map(({ ms }) => ms).toSorted((a, b) => a - b)
  const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? Number.NaN
  return {
    p50: at(0.5),
    p99: at(0.99),
    ratio: median(samples.map(({ ms, readMs }) => ms / readMs)),
    cpu: median(samples.map(({ cpuMs: each }) => each ?? Number.NaN)),
    reads: median(samples.map(({ reads }) => reads)),
  }
}
