/** Publishes at a steady rate. @module */
import { setTimeout as wait } from 'node:timers/promises'
import { steadyUs } from './worker.js'

/** How often a block is committed, in milliseconds. */
const everyMs = 10

/** The jobs to publish, and the rate. */
export interface Pace {
  /** Number of the first job. */
  readonly from: number
  readonly perSecond: number
  readonly seconds: number
}

/** Commit times of the jobs, on the steady clock. */
export interface Committed {
  readonly from: number
  readonly count: number
  readonly atUs: number
}

/** Commits a part every 10 ms at the given rate; slower commits follow each other. */
export async function publishAt(
  { from, perSecond, seconds }: Pace,
  commit: (places: { readonly from: number; readonly count: number }) => Promise<unknown>,
): Promise<Committed[]> {
  const committed: Committed[] = []
  const begun = performance.now()
  const total = Math.round(perSecond * seconds)
  for (let done = 0; done < total; ) {
    const dueMs = performance.now() - begun
    const count = Math.min(total, Math.ceil((dueMs / 1_000) * perSecond)) - done
    if (count > 0) {
      await commit({ from: from + done, count })
      committed.push({ from: from + done, count, atUs: steadyUs() })
      done += count
    }
    await wait(Math.max(1, everyMs - ((performance.now() - begun) % everyMs)))
  }
  return committed
}
