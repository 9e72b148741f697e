/** Queues jobs, so that all stores of one connection take turns. @module */
import { EffectReentrantError } from '../errors.js'

/** Runs jobs one after the other. A failed job does not stop the next. */
interface Queue {
  /**
   * Runs a job in its turn.
   * @param waitForTimeout - Called when other jobs are ahead, with a signal that aborts at the job's turn. If it
   * settles earlier, the job leaves the queue and rejects with that error.
   */
  run<Result>(job: () => Promise<Result>, waitForTimeout?: (turn: AbortSignal) => Promise<unknown>): Promise<Result>
  /** The number of jobs that run or wait. */
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
    run(job, waitForTimeout) {
      // Made only for a job that waits, because it costs more than the rest of the queue.
      let turn: AbortController | undefined
      return new Promise((resolve, reject) => {
        // Frees the queue before the job settles, so that its caller may check whether the queue is empty.
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
        // Never starts a job synchronously: it may call back into the caller of `run`.
        if (alone) queueMicrotask(next)
        else if (waitForTimeout) {
          turn = new AbortController()
          waitForTimeout(turn.signal).then(leave, leave)
        }
      })
    },
    get size() {
      return running + waiting.size
    },
  }
}

/** Queues by name, such as one for each payment. Empty ones are dropped. */
interface Queues {
  /** As {@link Queue.run}, in the queue of that name. */
  run<Result>(
    name: string,
    job: () => Promise<Result>,
    waitForTimeout?: (turn: AbortSignal) => Promise<unknown>,
  ): Promise<Result>
  /** The number of queues. */
  readonly size: number
}

export function createQueues(): Queues {
  const queues = new Map<string, Queue>()
  return {
    async run(name, job, waitForTimeout) {
      const queue = queues.get(name) ?? createQueue()
      queues.set(name, queue)
      try {
        return await queue.run(job, waitForTimeout)
      } finally {
        if (queue.size === 0) queues.delete(name)
      }
    },
    get size() {
      return queues.size
    },
  }
}

/** Detects an effect that calls its own store before its first await. */
interface ReentryGuard {
  /** @throws {@link EffectReentrantError} `ERR_EFFECT_REENTRANT` inside an effect. */
  check(): void
  /** Starts an effect. */
  start(effect: () => void | Promise<void>): void | Promise<void>
}

/** For one store, or for all stores of one connection. */
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

/** The queues of a connection, pool or transaction, and the guard against an effect that would wait for itself. */
interface ConnectionQueues {
  readonly queue: Queue
  /** For a pool: a queue per payment, so that concurrent deliveries of a payment take one connection. */
  readonly payments: Queues
  readonly guard: ReentryGuard
}

const queuesByHolder = new WeakMap<object, ConnectionQueues>()

export function getConnectionQueues(holder: object): ConnectionQueues {
  let queues = queuesByHolder.get(holder)
  queues ??= { queue: createQueue(), payments: createQueues(), guard: createReentryGuard() }
  queuesByHolder.set(holder, queues)
  return queues
}
