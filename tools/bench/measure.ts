/** Times several ways of one thing side by side. @module */
import { Bench } from 'tinybench'

/** A way to do the measured thing. */
export interface Way {
  readonly name: string
  run(): unknown
}

/** Result of a way. */
export interface Measured {
  readonly name: string
  /** Median time of one run, in microseconds. */
  readonly medianUs: number
  /** 99th percentile, in microseconds. */
  readonly p99Us: number
  /** Median relative to the first way. */
  readonly ratio: number
}

/** How long to measure. */
export interface Effort {
  /** The ways take turns this many times, so that a slow moment of the machine affects all. */
  readonly rounds: number
  /** Time per way and round, in milliseconds. */
  readonly roundMs: number
  /** Least number of runs per way and round. */
  readonly iterations: number
}

/**
 * Runs the ways in turns and takes the median over the rounds.
 * @throws The error of a way that fails.
 */
export async function sideBySide(ways: readonly Way[], effort: Effort): Promise<Measured[]> {
  const medians = new Map<string, number[]>(ways.map(({ name }) => [name, []]))
  const tails = new Map<string, number[]>(ways.map(({ name }) => [name, []]))
  for (let round = 0; round < effort.rounds; round += 1) {
    const bench = new Bench({ time: effort.roundMs, iterations: effort.iterations, warmupIterations: 3, throws: true })
    for (const { name, run } of ways) bench.add(name, run)
    for (const task of await bench.run()) {
      if (task.result.state !== 'completed') throw new Error(`${task.name} was not measured: ${task.result.state}`)
      medians.get(task.name)?.push(task.result.latency.p50 * 1_000)
      tails.get(task.name)?.push(task.result.latency.p99 * 1_000)
    }
  }
  const floor = median(medians.get(ways[0]?.name ?? '') ?? [])
  return ways.map(({ name }) => {
    const medianUs = median(medians.get(name) ?? [])
    return { name, medianUs, p99Us: median(tails.get(name) ?? []), ratio: medianUs / floor }
  })
}

/** The median, or NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The figures as a Markdown table. */
export function table(title: string, rows: readonly Measured[]): string {
  const lines = rows.map(
    ({ name, medianUs, p99Us, ratio }) =>
      `| ${name} | ${medianUs.toFixed(1)} | ${p99Us.toFixed(1)} | ${ratio.toFixed(2)} |`,
  )
  return [`### ${title}`, '', '| | median µs | p99 µs | ratio |', '| --- | --- | --- | --- |', ...lines, ''].join('\n')
}
