/** Memory, processor time, event loop and garbage collection of this process. @module */
import type { Registry } from 'prom-client'
import type { MetricsLibrary } from './names.js'

let registry: Registry | undefined

/** All servers in a process share this registry: a second watch on the event loop would repeat the same values. */
export function processMetrics({ collectDefaultMetrics, Registry }: MetricsLibrary): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
