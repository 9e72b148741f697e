/** Detects whether timing reveals the kind of input: Welch's t over interleaved, cropped samples. */
import { createDraws, type Draws } from '../../../../tools/simulation/random.js'

/** The action for each kind of input, by name. */
export type Kinds = Readonly<Record<string, () => Promise<unknown>>>

/**
 * Kinds on a subject that each round opens anew, such as a process, so that one compilation does not affect the next
 * round.
 */
export type OpenKinds = () => Promise<{ readonly kinds: Kinds; close(): Promise<void> }>

/** Two kinds whose times differ, the slower one first. */
export interface Difference {
  readonly slower: string
  readonly faster: string
  /** Welch's t of the difference beyond the tolerated one. */
  readonly t: number
  /** Difference of the means, in microseconds. */
  readonly microseconds: number
}

export interface TimingOptions {
  readonly seed: number
  /** Samples of each kind in a round. */
  readonly samples: number
  /** The tolerated difference, as a share of the mean over all kinds. @default 0 */
  readonly tolerated?: number
}

/** Above this, chance is no explanation (the usual bound of leakage tests). */
const significant = 4.5
/** Share of the samples that count, the fastest ones: pauses of the machine are noise. */
const countedShare = 0.8
const rounds = 3

/**
 * The pairs of kinds that differ in each of three rounds, in the same direction. A round is measured only while the
 * ones before it leave a pair. Kinds take turns in random order, so that a drift of the machine hits all of them.
 */
export async function differences(kinds: Kinds | OpenKinds, options: TimingOptions): Promise<Difference[]> {
  const { samples, tolerated = 0 } = options
  const draws = createDraws(options.seed)
  const warmUp = (each: Kinds) => measure(each, Math.ceil(samples / 4), draws)
  async function round(): Promise<Difference[]> {
    if (typeof kinds !== 'function') return compare(await measure(kinds, samples, draws), tolerated)
    const opened = await kinds()
    try {
      await warmUp(opened.kinds)
      return compare(await measure(opened.kinds, samples, draws), tolerated)
    } finally {
      await opened.close()
    }
  }
  if (typeof kinds !== 'function') await warmUp(kinds)
  let found = await round()
  for (let again = 1; again < rounds && found.length > 0; again++) {
    const before = found
    found = (await round()).filter(({ slower, faster }) =>
      before.some((each) => each.slower === slower && each.faster === faster),
    )
  }
  return found
}

/**
 * The smallest significant difference between two kinds, as a share of their mean, measured on two equal kinds. A busy
 * machine makes it large.
 */
export async function noise(run: () => Promise<unknown>, { samples, seed }: TimingOptions): Promise<number> {
  const times = await measure({ one: run, other: run }, samples, createDraws(seed))
  const [one, other] = [...times.values()].map((each) => describe(fastest(each)))
  if (one === undefined || other === undefined) throw new RangeError('Nothing was measured.')
  return (significant * Math.sqrt(one.variance / one.count + other.variance / other.count)) / one.mean
}

function fastest(times: readonly number[]): number[] {
  return times.toSorted((a, b) => a - b).slice(0, Math.ceil(times.length * countedShare))
}

async function measure(kinds: Kinds, samples: number, draws: Draws): Promise<Map<string, number[]>> {
  const entries = Object.entries(kinds)
  const times = new Map(entries.map(([name]) => [name, [] as number[]]))
  for (let sample = 0; sample < samples; sample++)
    for (const [name, run] of draws.shuffled(entries)) {
      const startedAt = process.hrtime.bigint()
      await run()
      times.get(name)?.push(Number(process.hrtime.bigint() - startedAt) / 1_000)
    }
  return times
}

function compare(times: ReadonlyMap<string, readonly number[]>, tolerated: number): Difference[] {
  const all = [...times.values()].flat().sort((a, b) => a - b)
  // One bound for all kinds: the rest is still a fair sample of each when they do not differ.
  const longest = all[Math.floor(all.length * countedShare)] ?? Number.POSITIVE_INFINITY
  const statistics = [...times].map(([name, each]) => ({ name, ...describe(each.filter((time) => time <= longest)) }))
  const margin = tolerated * (statistics.reduce((sum, { mean }) => sum + mean, 0) / statistics.length)
  return statistics.flatMap((slow) =>
    statistics.flatMap((fast) => {
      const microseconds = slow.mean - fast.mean
      const t = (microseconds - margin) / Math.sqrt(slow.variance / slow.count + fast.variance / fast.count)
      return t > significant ? [{ slower: slow.name, faster: fast.name, t, microseconds }] : []
    }),
  )
}

function describe(times: readonly number[]): { count: number; mean: number; variance: number } {
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  const squares = times.reduce((sum, time) => sum + (time - mean) ** 2, 0)
  return { count: times.length, mean, variance: squares / (times.length - 1) }
}
