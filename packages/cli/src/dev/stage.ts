/** Orders the demo's events as a person expects them. @module */
import type { DemoEvent, DemoSink } from './demo-events.js'

/** Prints an event with its unix time in milliseconds. */
export type DemoPrinter = (event: DemoEvent, time: number) => void

/** Receives events and passes them to a printer. */
export interface Stage {
  readonly report: DemoSink
  /**
   * Runs `work` and delays events of others until its own event is printed. The indexer can be faster than the answer
   * to the payer, and the payment must be shown as sent before it is shown as indexed.
   */
  first<T>(work: () => Promise<T>, event: (result: T) => DemoEvent): Promise<T>
}

/** Creates a stage. */
export function createStage(print: DemoPrinter, now: () => number): Stage {
  let delayed: (readonly [DemoEvent, number])[] | null = null
  return {
    report(event) {
      if (delayed) delayed.push([event, now()])
      else print(event, now())
    },
    async first(work, event) {
      delayed = []
      const startedAt = now()
      try {
        const result = await work()
        print(event(result), delayed[0]?.[1] ?? now())
        return result
      } finally {
        const waiting = delayed
        delayed = null
        for (const [later, time] of waiting) print(later, Math.max(time, startedAt))
      }
    },
  }
}
