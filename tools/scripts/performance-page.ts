/** Makes the tables and pictures of docs/performance.md from the newest runs in tools/bench/results. @module */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatTable, type Run, readRuns, type Table } from '../bench/report.js'

const docs = join(import.meta.dirname, '../../docs')
const begin = (name: string) => `<!-- figures ${name}: npm run bench -- --page -->`
const end = '<!-- end of figures -->'

/** A table of a bench, and the run that measured it. */
interface FoundTable {
  readonly run: Run
  readonly table: Table
}

/** A table of the page: columns of the newest table of a bench with this title. */
interface PageTable {
  /** @default the name of the table */
  readonly bench?: string
  readonly title: string
  readonly columns: readonly string[]
  /** The title of the first column. */
  readonly names: string
  /** Matches the names of the rows that the page shows. @default all */
  readonly rows?: RegExp
  /** Whether the notes of the table are shown. @default true */
  readonly hasNotes?: boolean
}

const tables: Readonly<Record<string, PageTable>> = {
  verification: {
    title: 'Verifying a delivery, CPU µs',
    names: 'Verifier, CPU µs',
    columns: ['0.5 KB', '64 KB'],
    rows: /^(?!.*Web Crypto)/,
  },
  deliveries: {
    title: 'Deliveries of 1 KB to 10 integrations, from a backlog of 20,000, PostgreSQL',
    names: 'Queue on PostgreSQL',
    columns: ['deliveries/s', 'CPU µs'],
  },
  bloat: {
    title: 'Deliveries with an open snapshot',
    names: 'Queue, deliveries/s',
    columns: ['before, per second', 'last', 'after'],
  },
  sync: {
    title: 'Catching up with 50,000 payments in 2,000 blocks',
    names: 'Distance to the node',
    columns: ['payments/s', 'peak MiB'],
    rows: /^\d+ ms, PostgreSQL$/,
    hasNotes: false,
  },
  live: {
    title: 'From the request to mine a block, one payment each, SQLite',
    names: 'Source of heads',
    columns: ['committed, p50 ms', 'at the receiver, p50 ms', 'at the receiver, p95 ms'],
  },
  updates: {
    title: 'Processor updates',
    names: 'Updates (on PostgreSQL unless named)',
    columns: ['updates/s', 'CPU of the service, µs', 'CPU of the database, µs'],
    rows: /^(?!before|.*console)/,
  },
  'read-api-postgres': {
    bench: 'read-api',
    title: 'Requests per second, 1,000,000 payments, PostgreSQL',
    names: 'Request on PostgreSQL',
    columns: ['requests/s', 'CPU µs'],
    rows: /integration|look-up/,
    hasNotes: false,
  },
  console: {
    title: 'Pages of the console, 1,000,000 payments, PostgreSQL',
    names: 'Page',
    columns: ['median ms', 'p99 ms'],
    rows: /^(?!Others)/,
    hasNotes: false,
  },
  upgrade: {
    title: 'A migration of 5,000,000 snapshots under load, PostgreSQL',
    names: 'Step',
    columns: ['seconds', 'write, longest ms', 'read, longest ms'],
    rows: /^(?:no|backfill the|make|validate)/,
  },
  start: { title: 'Starting', names: 'Command', columns: ['ms', 'processor time, ms', 'peak, MiB'] },
  weight: {
    title: 'Weight',
    names: 'Package',
    columns: ['packages with dependencies', 'installed, kB', 'bundle, gzip, kB'],
  },
}

/** Labels of bars, by the beginning of a row's name. The labels of our bars begin with "ours". */
type Labels = Readonly<Record<string, string>>

interface Chart extends Omit<BarChart, 'bars'> {
  readonly bench: string
  /** The tables, of one run, that hold the values of the bars: their titles, a column, and the labels of its rows. */
  readonly sources: readonly { readonly title: string; readonly column: string; readonly labels: Labels }[]
}

const verifiers: Labels = {
  'ours, verifySignature': 'ours, signature alone',
  'ours, verify: headers': 'ours, with JSON and fields',
  'octokit verify': '@octokit/webhooks-methods',
  'stripe constructEvent': 'stripe, with JSON',
  standardwebhooks: 'standardwebhooks, with JSON',
  'svix, with JSON': 'svix, with JSON',
}
const queues: Labels = {
  'pg-boss, batches of 500': 'pg-boss, batches of 500',
  'pg-boss, batches of 128': 'pg-boss, batches of 128',
  'graphile-worker': 'graphile-worker',
}
const backlog = 'Deliveries of 1 KB to 10 integrations, from a backlog of 20,000, '
const catchingUp = 'Catching up with 50,000 payments in 2,000 blocks'

