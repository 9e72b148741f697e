/** A process that can be killed between any two things it does. @module */
import type { Clock, Store } from '@payment-integration/core/ports'

/** What a transaction of a process that died under it rejects with, so that the database undoes it. */
class KilledError extends Error {
  override readonly name = 'KilledError'
}

/** The life of one simulated process. */
export interface Life {
  readonly alive: boolean
  /** Ends it after so many more things that it does; 0 ends it now. Nothing of it is told: it just stops. */
  killAfter(steps: number): void
  /** Stops it for a while, as a machine does that is out of memory or moved: it goes on as if no time had passed. */
  pauseUntil(at: number): void
  /** When the pause ends, in unix milliseconds; 0 when there was none. */
  readonly pausedUntil: number
  /** One thing that the process does. False when it is dead. */
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

/** The clock as the process sees it: a dead one never wakes. */
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

/**
 * The store as the process sees it: it may die before a call, within a transaction, and after a commit that it never
 * hears of.
 */
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

/** Does a call of the store, as `call` would. */
type Perform = (target: object, name: string, args: readonly unknown[], call: () => unknown) => Promise<unknown>

function wrap<T extends object>(life: Life, target: T, perform: Perform): T {
  return new Proxy(target, {
    get(_, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value === 'object' && value !== null) return wrap(life, value, perform)
      if (typeof value !== 'function') return value
      // The one call that answers at once: what it subscribes is heard as long as the process lives.
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

/** A dead process hears of nothing, neither of an answer nor of an error. */
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
