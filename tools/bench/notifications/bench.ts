/** Compares deliveries with a bare loop and with queue libraries, on one database. @module */
import { type BenchDatabase, type Engine, openDatabase } from '../databases.js'
import { jobAt, type PaymentRange } from '../payments.js'
import { bundle, startWorker, type Worker } from '../processes.js'
import { type Cell, median, round, type Table } from '../report.js'
import type { Floor } from './floor.js'
import type { Ours } from './ours.js'
import type { Peer } from './peer.js'
import { type PeerName, peerNames, peersFolder, peersMissing } from './peers.js'
import type { Committed } from './publish.js'
import type { Receiver } from './receiver.js'

export interface DeliveryEffort {
  /** Deliveries per turn. */
  readonly deliveries: number
  /** How often the ways take turns. */
  readonly rounds: number
  /** Deliveries of the warm-up. */
  readonly warmUps: number
  /** How long to publish at half the rate, in seconds. */
  readonly paceSeconds: number
}

interface Turn {
  readonly perSecond: number
  /** CPU time of the process for one delivery, in microseconds. */
  readonly cpuUs: number
}

interface Way {
  readonly name: string
  readonly worker: Worker<Floor> | Worker<Ours> | Worker<Peer>
}

export async function benchDeliveries(engine: Engine, effort: DeliveryEffort): Promise<Table[]> {
  const database = await openDatabase(engine)
  const bundles = await bundle(['receiver', 'floor', 'ours', 'peer'].map((name) => `notifications/${name}.ts`))
  const receiver = startWorker<Receiver>(bundles.findPath('receiver'))
  const ways: Way[] = []
  try {
    const url = await receiver.ask('url')
    ways.push({ name: 'floor', worker: startWorker<Floor>(bundles.findPath('floor'), [url]) })
    const ours = startWorker<Ours>(bundles.findPath('ours'), [database.url, url])
    ways.push({ name: 'ours', worker: ours })
    await ours.ask('open')
    const isBesidePeers = engine === 'PostgreSQL' && peersMissing === null
    for (const name of isBesidePeers ? peerNames : ([] as PeerName[]))
      ways.push({ name, worker: startWorker<Peer>(bundles.findPath('peer'), [name, peersFolder, database.url, url]) })
    const { rows, perSecond } = await measure(database, receiver, ways, effort)
    const size = effort.deliveries.toLocaleString('en')
    return [
      {
        title: `Deliveries of 1 KB to 10 integrations, from a backlog of ${size}, ${engine}`,
        columns: ['', 'deliveries/s', 'ours is so many times as fast', 'CPU µs', 'publish to socket, p50 ms', 'p99 ms'],
        rows,
        notes: [
          `Published: snapshots of stored payments, ${perSecond.toLocaleString('en')} per second.`,
          ...(engine === 'PostgreSQL' && peersMissing !== null ? [peersMissing] : []),
        ],
      },
    ]
  } finally {
    for (const { stop } of [receiver, ...ways.map(({ worker }) => worker)]) await stop()
    await bundles.remove()
    await database.end()
  }
}

/** @param ways - The floor, ours and the peers. */
async function measure(
  database: BenchDatabase,
  receiver: Worker<Receiver>,
  ways: readonly Way[],
  effort: DeliveryEffort,
) {
  let next = 0
  const takeRange = (count: number): PaymentRange => {
    next += count
    return { from: next - count, count }
  }
  async function runTurn({ name, worker }: Way, count: number): Promise<Turn> {
    const range = takeRange(count)
    if (name !== 'floor') await (worker as Worker<Ours>).ask('prepare', range)
    await database.settle()
    await receiver.ask('take')
    const { seconds, cpuUs } = await (worker as Worker<Ours>).ask('run', range)
    const { count: arrived } = await receiver.ask('take')
    if (arrived !== count) throw new Error(`${name} posted ${arrived} times for ${count} deliveries.`)
    return { perSecond: count / seconds, cpuUs: cpuUs / count }
  }
  const turns = new Map<string, Turn[]>(ways.map(({ name }) => [name, []]))
  for (const way of ways) await runTurn(way, effort.warmUps)
  for (let at = 0; at < effort.rounds; at += 1)
    for (const way of at % 2 === 0 ? ways : ways.toReversed())
      turns.get(way.name)?.push(await runTurn(way, effort.deliveries))

  const ours = turns.get('ours') ?? []
  const perSecond = Math.max(1, Math.floor(median(ours.map((each) => each.perSecond)) / 2))
  const rows: Cell[][] = []
  for (const { name, worker } of ways) {
    const measured = turns.get(name) ?? []
    const ratio = median(ours.map((each, at) => each.perSecond / (measured[at]?.perSecond ?? Number.NaN)))
    const pace = { ...takeRange(Math.ceil(perSecond * effort.paceSeconds)), perSecond }
    await receiver.ask('take')
    const committed = name === 'floor' ? null : await (worker as Worker<Ours>).ask('publish', pace)
    const [p50, p99] = committed === null ? [] : measureLatency(committed, (await receiver.ask('take')).arrivals)
    rows.push([
      name,
      round(median(measured.map((each) => each.perSecond))),
      name === 'ours' ? null : round(ratio, 2),
      round(median(measured.map(({ cpuUs }) => cpuUs))),
      round(p50 ?? Number.NaN, 1),
      round(p99 ?? Number.NaN, 1),
    ])
  }
  return { rows, perSecond }
}

/** Median and 99th percentile of the time from a commit to the receiver's socket, in milliseconds. */
function measureLatency(
  committed: readonly Committed[],
  arrivals: readonly (readonly [string, number])[],
): [p50: number, p99: number] {
  const arrivedAtUs = new Map(arrivals)
  const latencies = committed
    .flatMap(({ from, count, atUs }) =>
      // A delivery that arrives before the publisher has the commit's answer counts as 0.
      Array.from(
        { length: count },
        (_, n) => Math.max(0, (arrivedAtUs.get(jobAt(from + n).txHash) ?? Number.NaN) - atUs) / 1_000,
      ),
    )
    .toSorted((a, b) => a - b)
  if (latencies.some(Number.isNaN)) throw new Error('A delivery that was published did not arrive.')
  const getPercentile = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
  return [getPercentile(0.5), getPercentile(0.99)]
}
