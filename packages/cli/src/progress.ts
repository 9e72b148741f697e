/** Shows the progress of chains that catch up, and of counted work. @module */
import type { ServiceEvent } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { Io } from './io.js'
import { formatCount, formatRate, groupDigits, progressLineMs, roundDuration, shortHash } from './output.js'

/** A chain, or one added router, that is behind its target block. */
type CatchUp = ReturnType<typeof toCatchUp>

interface CaughtUp extends Pick<CatchUp, 'chainId' | 'router' | 'indexed'> {
  /** The payments stored during the catch-up; null for a router. */
  readonly payments: number | null
  readonly seconds: number
}

/** Shorter catch-ups, in milliseconds, are not shown: they are normal at the head. */
export const shownAfterMs = 1_000
/** Rates cover this time, in milliseconds: long enough to be steady, short enough to show a change. */
const windowMs = 10_000
const sampleEveryMs = 250
/** A rate over a shorter time, in milliseconds, is not shown. */
const minRateMs = 500

interface Sample {
  readonly at: number
  readonly block: number
  readonly payments: number
}

interface Track {
  readonly chainId: number
  /** An added router, whose earlier blocks are read; null: the whole chain, up to its head. */
  readonly router: string | null
  readonly startedAt: number
  indexed: number
  to: number
  readonly samples: Sample[]
}

/** Follows catch-ups. Times are unix milliseconds. */
export function createProgress() {
  const tracks = new Map<string, Track>()
  /** Payments of each chain since it was last at its head. */
  const payments = new Map<number, number>()
  const countPayments = (chainId: number) => payments.get(chainId) ?? 0

  function advance(chainId: number, router: string | null, indexed: number, to: number, now: number): CaughtUp | null {
    const key = `${chainId} ${router ?? ''}`
    const track: Track = tracks.get(key) ?? { chainId, router, startedAt: now, indexed, to, samples: [] }
    if (indexed < to) {
      track.indexed = indexed
      track.to = to
      addSample(track.samples, { at: now, block: indexed, payments: countPayments(chainId) })
      tracks.set(key, track)
      return null
    }
    const stored = router === null ? countPayments(chainId) : null
    if (router === null) payments.delete(chainId)
    tracks.delete(key)
    const lasted = now - track.startedAt
    return lasted < shownAfterMs ? null : { chainId, router, indexed, payments: stored, seconds: lasted / 1_000 }
  }

  return {
    /** Records an event. @returns The catch-up that the event finished, if it lasted for {@link shownAfterMs}. */
    saw(event: ServiceEvent, now: number): CaughtUp | null {
      switch (event.type) {
        case 'payment.indexed':
        case 'payment.additional':
          payments.set(event.chainId, countPayments(event.chainId) + 1)
          return null
        case 'chain.indexed':
          return advance(event.chainId, null, event.blockNumber, event.head, now)
        case 'chain.backfilled':
          return advance(event.chainId, event.router, event.blockNumber, event.to, now)
        case 'chain.reorganized':
          // Samples from before the reorg have higher blocks, so the rate would be zero.
          tracks.get(`${event.chainId} `)?.samples.splice(0)
          return null
        default:
          return null
      }
    },
    /** The unfinished catch-ups that have lasted for {@link shownAfterMs}, sorted by chain. */
    unfinished: (now: number): readonly CatchUp[] =>
      [...tracks.values()]
        .filter(({ startedAt }) => now - startedAt >= shownAfterMs)
        .sort((a, b) => a.chainId - b.chainId || (a.router ?? '').localeCompare(b.router ?? ''))
        .map((track) => toCatchUp(track, countPayments(track.chainId), now)),
  }
}

function addSample(samples: Sample[], sample: Sample): void {
  const last = samples.at(-1)
  if (last !== undefined && sample.at - last.at < sampleEveryMs) return
  samples.push(sample)
  // Keep one sample before the window, so that a chain without progress has a rate of zero.
  while (samples.length > 1 && (samples[1]?.at ?? sample.at) <= sample.at - windowMs) samples.shift()
}

/**
 * Adds the rates over the last ten seconds; each is null until enough time has passed. A router has no rate of
 * payments: events do not distinguish its payments from those at the head. `secondsLeft` is null while the rate is
 * unknown or zero.
 */
