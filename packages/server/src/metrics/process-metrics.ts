/** Memory, processor time, event loop and garbage collection of this process. @module */
import { collectDefaultMetrics, Registry } from 'prom-client'

let registry: Registry | undefined

/** All servers in a process share this registry: a second watch on the event loop would repeat the same values. */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
