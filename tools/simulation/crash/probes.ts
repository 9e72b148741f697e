/** Kills or freezes a service process at a planned point. @module */
import { writeSync } from 'node:fs'
import type { Sender, Store } from '@payment-integration/core/ports'
import pg from 'pg'

/** Points that a service process crosses; the driver's points are inside SQLite or PostgreSQL. */
export const points = [
  'transaction begun',
  'statement',
  'before commit',
  'commit sent',
  'after commit',
  'before claim',
  'after claim',
  'before post',
  'post in flight',
  'after post',
  'before settle',
  'after settle',
  'update applied',
  'event',
  'head read',
] as const
export type Point = (typeof points)[number]

/** The planned kill or freeze of a process. */
export interface Death {
  readonly point: Point
  /** At which crossing, from 1. */
  readonly nth: number
  /** Crossings before this time after the start, in milliseconds, do not count. */
  readonly afterMs: number
  /** `SIGSTOP` freezes the process until its parent thaws it. */
  readonly signal: 'SIGKILL' | 'SIGSTOP'
}

/** Writes a line to the parent, synchronously. */
export function writeLine(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}

/** Records the crossings of a process. */
export interface Crossing {
  /** Records a crossing. At the planned crossing the process gets its signal before this returns. */
  cross(point: Point): void
  /** Makes the next crossing of any point the planned one, because the planned point may never come. */
  hasten(): void
}

export function createCrossing(death: Death | null): Crossing {
  const startedAt = performance.now()
  let remaining = death?.nth ?? 0
  let isHastened = false
  return {
    cross(point) {
      if (death === null) return
      if (!isHastened) {
        if (point !== death.point || performance.now() - startedAt < death.afterMs) return
        remaining -= 1
        if (remaining !== 0) return
      }
      writeLine({ type: death.signal === 'SIGKILL' ? 'dying' : 'frozen', point })
      process.kill(process.pid, death.signal)
    },
    hasten() {
      isHastened = true
    },
  }
}

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
      // An idle dispatcher asks for the next due time and claims nothing: without this point it would cross none.
      msUntilDue() {
        cross('before claim')
        return deliveries.msUntilDue()
      },
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
