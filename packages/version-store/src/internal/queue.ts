/** Queues jobs, so that all stores of one connection take turns. @module */
import { EffectReentrantError } from '../errors.js'

/** Resolves to, or rejects with, the error of a job that gives up. The signal aborts at the job's turn. */
type WaitForTimeout = (turn: AbortSignal) => Promise<unknown>

/** Runs jobs one after the other. A failed job does not stop the next. */
export function createQueue() {
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
    /** Runs a job in its turn. A job behind others leaves the queue as soon as `waitForTimeout` settles. */
    run<Result>(job: () => Promise<Result>, waitForTimeout?: WaitForTimeout): Promise<Result> {
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
        const isAlone = running + waiting.size === 0
        waiting.add(start)
        // Never starts a job synchronously: it may call back into the caller of `run`.
        if (isAlone) queueMicrotask(next)
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
export function createQueues() {
  const queues = new Map<string, ReturnType<typeof createQueue>>()
  return {
    async run<Result>(name: string, job: () => Promise<Result>, waitForTimeout?: WaitForTimeout): Promise<Result> {
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

/** Detects an effect that calls its own store before its first await. Stores of one connection share a guard. */
export function createReentryGuard() {
  let isInEffect = false
  return {
    /** @throws {@link EffectReentrantError} `ERR_EFFECT_REENTRANT` inside an effect. */
    check(): void {
      if (isInEffect) throw new EffectReentrantError()
    },
    /** Starts an effect. */
    start(effect: () => void | Promise<void>): void | Promise<void> {
      isInEffect = true
      try {
        return effect()
      } finally {
        isInEffect = false
      }
    },
  }
}

/** The queues of a connection, pool or transaction, and the guard against an effect that would wait for itself. */
const createConnectionQueues = () => ({
  queue: createQueue(),
  /** For a pool: a queue per payment, so that concurrent deliveries of a payment take one connection. */
  payments: createQueues(),
  guard: createReentryGuard(),
})

const queuesByHolder = new WeakMap<object, ReturnType<typeof createConnectionQueues>>()

export function getConnectionQueues(holder: object) {
  const queues = queuesByHolder.get(holder) ?? createConnectionQueues()
  queuesByHolder.set(holder, queues)
  return queues
}
