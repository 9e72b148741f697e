/** Probes around the ports and inside the PostgreSQL driver; they only cross points. @module */
import type { Sender, Store } from '@payment-integration/core/ports'
import pg from 'pg'
import type { Point } from './death.js'

type Cross = (point: Point) => void

/** Time after which a POST counts as in flight, in milliseconds: its bytes are sent by then. */
const inFlightMs = 3

/** Crosses points before and after claims and settles. */
export function probeStore(store: Store, cross: Cross): Store {
  const { deliveries } = store
  return {
    ...store,
    deliveries: {
      ...deliveries,
      async claim(request) {
        cross('before claim')
        const claims = await deliveries.claim(request)
        if (claims.length > 0) cross('after claim')
        return claims
      },
      async settle(settled, judge) {
        cross('before settle')
        const done = await deliveries.settle(settled, judge)
        cross('after settle')
        return done
      },
    },
  }
}

/** Crosses points before, during and after POSTs, and divides their budget by the clock's speed. */
export function probeSender(sender: Sender, cross: Cross, speed: number): Sender {
  return {
    async post(post) {
      cross('before post')
      const timer = setTimeout(() => cross('post in flight'), inFlightMs)
      const result = await sender.post({ ...post, timeoutMs: Math.ceil(post.timeoutMs / speed) })
      clearTimeout(timer)
      cross('after post')
      return result
    },
  }
}

type QueryArguments = [query: string | { readonly text?: string }, ...rest: unknown[]]

/** Crosses points on every connection to PostgreSQL. A commit is also crossed between its sending and its answer. */
export function probePostgres(cross: Cross): void {
  const prototype = pg.Client.prototype as unknown as { query: (...input: QueryArguments) => unknown }
  const { query } = prototype
  prototype.query = function (...input) {
    const [first, ...rest] = input
    const text = typeof first === 'string' ? first : (first.text ?? '')
    const isCommit = text === 'commit'
    cross(isCommit ? 'before commit' : 'statement')
    const done = rest.at(-1)
    if (typeof done === 'function')
      rest[rest.length - 1] = (...answer: unknown[]) => {
        if (isCommit) cross('after commit')
        if (text.startsWith('begin')) cross('transaction begun')
        done(...answer)
      }
    const running = query.call(this, first, ...rest)
    if (isCommit) cross('commit sent')
    return running
  }
}
