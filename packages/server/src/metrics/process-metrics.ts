/** Memory, processor time, event loop and garbage collection of this process. @module */
import { collectDefaultMetrics, Registry } from 'prom-client'

let registry: Registry | undefined

/**
 * They are the process's own, so all servers in it share one registry: watching the event loop twice would tell the
 * same twice.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  return registry
}
