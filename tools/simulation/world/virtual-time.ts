/**
 * Time that passes only when all work is done. While installed, it replaces `setTimeout`, `setInterval`, `Date.now` and
 * `performance.now` of this process. So deadlines deep inside the product take no real time either.
 * @module
 */
import type { Clock } from '@payment-integration/core/ports'

interface Timer {
  at: number
  readonly order: number
  readonly everyMs: number | null
  readonly run: () => void
}

/** Virtual time and its control. */
export interface VirtualTime extends Clock {
  /**
   * Runs due timers, in order of time, until `until` holds or `limitMs` of virtual time have passed. Resolves whether
   * `until` held.
   */
  advance(limitMs: number, until?: () => boolean): Promise<boolean>
  /** Restores real time. */
  uninstall(): void
}

/** A fake timer: the part of Node's `Timeout` that the product uses. */
interface TimerHandle {
  readonly id: number
  ref(): TimerHandle
  unref(): TimerHandle
  hasRef(): boolean
  refresh(): TimerHandle
  [Symbol.toPrimitive](): number
  [Symbol.dispose](): void
}

/** Installs virtual time. Only one may be installed at a time. @param start - Unix time in milliseconds. */
export function installVirtualTime(start: number): VirtualTime {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval, now: Date.now, performanceNow: performance.now }
  const timers = new Map<number, Timer>()
  let now = start
  let lastId = 0

  function add(run: () => void, ms: unknown, repeats: boolean): TimerHandle {
    const wait = Math.max(1, Number(ms) || 0)
    lastId += 1
    const id = lastId
    const timer = { at: now + wait, order: id, everyMs: repeats ? wait : null, run }
    timers.set(id, timer)
    const handle: TimerHandle = {
      id,
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh() {
        timers.set(id, { ...timer, at: now + wait })
        return handle
      },
      [Symbol.toPrimitive]: () => id,
      [Symbol.dispose]: () => void timers.delete(id),
    }
    return handle
  }
  const clear = (handle: unknown) => void timers.delete(Number(handle))
  const createTimerFunction =
    (repeats: boolean) =>
    (run: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
      add(() => run(...given), ms, repeats)

  Object.assign(globalThis, {
    setTimeout: createTimerFunction(false),
    setInterval: createTimerFunction(true),
    clearTimeout: clear,
    clearInterval: clear,
  })
  Date.now = () => now
  performance.now = () => now - start

  function runNext(): boolean {
    let soonest: [number, Timer] | null = null
    for (const entry of timers) {
      const [, timer] = entry
      if (
        soonest === null ||
        timer.at < soonest[1].at ||
        (timer.at === soonest[1].at && timer.order < soonest[1].order)
      )
        soonest = entry
    }
    if (soonest === null) return false
    const [id, timer] = soonest
    now = Math.max(now, timer.at)
    if (timer.everyMs === null) timers.delete(id)
    else timer.at = now + timer.everyMs
    timer.run()
    return true
  }
  const findSoonest = () =>
    [...timers.values()].reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY)

  return {
    now: () => now,
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const end = () => {
          clear(timer)
          signal?.removeEventListener('abort', end)
          resolve()
        }
        const timer = add(end, ms, false)
        signal?.addEventListener('abort', end, { once: true })
      })
    },
    async advance(limitMs, until = () => false) {
      const target = now + limitMs
      await settle()
      while (!until()) {
        if (findSoonest() > target || !runNext()) {
          now = target
          return until()
        }
        await settle()
      }
      return true
    },
    uninstall() {
      const { now: dateNow, performanceNow, ...functions } = real
      Object.assign(globalThis, functions)
      Date.now = dateNow
      performance.now = performanceNow
    },
  }
}

/** Runs all microtasks, and the callbacks of the next turn of the event loop. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
