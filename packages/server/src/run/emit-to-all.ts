/** Combines sinks of events. @module */
import type { EventSink } from '@payment-integration/core'

/** Combines several optional sinks into one. */
export function emitToAll(...sinks: readonly (EventSink | undefined)[]): EventSink {
  return (event) => {
    for (const sink of sinks) sink?.(event)
  }
}
