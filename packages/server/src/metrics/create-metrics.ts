/** Makes the metrics of a server. @module */
import type { Metrics, MetricsOptions } from './metrics.js'

/**
 * Builds the metrics, on a registry of their own: two servers in one process do not add up. The library is loaded now
 * and not before, because it takes longer to load than a whole command may take.
 */
export async function createMetrics(options: MetricsOptions = {}): Promise<Metrics> {
  const { prometheusMetrics } = await import('./prometheus-metrics.js')
  return prometheusMetrics(options)
}
