/** Compares deliveries with a bare loop and with queue libraries, on one database. @module */
import { median } from '../measure.js'
import type { BenchDatabase } from '../read-api/database.js'
import { buildScripts } from './build.js'
import { type ClaimEffort, claimRates } from './claims.js'
import type { Floor } from './floor.js'
import { jobAt } from './jobs.js'
import type { Ours } from './ours.js'
import type { Peer } from './peer.js'
import { type PeerName, peerNames, peersFolder, peersMissing } from './peers.js'
import type { Receiver } from './receiver.js'
import { startWorker, type Worker } from './worker.js'

/** How much to measure. */
export interface DeliveryEffort extends ClaimEffort {
  /** Deliveries per turn. */
  readonly deliveries: number
  /** How often the ways take turns. */
  readonly rounds: number
  /** Deliveries of the warm-up. */
  readonly warmUps: number
  /** How long to publish payments at half the rate, in seconds. */
  readonly paceSeconds: number
  /** Deliveries of the memory run, which compares the heap after a tenth of them with the heap after all. */
  readonly memoryDeliveries: number
}

/** Result of a turn. */
interface Turn {
  readonly perSecond: number
  /** CPU time of the process for one delivery, in microseconds. */
  readonly cpuUs: number
}

/** A way to deliver. */
interface Way {
  readonly name: string
  prepare(places: Places): Promise<unknown>
  run(places: Places): Promise<{ readonly seconds: number; readonly cpuUs: number }>
}

interface Places {
  readonly from: number
  readonly count: number
}

/** Opens a database, measures on it, removes it, and returns Markdown. */
export async function benchDeliveries(open: () => Promise<BenchDatabase>, effort: DeliveryEffort): Promise<string> {
  const database = await open()
  const built = await buildScripts()
  const receiver = startWorker<Receiver>(built.pathOf('receiver'))
  const stops = [receiver.stop]
  try {
    const url = await receiver.ask('url')
    const floor = startWorker<Floor>(built.pathOf('floor'), url)
    const ours = startWorker<Ours>(built.pathOf('ours'), database.url, url)
    stops.push(floor.stop, ours.stop)
    await ours.ask('open')
    const peers = new Map<PeerName, Worker<Peer>>()
    const isPostgres = database.engine === 'PostgreSQL'
    if (isPostgres && peersMissing === null)
      for (const name of peerNames) {
        const peer = startWorker<Peer>(built.pathOf('peer'), name, peersFolder, database.url, url)
        peers.set(name, peer)
        stops.push(peer.stop)
      }
    const text = await measure({ database, open, receiver, floor, ours, peers }, effort)
    return isPostgres && peersMissing !== null ? `${text}${peersMissing}\n` : text
  } finally {
    for (const stop of stops) await stop()
    await built.remove()
    await database.remove()
  }
}

interface Parts {
  readonly database: BenchDatabase
  readonly open: () => Promise<BenchDatabase>
  readonly receiver: Worker<Receiver>
  readonly floor: Worker<Floor>
  readonly ours: Worker<Ours>
  readonly peers: ReadonlyMap<PeerName, Worker<Peer>>
}

