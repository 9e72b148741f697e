/** Creates the metrics of a server. @module */
import type { Metrics, MetricsOptions } from './metrics.js'

/**
 * Builds the metrics on a separate registry, so that two servers in one process do not add up. The library is loaded
 * only now: loading takes longer than a whole command may take.
 */
export async function createMetrics(options: MetricsOptions = {}): Promise<Metrics> {
  const { prometheusMetrics } = await import('./prometheus-metrics.js')
  return prometheusMetrics(options)
}