function toCatchUp({ chainId, router, indexed, to, samples }: Track, payments: number, now: number) {
  const first = samples.findLast(({ at }) => at <= now - windowMs) ?? samples[0]
  const ms = first === undefined ? 0 : now - first.at
  const perSecond = (count: number) => (Math.max(0, count) * 1_000) / ms
  const since = ms < minRateMs ? undefined : first
  const rounded = (value: number) => Math.round(value * 100) / 100
  const blocksPerSecond = since === undefined ? null : perSecond(indexed - since.block)
  return {
    chainId,
    router,
    indexed,
    to,
    blocksPerSecond: blocksPerSecond === null ? null : rounded(blocksPerSecond),
    paymentsPerSecond: since === undefined || router !== null ? null : rounded(perSecond(payments - since.payments)),
    secondsLeft: blocksPerSecond ? Math.ceil((to - indexed) / blocksPerSecond) : null,
  }
}

/** `Chain 137: block 1,200,331 of 2,000,000, 1,204 blocks/s, 310 payments/s, 12 min left`. */
export function catchUpLine(catchUp: CatchUp): string {
  const { indexed, to, blocksPerSecond, paymentsPerSecond, secondsLeft } = catchUp
  return [
    `${subject(catchUp)}: block ${groupDigits(indexed)} of ${groupDigits(to)}`,
    ...(blocksPerSecond === null ? [] : [`${formatRate(blocksPerSecond)} blocks/s`]),
    ...(paymentsPerSecond === null ? [] : [`${formatRate(paymentsPerSecond)} payments/s`]),
    ...(secondsLeft === null ? [] : [`${roundDuration(secondsLeft)} left`]),
  ].join(', ')
}

/** `Chain 137 is caught up at block 2,000,000: 50,000 payments in 12 s`. */
export function caughtUpLine(caughtUp: CaughtUp): string {
  const { indexed, payments, seconds } = caughtUp
  const what = payments === null ? 'done' : formatCount(payments, 'payment')
  return `${subject(caughtUp)} is caught up at block ${groupDigits(indexed)}: ${what} in ${roundDuration(seconds)}`
}

function subject({ chainId, router }: Pick<CatchUp, 'chainId' | 'router'>): string {
  return router === null ? `Chain ${chainId}` : `Chain ${chainId}, added router ${shortHash(router)}`
}

/** Time between two updates of a terminal, in milliseconds. */
const updateMs = 250

/**
 * Shows the catch-ups of a server: as status lines on a terminal, else as log lines every ten seconds.
 * With `mayUseTerminal` false, as for `--json`, it always logs. `run` shows catch-ups until the signal aborts.
 */
export function showProgress(parts: {
  readonly io: Pick<Io, 'now' | 'sleep' | 'out' | 'live'>
  readonly logger: Pick<Logger, 'info'>
  readonly mayUseTerminal: boolean
}) {
  const { io, logger, mayUseTerminal } = parts
  const progress = createProgress()
  const live = mayUseTerminal ? io.live : undefined
  return {
    onEvent(event: ServiceEvent) {
      const done = progress.saw(event, io.now())
      if (done === null) return
      const { chainId, indexed, router } = done
      if (live === undefined) logger.info({ chainId, indexed, router: router ?? undefined }, 'Caught up.')
      else io.out(caughtUpLine(done))
    },
    async run(signal: AbortSignal) {
      const everyMs = live === undefined ? progressLineMs : updateMs
      for (;;) {
        await io.sleep(everyMs, signal)
        if (signal.aborted) break
        const catchUps = progress.unfinished(io.now())
        if (live !== undefined) live(catchUps.map(catchUpLine))
        else for (const each of catchUps) logger.info({ ...each, router: each.router ?? undefined }, 'Catching up.')
      }
      live?.([])
    },
  }
}

const barWidth = 24

/** `Replaying [############------------] 50 %, 5,000 of 10,000, 2,500/s, 2 s left`. */
export function countingLine(what: string, { done, total, ms }: Record<'done' | 'total' | 'ms', number>): string {
  const all = Math.max(total, done)
  const share = all === 0 ? 1 : done / all
  const filled = Math.floor(share * barWidth)
  const perSecond = ms > 0 ? (done * 1_000) / ms : 0
  return [
    `${what} [${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}] ${Math.floor(share * 100)} %`,
    `${groupDigits(done)} of ${groupDigits(all)}`,
    ...(perSecond > 0 ? [`${formatRate(perSecond)}/s`, `${roundDuration((all - done) / perSecond)} left`] : []),
  ].join(', ')
}
