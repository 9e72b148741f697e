/** Measures what open pages cost the deliveries, and that they read the database once for all. @module */
import { loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { request } from 'undici'
import { median } from '../measure.js'
import { buildScripts } from '../notifications/build.js'
import { jobAt } from '../notifications/jobs.js'
import type { Receiver } from '../notifications/receiver.js'
import { startWorker, type Worker } from '../notifications/worker.js'
import type { BenchDatabase } from '../read-api/database.js'
import type { Served } from './served.js'

/** How much to measure. */
export interface StreamsEffort {
  /** Deliveries of a turn. */
  readonly deliveries: number
  /** Turns with and without open pages. */
  readonly rounds: number
  readonly pages: number
  /** How long to count reads, in milliseconds. */
  readonly countMs: number
}

interface Turn {
  readonly perSecond: number
  /** Processor time of the process for one delivery, in microseconds. */
  readonly cpuUs: number
}

/** Opens a database, measures, removes it, and returns Markdown. */
export async function benchStreams(open: () => Promise<BenchDatabase>, effort: StreamsEffort): Promise<string> {
  const database = await open()
  const built = await buildScripts()
  const receiver = startWorker<Receiver>(built.pathOf('receiver'))
  const stops = [receiver.stop]
  try {
    const served = startWorker<Served>(built.pathOf('served'), database.url, await receiver.ask('url'))
    stops.push(served.stop)
    const port = await served.ask('open')
    const reads = []
    for (const pages of [1, effort.pages, 5 * effort.pages])
      reads.push({ pages, perSecond: await readsPerSecond(served, port, pages, effort) })
    const turns = await takeTurns(database, served, port, effort)
    return report(database, effort, turns, reads)
  } finally {
    for (const stop of stops) await stop()
    await built.remove()
    await database.remove()
  }
}

const { txHash } = jobAt(0)
/** Topics of streams, each with the page that a browser loads again at the event `stale`. */
const topics = [
  { topic: 'payments', page: 'payments' },
  { topic: 'deliveries', page: 'deliveries' },
  { topic: 'overview', page: '' },
  { topic: `payment&chain=10&hash=${txHash}`, page: `payments/10/${txHash}` },
]
/** As in the script of the pages. */
const reloadRestMs = 30_000

/** Opens pages, reads their streams, and closes them after the work. */
async function withPages<Result>(served: Worker<Served>, port: number, pages: number, work: () => Promise<Result>) {
  const base = `http://127.0.0.1:${port}/console`
  const bodies = await Promise.all(
    Array.from({ length: pages }, async (_, n) => {
      const { topic, page } = topics[n % topics.length] ?? { topic: 'overview', page: '' }
      return { page: `${base}/${page}`, body: await answerOf(`${base}/live?topic=${topic}`) }
    }),
  )
  const streams = bodies.map(followAsBrowser)
  const result = await work()
  await served.ask('closePages')
  await Promise.all(streams)
  return result
}

async function answerOf(url: string) {
  const { statusCode, body } = await request(url, { bodyTimeout: 0 })
  if (statusCode !== 200) throw new Error(`${url} was answered ${statusCode}.`)
  return body
}

/** Reads a stream to its end, and its page again when the stream says so. */
async function followAsBrowser({ page, body }: { page: string; body: Awaited<ReturnType<typeof answerOf>> }) {
  let restsUntil = 0
  for await (const piece of body) {
    if (!String(piece).includes('event: stale') || performance.now() < restsUntil) continue
    restsUntil = performance.now() + reloadRestMs
    await (await answerOf(page)).dump({ limit: Number.MAX_SAFE_INTEGER })
  }
}

async function readsPerSecond(served: Worker<Served>, port: number, pages: number, { countMs }: StreamsEffort) {
  return withPages(served, port, pages, async () => {
    await served.ask('takeReads')
    await wait(countMs)
    return ((await served.ask('takeReads')) * 1_000) / countMs
  })
}

async function takeTurns(database: BenchDatabase, served: Worker<Served>, port: number, effort: StreamsEffort) {
  const turns = { without: [] as Turn[], beside: [] as Turn[] }
  let from = 0
  async function turn(): Promise<Turn> {
    const { seconds, cpuUs } = await served.ask('run', { from, count: effort.deliveries })
    return { perSecond: effort.deliveries / seconds, cpuUs: cpuUs / effort.deliveries }
  }
  // The first round only warms up.
  for (let round = 0; round <= effort.rounds; round += 1)
    for (const name of round % 2 === 0 ? (['without', 'beside'] as const) : (['beside', 'without'] as const)) {
      await served.ask('prepare', { from, count: effort.deliveries })
      await database.settle()
      const taken = name === 'without' ? await turn() : await withPages(served, port, effort.pages, turn)
      from += effort.deliveries
      if (round > 0 || effort.rounds === 0) turns[name].push(taken)
    }
  return turns
}

function report(
  { engine }: BenchDatabase,
  { deliveries, pages, rounds }: StreamsEffort,
  { without, beside }: Readonly<Record<'without' | 'beside', readonly Turn[]>>,
  reads: readonly { readonly pages: number; readonly perSecond: number }[],
): string {
  const of = (turns: readonly Turn[], field: keyof Turn) => turns.map((each) => each[field])
  const ratio = (field: keyof Turn) =>
    median(beside.map((each, n) => each[field] / (without[n]?.[field] ?? Number.NaN)))
  const row = (name: string, turns: readonly Turn[]) =>
    `| ${name} | ${median(of(turns, 'perSecond')).toFixed(0)} | ${median(of(turns, 'cpuUs')).toFixed(1)} |`
  const counts = reads.map((each) => `${each.perSecond.toFixed(1)} with ${each.pages}`).join(', ')
  return [
    `### Deliveries beside ${pages} open pages of the console, ${engine}`,
    '',
    `${rounds} turns of ${deliveries.toLocaleString('en')} deliveries each; load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| | deliveries/s | CPU µs of the process |',
    '| --- | --- | --- |',
    row('no open page', without),
    row(`${pages} open pages`, beside),
    `| ratio, median of the turns | ${ratio('perSecond').toFixed(3)} | ${ratio('cpuUs').toFixed(3)} |`,
    '',
    `Reads of the database per second: ${counts}.`,
    '',
  ].join('\n')
}
