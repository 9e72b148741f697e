/** Catch-ups as lines for a person. @module */
import { grouped, rate, span } from '../output/figures.js'
import { shortHash } from '../output/short-hash.js'
import type { CatchUp, CaughtUp } from './create-progress.js'

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
