/** Follows how far chains behind their head have come, from service events. @module */
import type { ServiceEvent } from '@payment-integration/core'
import { grouped, rate, shortHash, span } from '../format.js'

/** One catch-up under way. */
export interface CatchUp {
  readonly chainId: number
  /** The router that is read for the blocks before it was added; null: all of the chain, up to its head. */
  readonly router: string | null
  readonly indexed: number
  readonly to: number
  /** Over the last seconds; null while it is too early to say. */
  readonly blocksPerSecond: number | null
  /** Null for one router, too: its payments are not told apart from those of the head. */
  readonly paymentsPerSecond: number | null
  /** Null while the rate is not known, or nothing moves. */
  readonly secondsLeft: number | null
}

/** A catch-up that ended. */
export interface CaughtUp {
  readonly chainId: number
  readonly router: string | null
  readonly indexed: number
  /** Payments stored on the way; null for one router. */
  readonly payments: number | null
  readonly seconds: number
}

/** Follows catch-ups. Times are unix milliseconds. */
export interface Progress {
  /** Takes an event. @returns The catch-up that it ended, unless that took no time to speak of. */
  saw(event: ServiceEvent, now: number): CaughtUp | null
  /** The catch-ups under way that have lasted for {@link shownAfterMs}, by chain. */
  underWay(now: number): readonly CatchUp[]
}

/** Shorter catch-ups are everyday life at the head. */
export const shownAfterMs = 1_000
/** Rates are those of this time before now: long enough to be steady, short enough to show a change. */
const windowMs = 10_000
/** Time between two remembered places. */
const sampleMs = 250
/** Rates over less time say nothing. */
const earliestRateMs = 500

interface Sample {
  readonly at: number
  readonly block: number
  readonly payments: number
}

interface Track {
  readonly chainId: number
  readonly router: string | null
  readonly startedAt: number
  indexed: number
  to: number
  readonly samples: Sample[]
}

/** Builds it, knowing of no catch-up. */
export function createProgress(): Progress {
  const tracks = new Map<string, Track>()
  /** Payments by chain since it was last at its head. */
  const payments = new Map<number, number>()
  const paymentsOf = (chainId: number) => payments.get(chainId) ?? 0

  function moved(chainId: number, router: string | null, indexed: number, to: number, now: number): CaughtUp | null {
    const key = `${chainId} ${router ?? ''}`
    const track: Track = tracks.get(key) ?? { chainId, router, startedAt: now, indexed, to, samples: [] }
    if (indexed < to) {
      track.indexed = indexed
      track.to = to
      note(track.samples, { at: now, block: indexed, payments: paymentsOf(chainId) })
      tracks.set(key, track)
      return null
    }
    const stored = router === null ? paymentsOf(chainId) : null
    if (router === null) payments.delete(chainId)
    tracks.delete(key)
    const lasted = now - track.startedAt
    return lasted < shownAfterMs ? null : { chainId, router, indexed, payments: stored, seconds: lasted / 1_000 }
  }

  return {
    saw(event, now) {
      switch (event.type) {
        case 'payment.indexed':
        case 'payment.additional':
          payments.set(event.chainId, paymentsOf(event.chainId) + 1)
          return null
        case 'chain.indexed':
          return moved(event.chainId, null, event.blockNumber, event.head, now)
        case 'chain.backfilled':
          return moved(event.chainId, event.router, event.blockNumber, event.to, now)
        case 'chain.reorganised': {
          // A rate over a step back would be below zero.
          tracks.get(`${event.chainId} `)?.samples.splice(0)
          return null
        }
        default:
          return null
      }
    },
    underWay: (now) =>
      [...tracks.values()]
        .filter(({ startedAt }) => now - startedAt >= shownAfterMs)
        .sort((a, b) => a.chainId - b.chainId || (a.router ?? '').localeCompare(b.router ?? ''))
        .map((track) => catchUpOf(track, paymentsOf(track.chainId), now)),
  }
}

function note(samples: Sample[], sample: Sample): void {
  const last = samples.at(-1)
  if (last !== undefined && sample.at - last.at < sampleMs) return
  samples.push(sample)
  // The newest one before the window stays: a chain that stands still has a rate, too.
  while (samples.length > 1 && (samples[1]?.at ?? sample.at) <= sample.at - windowMs) samples.shift()
}

function catchUpOf({ chainId, router, indexed, to, samples }: Track, payments: number, now: number): CatchUp {
  const first = samples.findLast(({ at }) => at <= now - windowMs) ?? samples[0]
  const ms = first === undefined ? 0 : now - first.at
  const perSecond = (count: number) => (Math.max(0, count) * 1_000) / ms
  const since = ms < earliestRateMs ? undefined : first
  const blocksPerSecond = since === undefined ? null : perSecond(indexed - since.block)
  return {
    chainId,
    router,
    indexed,
    to,
    blocksPerSecond,
    paymentsPerSecond: since === undefined || router !== null ? null : perSecond(payments - since.payments),
    secondsLeft: blocksPerSecond ? (to - indexed) / blocksPerSecond : null,
  }
}

/** `Chain 137: block 1,200,331 of 2,000,000, 1,204 blocks/s, 310 payments/s, 12 min left`. */
export function catchUpLine(catchUp: CatchUp): string {
  const { indexed, to, blocksPerSecond, paymentsPerSecond, secondsLeft } = catchUp
  return [
    `${subject(catchUp)}: block ${grouped(indexed)} of ${grouped(to)}`,
    ...(blocksPerSecond === null ? [] : [`${rate(blocksPerSecond)} blocks/s`]),
    ...(paymentsPerSecond === null ? [] : [`${rate(paymentsPerSecond)} payments/s`]),
    ...(secondsLeft === null ? [] : [`${span(secondsLeft)} left`]),
  ].join(', ')
}

/** `Chain 137 is caught up at block 2,000,000: 50,000 payments in 12 s`. */
export function caughtUpLine(caughtUp: CaughtUp): string {
  const { indexed, payments, seconds } = caughtUp
  const what = payments === null ? 'done' : `${grouped(payments)} ${payments === 1 ? 'payment' : 'payments'}`
  return `${subject(caughtUp)} is caught up at block ${grouped(indexed)}: ${what} in ${span(seconds)}`
}

function subject({ chainId, router }: Pick<CatchUp, 'chainId' | 'router'>): string {
  return router === null ? `Chain ${chainId}` : `Chain ${chainId}, added router ${shortHash(router)}`
}
