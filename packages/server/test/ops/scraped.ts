/** Reads the text format of Prometheus, and writes it as series of a rule test. */

/** The samples of one scrape, by name and labels. */
export type Scrape = ReadonlyMap<string, string>

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

/** Parses a scrape. */
export function parseScrape(text: string): Scrape {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]))
}

/**
 * The series of several scrapes, as Prometheus stores them: a sample that is gone ends its series.
 * @param labels - Added to each, as Prometheus adds them to a target.
 */
export function seriesOf(scrapes: readonly Scrape[], labels: string): { series: string; values: string }[] {
  const keys = new Set(scrapes.flatMap((scrape) => [...scrape.keys()]))
  return [...keys].map((key) => {
    const [name = key, own] = key.split(/[{}]/)
    const series = `${name}{${own ? `${own},` : ''}${labels}}`
    return { series, values: scrapes.map((scrape) => sampleText(scrape.get(key))).join(' ') }
  })
}

function sampleText(sample: string | undefined): string {
  if (sample === undefined || sample === 'NaN') return 'stale'
  // promtool has no exponents.
  return /e/i.test(sample) && !/inf/i.test(sample) ? Number(sample).toFixed(12) : sample
}