const verifyingChart = (size: string): Chart => ({
  title: `Verifying a delivery of ${size}`,
  unit: 'Processor time against createHmac alone; less is better',
  bench: 'verification',
  sources: [{ title: 'Verifying a delivery, CPU µs', column: `${size}, of the floor`, labels: verifiers }],
})

const charts: Readonly<Record<string, Chart>> = {
  'performance-verifying.svg': verifyingChart('0.5 KB'),
  'performance-verifying-64-kb.svg': verifyingChart('64 KB'),
  'performance-deliveries.svg': {
    title: 'Deliveries from a backlog, one process',
    unit: 'Deliveries per second; more is better',
    bench: 'deliveries',
    sources: [
      { title: `${backlog}SQLite`, column: 'deliveries/s', labels: { ours: 'ours, SQLite' } },
      { title: `${backlog}PostgreSQL`, column: 'deliveries/s', labels: { ours: 'ours, PostgreSQL', ...queues } },
    ],
  },
  'performance-catching-up.svg': {
    title: 'Catching up with 50,000 payments, PostgreSQL, 20 ms from the node',
    bench: 'sync',
    unit: 'Payments per second; more is better',
    sources: [
      { title: catchingUp, column: 'payments/s', labels: { '20 ms, PostgreSQL': 'ours' } },
      {
        title: `${catchingUp}: other indexers on PostgreSQL`,
        column: 'payments/s',
        labels: { '20 ms, squid': 'squid' },
      },
    ],
  },
  'performance-open-snapshot.svg': {
    title: 'Deliveries while another session keeps a snapshot open',
    bench: 'bloat',
    unit: 'The last rate with the snapshot against the rate before; more is better',
    sources: [
      {
        title: 'Deliveries with an open snapshot',
        column: 'last of before',
        labels: { ours: 'ours', 'pg-boss': 'pg-boss', 'graphile-worker': 'graphile-worker' },
      },
    ],
  },
}

/** The newest table with a title, or null. */
function findTable(runs: readonly Run[], title: string): FoundTable | null {
  const all = runs.flatMap((run) => run.tables.map((table) => ({ run, table })))
  return all.findLast(({ table }) => table.title === title) ?? null
}

function findFigure({ columns, rows }: Table, begin: string, column: string): number | null {
  const value = rows.find(([name]) => String(name).startsWith(begin))?.[columns.indexOf(column)]
  return typeof value === 'number' ? value : null
}

/** The bars of a chart, from the newest run that has all of them. */
function drawChart({ bench, sources, ...chart }: Chart): string {
  for (const run of readRuns(bench).toReversed()) {
    const bars = sources.flatMap(({ title, column, labels }) =>
      Object.entries(labels).map(([name, label]) => {
        const result = findTable([run], title)
        return {
          label,
          value: result === null ? null : findFigure(result.table, name, column),
          isOurs: label.startsWith('ours'),
        }
      }),
    )
    const complete = bars.flatMap(({ value, ...bar }) => (value === null ? [] : [{ ...bar, value }]))
    if (complete.length === bars.length) return drawBarChart({ ...chart, bars: complete })
  }
  throw new Error(`No run of ${bench} has all bars of the picture ${JSON.stringify(chart.title)}.`)
}

/** Every picture by its file name, as it should be in docs/images. */
export function drawCharts(): ReadonlyMap<string, string> {
  return new Map(Object.entries(charts).map(([file, chart]) => [file, drawChart(chart)]))
}

/** The page with its tables made anew. @throws Error When a place has no table, or the page has no such place. */
export function fillPage(page: string): string {
  return Object.entries(tables).reduce(
    (text, [name, { bench = name, title, names, columns, rows: shown, hasNotes = true }]) => {
      const result = findTable(readRuns(bench), title)
      if (result === null) throw new Error(`No run of ${bench} has the table ${JSON.stringify(title)}.`)
      const { run, table } = result
      const at = columns.map((column) => table.columns.indexOf(column))
      if (at.includes(-1)) throw new Error(`${table.title} lacks one of the columns ${columns.join('; ')}.`)
      const rows = table.rows
        .filter(([name]) => shown?.test(String(name)) ?? true)
        .map((row) => [row[0] ?? '', ...at.map((index) => row[index] ?? null)])
      const load = run.load === null ? '' : `, load ${run.load}`
      const lines = [
        begin(name),
        formatTable({ columns: [names, ...columns], rows }),
        [`\`${run.command}\`, ${run.date}${load}.`, ...((hasNotes && table.notes) || [])].join(' '),
        end,
      ].join('\n\n')
      const [from, to] = [text.indexOf(begin(name)), text.indexOf(end, text.indexOf(begin(name)))]
      if (from < 0 || to < 0) throw new Error(`The page has no place ${begin(name)} … ${end}.`)
      return text.slice(0, from) + lines + text.slice(to + end.length)
    },
    page,
  )
}