async function measure(parts: Parts, effort: DeliveryEffort): Promise<string> {
  const { database, open, receiver, floor, ours, peers } = parts
  let next = 0
  const places = (count: number) => {
    next += count
    return { from: next - count, count }
  }
  const ways: Way[] = [
    { name: 'floor', prepare: async () => {}, run: (some) => floor.ask('run', some) },
    { name: 'ours', prepare: (some) => ours.ask('prepare', some), run: (some) => ours.ask('run', some) },
    ...[...peers].map(([name, peer]) => ({
      name,
      prepare: (some: Places) => peer.ask('prepare', some),
      run: (some: Places) => peer.ask('run', some),
    })),
  ]
  async function turn(way: Way, count: number): Promise<Turn> {
    const some = places(count)
    await way.prepare(some)
    await database.settle()
    await receiver.ask('take')
    const { seconds, cpuUs } = await way.run(some)
    const { count: arrived } = await receiver.ask('take')
    if (arrived !== count) throw new Error(`${way.name} posted ${arrived} times for ${count} deliveries.`)
    return { perSecond: count / seconds, cpuUs: cpuUs / count }
  }
  const turns = new Map<string, Turn[]>(ways.map(({ name }) => [name, []]))
  for (const way of ways) await turn(way, effort.warmUps)
  for (let round = 0; round < effort.rounds; round += 1)
    for (const way of round % 2 === 0 ? ways : ways.toReversed())
      turns.get(way.name)?.push(await turn(way, effort.deliveries))

  const perSecond = Math.floor(median((turns.get('ours') ?? []).map((each) => each.perSecond)) / 2)
  async function latencyAt(
    rate: number,
    worker: Worker<Ours> | Worker<Peer>,
    publish: 'publish' | 'publishStored' = 'publish',
  ): Promise<Latency> {
    const pace = { ...places(Math.round(rate * effort.paceSeconds)), perSecond: rate, seconds: effort.paceSeconds }
    await receiver.ask('take')
    const committed = await (worker as Worker<Ours>).ask(publish, pace)
    return latencyOf(committed, (await receiver.ask('take')).arrivals)
  }
  const latencies = new Map<string, Latency>()
  for (const [name, worker] of new Map<string, Worker<Ours> | Worker<Peer>>([['ours', ours], ...peers]))
    latencies.set(name, await latencyAt(perSecond, worker))
  const stored = await latencyAt(perSecond, ours, 'publishStored')
  async function bothAtOnce(): Promise<string> {
    const rates: number[] = []
    for (let round = 0; round < effort.rounds; round += 1) {
      const { seconds } = await ours.ask('publishAll', places(effort.deliveries))
      rates.push(effort.deliveries / seconds)
    }
    const rate = median(rates)
    const { p50, p99 } = await latencyAt(Math.floor(rate / 2), ours)
    return `Published and delivered by one process at a time: ${rate.toFixed(0)} per second. At half of that p50 is ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms.\n`
  }
  const both = await bothAtOnce()
  const heap = await heapAfter(ours, places, effort.memoryDeliveries)
  const claims = await claimRates(open, effort)
  const count = effort.deliveries.toLocaleString('en')
  return [
    `### Deliveries per second from a backlog of ${count}, and latency at ${perSecond} published per second, ${database.engine}`,
    '',
    '| | deliveries/s | ours is so many times as fast | CPU µs | publish to socket, p50 ms | p99 ms |',
    '| --- | --- | --- | --- | --- | --- |',
    ...ways.map(({ name }) => row(name, turns, latencies.get(name))),
    '',
    `Of payments that are stored, ${perSecond} snapshots published per second: p50 ${stored.p50.toFixed(1)} ms, p99 ${stored.p99.toFixed(1)} ms.\n`,
    both,
    heap,
    claims,
    '',
  ].join('\n')
}

function row(name: string, turns: ReadonlyMap<string, readonly Turn[]>, latency: Latency | undefined): string {
  const own = turns.get(name) ?? []
  const ratios = (turns.get('ours') ?? []).map((ours, round) => ours.perSecond / (own[round]?.perSecond ?? Number.NaN))
  const cells = [
    median(own.map(({ perSecond }) => perSecond)).toFixed(0),
    name === 'ours' ? '' : median(ratios).toFixed(2),
    median(own.map(({ cpuUs }) => cpuUs)).toFixed(0),
    latency?.p50.toFixed(1) ?? '',
    latency?.p99.toFixed(1) ?? '',
  ]
  return `| ${name} | ${cells.join(' | ')} |`
}

/** Time from the commit of a payment to the receiver's socket, in milliseconds. */
export interface Latency {
  readonly p50: number
  readonly p99: number
}

export function latencyOf(
  committed: readonly { readonly from: number; readonly count: number; readonly atUs: number }[],
  arrivals: readonly (readonly [string, number])[],
): Latency {
  const cameAt = new Map(arrivals)
  const latencies = committed
    .flatMap(({ from, count, atUs }) =>
      // A delivery that arrives before the publisher has the commit's answer counts as 0.
      Array.from(
        { length: count },
        (_, n) => Math.max(0, (cameAt.get(jobAt(from + n).txHash) ?? Number.NaN) - atUs) / 1_000,
      ),
    )
    .toSorted((a, b) => a - b)
  if (latencies.some(Number.isNaN)) throw new Error('A payment that was published did not arrive.')
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

async function heapAfter(ours: Worker<Ours>, places: (count: number) => Places, deliveries: number): Promise<string> {
  const deliver = async (count: number) => {
    const some = places(count)
    await ours.ask('prepare', some)
    await ours.ask('run', some)
    return ours.ask('heapBytes')
  }
  const tenth = Math.ceil(deliveries / 10)
  const early = await deliver(tenth)
  const late = await deliver(deliveries - tenth)
  const mib = (bytes: number) => (bytes / 1_048_576).toFixed(1)
  return `Heap after ${tenth.toLocaleString('en')} more deliveries: ${mib(early)} MiB; after ${deliveries.toLocaleString('en')}: ${mib(late)} MiB.`
}
