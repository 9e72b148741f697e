/** A process that can be killed between any two steps. @module */
import type { Clock, Store } from '@payment-integration/core/ports'

/** The rejection of a killed process's transaction, which rolls it back. */
class KilledError extends Error {
  override readonly name = 'KilledError'
}

/** The life of one simulated process. */
export interface Life {
  readonly alive: boolean
  /** Kills it after so many more steps, without notice; 0 kills it now. */
  killAfter(steps: number): void
  /** Pauses it, as when a machine is moved or out of memory: it continues as if no time had passed. */
  pauseUntil(at: number): void
  /** End of the pause, in unix milliseconds; 0 without one. */
  readonly pausedUntil: number
  /** Counts one step. False when the process is dead. */
  step(): boolean
}

/** Begins a life. @param died - Called once, when it ends. */
export function beginLife(died: () => void): Life {
  let left = Number.POSITIVE_INFINITY
  let alive = true
  let pausedUntil = 0
  function step(): boolean {
    if (!alive) return false
    left -= 1
    if (left > 0) return true
    alive = false
    died()
    return false
  }
  return {
    get alive() {
      return alive
    },
    killAfter(steps) {
      left = Math.min(left, steps)
      if (left <= 0) step()
    },
    pauseUntil(at) {
      pausedUntil = Math.max(pausedUntil, at)
    },
    get pausedUntil() {
      return pausedUntil
    },
    step,
  }
}

/** Resolves at once, or at the end of a pause. */
export async function awake(life: Life, clock: Clock): Promise<void> {
  while (clock.now() < life.pausedUntil) await clock.sleep(life.pausedUntil - clock.now())
}

const never = new Promise<never>(() => {})

/** The process's clock: a dead process never wakes. */
export function clockOf(life: Life, clock: Clock): Clock {
  return {
    now: () => clock.now(),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal)
      await awake(life, clock)
      if (!life.step()) await never
    },
  }
}

/** The process's store: the process may die before a call, within a transaction, or before the answer of a commit. */
export function storeOf<T extends Pick<Store, 'transaction'>>(life: Life, store: T, clock: Clock): T {
  return wrap(life, store, async (target, name, args, call) => {
    await awake(life, clock)
    if (name !== 'transaction' || target !== store) return call()
    const [work] = args as [(tx: object) => Promise<unknown>]
    return store.transaction(async (tx) => {
      const value = await work(withinTransaction(life, tx))
      if (!life.step()) throw new KilledError('The process died before it committed.')
      return value
    })
  })
}

/** Runs a store call, like `call`. */
type Perform = (target: object, name: string, args: readonly unknown[], call: () => unknown) => Promise<unknown>

function wrap<T extends object>(life: Life, target: T, perform: Perform): T {
  return new Proxy(target, {
    get(_, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value === 'object' && value !== null) return wrap(life, value, perform)
      if (typeof value !== 'function') return value
      // The one synchronous call: its subscription lasts as long as the process.
      if (name === 'whenDue')
        return (listener: () => void) => value.call(target, () => life.step() && listener()) as () => void
      return (...args: unknown[]) => {
        if (!life.step()) return never
        return heardBy(
          life,
          perform(target, String(name), args, () => value.apply(target, args)),
        )
      }
    },
  })
}

/** A dead process gets neither an answer nor an error. */
async function heardBy(life: Life, result: Promise<unknown>): Promise<unknown> {
  try {
    const value = await result
    return life.step() ? value : await never
  } catch (error) {
    if (life.alive) throw error
    return never
  }
}

function withinTransaction(life: Life, tx: object): object {
  return new Proxy(tx, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (!life.step()) throw new KilledError('The process died in a transaction.')
        return value.apply(target, args)
      }
    },
  })
}