/** Writes the page and the pictures. @returns Their names. */
export function writePage(): string[] {
  const path = join(docs, 'performance.md')
  writeFileSync(path, fillPage(readFileSync(path, 'utf8')))
  const drawn = drawCharts()
  for (const [file, text] of drawn) writeFileSync(join(docs, 'images', file), text)
  return ['performance.md', ...drawn.keys()]
}

// Bars on a logarithmic axis as SVG, in the light or dark colors of the page that shows them.

interface Bar {
  readonly label: string
  readonly value: number
  /** Ours, drawn in color. */
  readonly isOurs: boolean
}

interface BarChart {
  readonly title: string
  /** The measured value and its unit, and which end is better. */
  readonly unit: string
  readonly bars: readonly Bar[]
}

const [width, labelWidth, barHeight, top] = [760, 250, 26, 64]
const plotWidth = width - labelWidth - 90
const style = `text{font:14px system-ui,sans-serif;fill:#1f2430}.t{font-size:17px;font-weight:600}.u,.k{fill:#5b6270;font-size:12px}
.g{stroke:#d9dce3}.o{fill:#2f6fde}.p{fill:#a9b0bd}.b{fill:#fff}
@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.u,.k{fill:#9aa3b2}.g{stroke:#333a47}.o{fill:#6ea0ff}.p{fill:#5c6575}.b{fill:#11151c}}`

/** The picture as SVG. @throws RangeError When a value is 0 or less, which a logarithmic axis cannot show. */
export function drawBarChart({ title, unit, bars }: BarChart): string {
  for (const { label, value } of bars)
    if (!(value > 0)) throw new RangeError(`${label} has the value ${value}, which a logarithmic axis cannot show.`)
  const values = bars.map(({ value }) => value)
  const ticks = listTicks(Math.min(...values), Math.max(...values))
  const [from = 1, to = 10] = [ticks[0], ticks.at(-1)]
  const toX = (value: number) => Math.round(labelWidth + (Math.log(value / from) / Math.log(to / from)) * plotWidth)
  const bottom = top + bars.length * barHeight
  const described = bars.map(({ label, value }) => `${label}: ${formatValue(value)}`).join('; ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 34}" role="img" aria-labelledby="t d">`,
    `<title id="t">${escapeXml(title)}</title><desc id="d">${escapeXml(`${unit}. ${described}`)}</desc>`,
    `<style>${style}</style>`,
    `<rect class="b" width="${width}" height="${bottom + 34}"/>`,
    `<text class="t" x="16" y="28">${escapeXml(title)}</text><text class="u" x="16" y="48">${escapeXml(unit)}</text>`,
    ...ticks.map(
      (tick) =>
        `<line class="g" x1="${toX(tick)}" x2="${toX(tick)}" y1="${top - 4}" y2="${bottom}"/><text class="k" x="${toX(tick)}" y="${bottom + 18}" text-anchor="middle">${formatValue(tick)}</text>`,
    ),
    ...bars.map(({ label, value, isOurs }, at) => {
      const y = top + at * barHeight
      const length = Math.max(2, toX(value) - labelWidth)
      return [
        `<text x="${labelWidth - 10}" y="${y + 17}" text-anchor="end">${escapeXml(label)}</text>`,
        `<rect class="${isOurs ? 'o' : 'p'}" x="${labelWidth}" y="${y + 4}" width="${length}" height="${barHeight - 8}" rx="2"/>`,
        `<text x="${labelWidth + length + 8}" y="${y + 17}">${formatValue(value)}</text>`,
      ].join('')
    }),
    '</svg>',
    '',
  ].join('\n')
}

/** 1, 2 and 5 times the powers of ten around the values. The first is below every value, so each bar has a length. */
function listTicks(min: number, max: number): number[] {
  const all = Array.from({ length: 16 }, (_, n) => n - 6).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  )
  const first = all.findLastIndex((tick) => tick < min * 0.999)
  const last = all.findIndex((tick) => tick >= max)
  return all.slice(first, last + 1)
}

function formatValue(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value >= 1_000 ? 6 : 3 })
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
