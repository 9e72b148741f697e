/** A bar for work that is counted: how much of it is done, how fast, and what is left. @module */
import { grouped, rate, span } from '../format.js'
import type { Io } from '../io.js'
import { progressEveryMs } from './show-progress.js'

/** Where and what is shown. */
export interface CountingDisplay {
  readonly io: Pick<Io, 'now' | 'out' | 'live'>
  /** With `--json` nothing is shown: its events tell. */
  readonly json: boolean
  /** How many there are in all; more may come. */
  readonly total: number
}

/** A bar under way. */
export interface Counting {
  /** So many are done. */
  reached(done: number): void
  /** Takes the bar away. */
  end(): void
}

const barWidth = 24

/** Begins a bar: kept up to date on a terminal; a line every ten seconds where nobody watches one. */
export function showCounting(what: string, { io, json, total }: CountingDisplay): Counting {
  const startedAt = io.now()
  let toldAt = startedAt
  return {
    reached(done) {
      if (json) return
      const now = io.now()
      const line = countingLine(what, { done, total, ms: now - startedAt })
      if (io.live !== undefined) return io.live([line])
      if (now - toldAt < progressEveryMs.log) return
      toldAt = now
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
