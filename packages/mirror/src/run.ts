/** Keeps the copy: reconciles at intervals, and completes rows after deliveries. @module */

import { milliseconds, mirrorDefaults, type Parts } from './options.js'
import { complete, type MirrorReconcileOptions, reconcile } from './reconcile.js'

/** Options of `run`. */
export interface MirrorRunOptions extends Pick<MirrorReconcileOptions, 'pageSize'> {
  /** Time from the end of one run to the next, in milliseconds. @default 60000 */
  readonly everyMs?: number | undefined
  /** Ends the loop, which then resolves. */
  readonly signal: AbortSignal
}

/** Lets deliveries end the wait of the loop. */
export interface Wake {
  wake(): void
  /** Resolves at the next `wake`, or at once when one came since the last call. */
  woken(): Promise<void>
}

/** Makes a wake for one loop. */
export function createWake(): Wake {
  let pending = false
  let resolve = () => {}
  return {
    wake() {
      pending = true
      resolve()
    },
    async woken() {
      if (!pending) await new Promise<void>((done) => (resolve = done))
      pending = false
    },
  }
}

/** Loops until the signal aborts. A failed step is an event; the next interval repeats it. */
export async function run(parts: Parts, { woken }: Wake, options: MirrorRunOptions): Promise<void> {
  const { everyMs = mirrorDefaults.everyMs, pageSize, signal } = Object(options) as MirrorRunOptions
  milliseconds('everyMs', everyMs)
  if (typeof signal?.aborted !== 'boolean') throw new TypeError('signal is not an AbortSignal; run() would never end.')

  async function attempt(step: 'reconcile' | 'complete', isFirst: boolean): Promise<void> {
    try {
      if (step === 'reconcile') await reconcile(parts, { pageSize, signal })
      else parts.onEvent({ type: 'completed', ...(await complete(parts, signal)) })
    } catch (error) {
      if (signal.aborted) return
      // A wrong secret or a missing table does not heal by itself: whoever starts the loop must see it.
      if (isFirst && (error as { retryable?: unknown } | null)?.retryable !== true) throw error
      parts.onEvent({ type: 'failed', step, error })
    }
  }

  let wokenAgain = woken()
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    await attempt('reconcile', isFirst)
    if (signal.aborted) return
    const stop = new AbortController()
    const abort = () => stop.abort()
    signal.addEventListener('abort', abort)
    const due = parts.sleep(everyMs, stop.signal).then(() => 'due' as const)
    while (!signal.aborted && (await Promise.race([due, wokenAgain])) !== 'due') {
      wokenAgain = woken()
      await attempt('complete', false)
    }
    signal.removeEventListener('abort', abort)
  }
}
