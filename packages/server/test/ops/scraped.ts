/** Reads the text format of Prometheus. */

/** Names of all metrics, also of those without a sample yet. */
export function metricNames(text: string): ReadonlySet<string> {
  const names = text.split('\n').flatMap((line) => /^# TYPE (\S+) (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? [])
  const parts = (each: string) => {
    const [name = '', type] = each.split(' ')
    return type === 'histogram' || type === 'summary'
      ? [`${name}_bucket`, `${name}_sum`, `${name}_count`, name]
      : [name]
  }
  return new Set(names.flatMap(parts))
}
