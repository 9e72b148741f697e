/** Shows a progress bar: share done, rate, time left. @module */
import { grouped, rate, span } from '../format.js'
import type { Io } from '../io.js'
import { progressEveryMs } from './show-progress.js'

/** Output and total of a bar. */
export interface CountingDisplay {
  readonly io: Pick<Io, 'now' | 'out' | 'live'>
  /** With `--json` no bar is shown: the events report progress. */
  readonly json: boolean
  /** Number of items at the start; it may grow. */
  readonly total: number
}

/** A bar on the screen. */
export interface Counting {
  /** Shows the number of items done. */
  reached(done: number): void
  /** Removes the bar. */
  end(): void
}

const barWidth = 24

/** Starts a bar: one line of a terminal, or without a terminal a new line every ten seconds. */
export function showCounting(what: string, { io, json, total }: CountingDisplay): Counting {
  const startedAt = io.now()
  let printedAt = startedAt
  return {
    reached(done) {
      if (json) return
      const now = io.now()
      const line = countingLine(what, { done, total, ms: now - startedAt })
      if (io.live !== undefined) return io.live([line])
      if (now - printedAt < progressEveryMs.log) return
      printedAt = now
      io.out(line)
    },
    end: () => io.live?.([]),
  }
}

/** `Replaying [############------------] 50 %, 5,000 of 10,000, 2,500/s, 2 s left`. */
export function countingLine(
  what: string,
  { done, total, ms }: { readonly done: number; readonly total: number; readonly ms: number },
): string {
  const all = Math.max(total, done)
  const share = all === 0 ? 1 : done / all
  const filled = Math.floor(share * barWidth)
  const perSecond = ms > 0 ? (done * 1_000) / ms : 0
  return [
    `${what} [${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${Math.floor(share * 100)} %`,
    `${grouped(done)} of ${grouped(all)}`,
    ...(perSecond > 0 ? [`${rate(perSecond)}/s`, `${span((all - done) / perSecond)} left`] : []),
  ].join(', ')
}
