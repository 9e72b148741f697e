/** Counts durations in buckets, for Prometheus histograms. @module */

/** The observations of one series. */
export interface Buckets {
  observe(seconds: number): void
  /** Its samples. @param labels - Formatted labels without braces; empty: none. */
  lines(name: string, labels: string): string[]
}

/**
 * Builds an empty series. The Prometheus library checks and hashes labels on each observation; this costs two
 * additions.
 *
 * @param bounds - Upper bounds in seconds, ascending.
 */
export function createBuckets(bounds: readonly number[]): Buckets {
  // Observations up to each bound and above the previous one; the last entry counts those above all bounds.
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  let sum = 0
  return {
    observe(seconds) {
      let bucket = 0
      while (seconds > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += seconds
    },
    lines(name, labels) {
      let below = 0
      const buckets = counts.map((count, index) => {
        below += count
        return `${name}_bucket{le="${bounds[index] ?? '+Inf'}"${labels === '' ? '' : `,${labels}`}} ${below}`
      })
      const braced = labels === '' ? '' : `{${labels}}`
      return [...buckets, `${name}_sum${braced} ${sum}`, `${name}_count${braced} ${below}`]
    },
  }
}

/** The HELP and TYPE lines of a metric. */
export function heading(name: string, type: 'counter' | 'histogram', help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}
