/** Shows catch-ups while a server runs. @module */
import type { Logger, ServiceEvent } from '@payment-integration/core'
import type { Io } from '../io.js'
import { type CatchUp, catchUpLine, caughtUpLine, createProgress } from './catch-up.js'

/** Time between two looks on a terminal, and between two lines of the log, in milliseconds. */
export const progressEveryMs = { live: 250, log: 10_000 } as const

/** Where it is shown. */
export interface ProgressDisplay {
  readonly io: Pick<Io, 'now' | 'sleep' | 'out' | 'live'>
  readonly logger: Pick<Logger, 'info'>
  /** False keeps the terminal free, as for `--json`. */
  readonly mayUseTerminal: boolean
}

/** What the events of a server are told to. */
export interface ShownProgress {
  onEvent(event: ServiceEvent): void
  /** Shows what is under way until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** Builds a display: lines on the terminal that stay up to date, or lines in the log every ten seconds where nobody watches one. */
export function showProgress({ io, logger, mayUseTerminal }: ProgressDisplay): ShownProgress {
  const progress = createProgress()
  const live = mayUseTerminal ? io.live : undefined
  return {
    onEvent(event) {
      const done = progress.saw(event, io.now())
      if (done === null) return
      const { chainId, indexed } = done
      if (live === undefined) logger.info({ chainId, indexed, ...named(done) }, 'Caught up.')
      else io.out(caughtUpLine(done))
    },
    async run(signal) {
      const everyMs = live === undefined ? progressEveryMs.log : progressEveryMs.live
      for (;;) {
        await io.sleep(everyMs, signal)
        if (signal.aborted) break
        const underWay = progress.underWay(io.now())
        if (live !== undefined) live(underWay.map(catchUpLine))
        else for (const each of underWay) logger.info(loggedFields(each), 'Catching up.')
      }
      live?.([])
    },
  }
}

function loggedFields({ chainId, indexed, to, blocksPerSecond, paymentsPerSecond, secondsLeft, router }: CatchUp) {
  const rounded = (value: number | null) => (value === null ? null : Math.round(value * 100) / 100)
  return {
    chainId,
    ...named({ router }),
    indexed,
    to,
    blocksPerSecond: rounded(blocksPerSecond),
    paymentsPerSecond: rounded(paymentsPerSecond),
    secondsLeft: secondsLeft === null ? null : Math.ceil(secondsLeft),
  }
}

const named = ({ router }: Pick<CatchUp, 'router'>) => (router === null ? {} : { router })
