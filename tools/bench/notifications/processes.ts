/** Measures deliveries to receivers that take their time, by one process and by several on one database. @module */
import { loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { median } from '../measure.js'
import type { BenchDatabase } from '../read-api/database.js'
import { latencyOf } from './bench.js'
import { buildScripts } from './build.js'
import type { Floor } from './floor.js'
import type { Ours } from './ours.js'
import type { Receiver } from './receiver.js'
import { startWorker, type Worker } from './worker.js'

/** How much to measure. */
export interface ProcessesEffort {
  /** Times that receivers take, in milliseconds. */
  readonly delays: readonly number[]
  /** Numbers of processes. The first is 1. */
  readonly processes: readonly number[]
  /** POSTs at once of each process and of the floor. */
  readonly connections: number
  readonly deliveries: number
  readonly rounds: number
  /** How long to publish payments at half the rate, in seconds. */
  readonly paceSeconds: number
}

interface Parts {
  readonly receiver: Worker<Receiver>
  readonly floor: Worker<Floor>
  readonly all: readonly Worker<Ours>[]
}

/** Opens a database for each delay, measures on it, and returns Markdown. */
export async function benchProcesses(open: () => Promise<BenchDatabase>, effort: ProcessesEffort): Promise<string> {
  const built = await buildScripts()
  const rows: string[] = []
  try {
    for (const delayMs of effort.delays) {
      const database = await open()
      const receiver = startWorker<Receiver>(built.pathOf('receiver'), String(delayMs))
      const stops = [receiver.stop]
      try {
        const url = await receiver.ask('url')
        const posts = String(effort.connections)
        const floor = startWorker<Floor>(built.pathOf('floor'), url, posts)
        const all = Array.from({ length: Math.max(...effort.processes) }, () =>
          startWorker<Ours>(built.pathOf('ours'), database.url, url, posts),
        )
        stops.push(floor.stop, ...all.map((worker) => worker.stop))
        await all[0]?.ask('open')
        rows.push(...(await measure({ receiver, floor, all }, delayMs, effort)))
      } finally {
        for (const stop of stops) await stop()
        await database.remove()
      }
    }
  } finally {
    await built.remove()
  }
  const { deliveries, connections, rounds } = effort
  return [
    '### Deliveries by several processes to slow receivers, PostgreSQL',
    '',
    `Backlogs of ${deliveries.toLocaleString('en')}, ${connections.toLocaleString('en')} connections a process and of the floor, ${rounds} rounds; load ${loadavg()[0]?.toFixed(1)}.`,
    '',
    '| receivers take, ms | processes | deliveries/s together | against one process | of the floor | commit to socket at half the rate, p50 ms | p99 ms |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

async function measure(parts: Parts, delayMs: number, effort: ProcessesEffort): Promise<string[]> {
  const { receiver, floor, all } = parts
  const { deliveries, processes, rounds, paceSeconds } = effort
  let next = 0
  const places = (count: number) => {
    next += count
    return { from: next - count, count }
  }
  async function floorRate(): Promise<number> {
    const { seconds } = await floor.ask('run', places(deliveries))
    return deliveries / seconds
  }
  async function rateOf(workers: readonly Worker<Ours>[]): Promise<number> {
    await workers[0]?.ask('prepare', places(deliveries))
    await receiver.ask('take')
    const begun = performance.now()
    for (const worker of workers) await worker.ask('start')
    while ((await receiver.ask('count')) < deliveries) await wait(5)
    const seconds = (performance.now() - begun) / 1_000
    await Promise.all(workers.map((worker) => worker.ask('halt')))
    const { count } = await receiver.ask('take')
    if (count !== deliveries) throw new Error(`${count} POSTs arrived for ${deliveries} deliveries.`)
    return deliveries / seconds
  }
  await floorRate()
  await rateOf(all)
  const floors: number[] = []
  const rates = new Map<number, number[]>(processes.map((count) => [count, []]))
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await floorRate())
    for (const count of processes) rates.get(count)?.push(await rateOf(all.slice(0, count)))
  }
  const perSecond = Math.floor(median(rates.get(1) ?? []) / 2)
  const pace = { ...places(Math.round(perSecond * paceSeconds)), perSecond, seconds: paceSeconds }
  await receiver.ask('take')
  const committed = await all[0]?.ask('publish', pace)
  const { p50, p99 } = latencyOf(committed ?? [], (await receiver.ask('take')).arrivals)
  const ratios = (to: readonly number[], of: readonly number[]) =>
    median(of.map((rate, round) => rate / (to[round] ?? Number.NaN))).toFixed(2)
  const rows = processes.map((count) => {
    const own = rates.get(count) ?? []
    const latency = count === 1 ? [p50.toFixed(1), p99.toFixed(1)] : ['', '']
    const cells = [median(own).toFixed(0), ratios(rates.get(1) ?? [], own), ratios(floors, own), ...latency]
    return `| ${[delayMs, count, ...cells].join(' | ')} |`
  })
  return [`| ${[delayMs, 'floor', median(floors).toFixed(0), '', '1.00', '', ''].join(' | ')} |`, ...rows]
}
