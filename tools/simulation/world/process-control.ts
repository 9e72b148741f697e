/** A process that can be killed between any two steps. @module */
import type { Clock, Store } from '@payment-integration/core/ports'

/** The rejection of a killed process's transaction, which rolls it back. */
class KilledError extends Error {
  override readonly name = 'KilledError'
}

/** Kills or pauses one simulated process. */
export interface ProcessControl {
  readonly isAlive: boolean
  /** Kills it without notice after `steps` more steps; 0 kills it now. */
  killAfter(steps: number): void
  /** Pauses it until a time, as an operating system may do. Afterwards it continues as if no time had passed. */
  pauseUntil(at: number): void
  /** End of the pause, in unix milliseconds; 0 without one. */
  readonly pausedUntil: number
  /** Counts one step. False when the process is dead. */
  step(): boolean
}

/** Creates the control of a process. @param onDeath - Called once, when the process is killed. */
export function controlProcess(onDeath: () => void): ProcessControl {
  let remaining = Number.POSITIVE_INFINITY
  let isAlive = true
  let pausedUntil = 0
  function step(): boolean {
    if (!isAlive) return false
    remaining -= 1
    if (remaining > 0) return true
    isAlive = false
    onDeath()
    return false
  }
  return {
    get isAlive() {
      return isAlive
    },
    killAfter(steps) {
      remaining = Math.min(remaining, steps)
      if (remaining <= 0) step()
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
export async function afterPause(control: ProcessControl, clock: Clock): Promise<void> {
  while (clock.now() < control.pausedUntil) await clock.sleep(control.pausedUntil - clock.now())
}

const never = new Promise<never>(() => {})

/**
 * The process's clock. The sleep of a dead process never ends.
 * @param time - Measures pauses.
 */
export function createClock(control: ProcessControl, clock: Clock, time: Clock = clock): Clock {
  return {
    now: () => clock.now(),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal)
      await afterPause(control, time)
      if (!control.step()) await never
    },
  }
}

/** The process's store. The process may die before a call, within a transaction, or before the answer of a commit. */
export function wrapStore<T extends Pick<Store, 'transaction'>>(control: ProcessControl, store: T, clock: Clock): T {
  return wrap(control, store, async (target, name, args, call) => {
    await afterPause(control, clock)
    if (name !== 'transaction' || target !== store) return call()
    const [work] = args as [(tx: object) => Promise<unknown>]
    return store.transaction(async (tx) => {
      const value = await work(withinTransaction(control, tx))
      if (!control.step()) throw new KilledError('The process died before it committed.')
      return value
    })
  })
}

/** Performs one call of the process to the store; `call` passes it on to the real store. */
type Perform = (target: object, name: string, args: readonly unknown[], call: () => unknown) => Promise<unknown>

function wrap<T extends object>(control: ProcessControl, target: T, perform: Perform): T {
  return new Proxy(target, {
    get(_, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value === 'object' && value !== null) return wrap(control, value, perform)
      if (typeof value !== 'function') return value
      // The one synchronous call of a store. Its subscription lasts as long as the process.
      if (name === 'whenDue')
        return (listener: () => void) => value.call(target, () => control.step() && listener()) as () => void
      return (...args: unknown[]) => {
        if (!control.step()) return never
        return answerProcess(
          control,
          perform(target, String(name), args, () => value.apply(target, args)),
        )
      }
    },
  })
}

/** The answer of a call. A dead process gets neither an answer nor an error. */
async function answerProcess(control: ProcessControl, result: Promise<unknown>): Promise<unknown> {
  try {
    const value = await result
    return control.step() ? value : await never
  } catch (error) {
    if (control.isAlive) throw error
    return never
  }
}

function withinTransaction(control: ProcessControl, tx: object): object {
  return new Proxy(tx, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (!control.step()) throw new KilledError('The process died in a transaction.')
        return value.apply(target, args)
      }
    },
  })
}
