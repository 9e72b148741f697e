/** Generates the list of metrics from the metrics that a server of this code exposes. @module */
import { createMetrics } from '../../../packages/server/src/metrics/create-metrics.js'
import { prefix } from '../../../packages/server/src/metrics/metrics.js'
import { toCell } from './markdown.js'

/** The service's own metrics come before those of the process. */
const getRank = (row: string) => (row.startsWith(`| \`${prefix}`) ? 0 : 1)

/** One page: every metric with its kind and meaning. */
export async function buildMetricsPage(): Promise<string> {
  const text = await (await createMetrics()).text()
  const kinds = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', kind = '']) => [name, kind]))
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(
    ([, name = '', help]) => `| \`${name}\` | ${kinds.get(name) ?? ''} | ${toCell(help)} |`,
  )
  return [
    '---',
    'aside: false',
    '---',
    '',
    '# Metrics',
    '',
    'What `/metrics` exposes. [Observability](/observability.md) has the alerts, the dashboard and the traces.',
    '',
    '| Metric | Kind | Meaning |',
    '| --- | --- | --- |',
    ...rows.toSorted((one, other) => getRank(one) - getRank(other) || (one < other ? -1 : 1)),
    '',
  ].join('\n')
}
