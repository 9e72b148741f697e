/** Shows the progress of catch-ups while a server runs. @module */
import type { ServiceEvent } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { Io } from '../io.js'
import { type CatchUp, catchUpLine, caughtUpLine, createProgress } from './catch-up.js'

/** Time between two updates of a terminal, and between two log lines, in milliseconds. */
export const progressEveryMs = { live: 250, log: 10_000 } as const

/** Outputs of the progress. */
export interface ProgressDisplay {
  readonly io: Pick<Io, 'now' | 'sleep' | 'out' | 'live'>
  readonly logger: Pick<Logger, 'info'>
  /** False logs instead, as for `--json`. */
  readonly mayUseTerminal: boolean
}

/** Receives the events of a server and shows progress. */
export interface ShownProgress {
  onEvent(event: ServiceEvent): void
  /** Shows unfinished catch-ups until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** Creates a display: status lines of a terminal, or without a terminal log lines every ten seconds. */
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
        const catchUps = progress.unfinished(io.now())
        if (live !== undefined) live(catchUps.map(catchUpLine))
        else for (const each of catchUps) logger.info(loggedFields(each), 'Catching up.')
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
