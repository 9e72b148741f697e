/** Makes the users of one connection take turns, however many stores were made on it. @module */
import { createQueue, createQueues, createReentryGuard, type Queue, type Queues, type ReentryGuard } from './queue.js'

/** A line in front of a connection, and the guard against an effect that would wait for itself. */
export interface Line {
  readonly queue: Queue
  /** Of a pool: a line for each payment, so that its copies take one connection. */
  readonly payments: Queues
  readonly guard: ReentryGuard
}

const lines = new WeakMap<object, Line>()

/** The line of a connection, a pool or a transaction. */
export function lineOf(holder: object): Line {
  const line = lines.get(holder) ?? { queue: createQueue(), payments: createQueues(), guard: createReentryGuard() }
  lines.set(holder, line)
  return line
}
