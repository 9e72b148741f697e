/**
 * Runs jobs one after the other: the users of one connection take turns, however many stores were made on it.
 * @module
 */
import { EffectReentrantError } from '../errors.js'

/** A line of jobs. A failed job does not hold up the next. */
interface Queue {
  /**
   * Runs a job in its turn.
   * @param giveUp - Called when other jobs are ahead. It resolves to an error when the job has waited long enough: the
   * job leaves the queue, never runs, and its caller gets the error. Its signal aborts when the job's turn comes.
   */
  run<Result>(job: () => Promise<Result>, giveUp?: (turn: AbortSignal) => Promise<unknown>): Promise<Result>
  /** How many jobs run or wait. */
  readonly size: number
}

export function createQueue(): Queue {
  const waiting = new Set<() => void>()
  let running = 0
  const next = () => {
    const [start] = waiting
    if (start === undefined) return
    waiting.delete(start)
    running = 1
    start()
  }

  return {
    run(job, giveUp) {
      // Made only for a job that waits: making one, and aborting it, costs more than the rest of the line.
      let turn: AbortController | undefined
      return new Promise((resolve, reject) => {
        // The line is shorter before the caller hears of it, so that a caller may ask whether it is empty.
        const end = (settle: () => void) => {
          running = 0
          settle()
          next()
        }
        const start = () => {
          turn?.abort()
          job().then(
            (result) => end(() => resolve(result)),
            (error: unknown) => end(() => reject(error)),
          )
        }
        const leave = (reason: unknown) => {
          if (waiting.delete(start)) reject(reason)
        }
        const alone = running + waiting.size === 0
        waiting.add(start)
        // Never in the caller's own turn: a job may call back into what called `run`.
        if (alone) queueMicrotask(next)
        else if (giveUp) {
          turn = new AbortController()
          giveUp(turn.signal).then(leave, leave)
        }
      })
    },
    get size() {
      return running + waiting.size
    },
  }
}

/** Lines by name, such as one for each payment. A line that is empty is forgotten. */
interface Queues {
  /** As {@link Queue.run}, in the line of that name. */
  run<Result>(
    name: string,
    job: () => Promise<Result>,
    giveUp?: (turn: AbortSignal) => Promise<unknown>,
  ): Promise<Result>
  /** How many lines there are. */
  readonly size: number
}

/** Makes lines, none of them begun. */
export function createQueues(): Queues {
  const queues = new Map<string, Queue>()
  return {
    async run(name, job, giveUp) {
      const queue = queues.get(name) ?? createQueue()
      queues.set(name, queue)
      try {
        return await queue.run(job, giveUp)
      } finally {
        if (queue.size === 0) queues.delete(name)
      }
    },
    get size() {
      return queues.size
    },
  }
}

/** Notices an effect that calls its own store, if it calls before its first await, where such calls are made. */
interface ReentryGuard {
  /** @throws {@link EffectReentrantError} `ERR_EFFECT_REENTRANT` inside an effect. */
  check(): void
  /** Starts an effect. */
  start(effect: () => void | Promise<void>): void | Promise<void>
}

/** Makes a guard for one store, or for all stores of one connection. */
export function createReentryGuard(): ReentryGuard {
  let inside = false
  return {
    check() {
      if (inside) throw new EffectReentrantError()
    },
    start(effect) {
      inside = true
      try {
        return effect()
      } finally {
        inside = false
      }
    },
  }
}

/** A line in front of a connection, and the guard against an effect that would wait for itself. */
interface Line {
  readonly queue: Queue
  /** Of a pool: a line for each payment, so that its copies take one connection. */
  readonly payments: Queues
  readonly guard: ReentryGuard
}

const lines = new WeakMap<object, Line>()

/** The line of a connection, a pool or a transaction. */
export function getLine(holder: object): Line {
  const line = lines.get(holder) ?? { queue: createQueue(), payments: createQueues(), guard: createReentryGuard() }
  lines.set(holder, line)
  return line
}
