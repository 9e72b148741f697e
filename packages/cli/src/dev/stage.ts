/** Puts the demo's events in the order in which a person expects them. @module */
import type { DemoEvent, DemoSink } from './demo-events.js'

/** Prints an event that happened at a time, unix milliseconds. */
export type DemoPrinter = (event: DemoEvent, time: number) => void

/** Where events enter. */
export interface Stage {
  readonly report: DemoSink
  /**
   * Runs `work`; what others report meanwhile is shown after its own event. The indexer can be quicker than the answer to the
   * wallet, and a payment must not be shown as indexed before it is shown at all.
   */
  first<T>(work: () => Promise<T>, event: (result: T) => DemoEvent): Promise<T>
}

/** A stage over a printer. */
export function createStage(print: DemoPrinter, now: () => number): Stage {
  let held: (readonly [DemoEvent, number])[] | null = null
  return {
    report(event) {
      if (held) held.push([event, now()])
      else print(event, now())
    },
    async first(work, event) {
      held = []
      const startedAt = now()
      try {
        const result = await work()
        print(event(result), held[0]?.[1] ?? now())
        return result
      } finally {
        const waiting = held
        held = null
        for (const [later, time] of waiting) print(later, Math.max(time, startedAt))
      }
    },
  }
}
