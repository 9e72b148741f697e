/** The pictures of docs/performance.md, from the recorded figures of tools/bench/README.md. @module */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bar, type BarChart, barChart } from './bar-chart.js'
import { type Row, readTable } from './read-table.js'

const root = join(import.meta.dirname, '../../..')

/** A picture, and how its bars are read. */
interface Chart extends Omit<BarChart, 'bars'> {
  readonly file: string
  bars(markdown: string): readonly Bar[]
}

/** Bars of the named rows: a key is the beginning of a row's first cell, a value the label; ours begin with "ours". */
function bars(rows: readonly Row[], column: string, labels: Readonly<Record<string, string>>): Bar[] {
  return Object.entries(labels).map(([begin, label]) => {
    const row = rows.find((each) => Object.values(each)[0]?.startsWith(begin))
    const cell = row?.[column]
    if (cell === undefined) throw new Error(`No row ${JSON.stringify(begin)} has the column ${JSON.stringify(column)}.`)
    // A ratio in brackets is what compares ways: "5.71 (1.60)".
    const value = Number((/[(]([^)]+)[)]/.exec(cell)?.[1] ?? cell).replaceAll(',', ''))
    return { label, value, isOurs: label.startsWith('ours') }
  })
}

const verifiers = {
  'ours, verifySignature': 'ours, signature alone',
  'ours, verify: headers': 'ours, with JSON and fields',
  'octokit verify': '@octokit/webhooks-methods',
  'stripe constructEvent': 'stripe, with JSON',
  standardwebhooks: 'standardwebhooks, with JSON',
  'svix, with JSON': 'svix, with JSON',
}

const charts: readonly Chart[] = [
  {
    file: 'performance-verifying.svg',
    title: 'Verifying a delivery of 0.5 KB',
    unit: 'Processor time against createHmac alone; less is better',
    bars: (text) => bars(readTable(text, 'Verifying a genuine delivery'), '0.5 KB', verifiers),
  },
  {
    file: 'performance-verifying-64-kb.svg',
    title: 'Verifying a delivery of 64 KB',
    unit: 'Processor time against createHmac alone; less is better',
    bars: (text) => bars(readTable(text, 'Verifying a genuine delivery'), '64 KB', verifiers),
  },
  {
    file: 'performance-deliveries.svg',
    title: 'Deliveries from a backlog, one process',
    unit: 'Deliveries per second; more is better',
    bars: (text) =>
      bars(readTable(text, 'Notifications'), 'deliveries/s', {
        'ours, SQLite': 'ours, SQLite',
        'ours, PostgreSQL': 'ours, PostgreSQL',
        'pg-boss, batches of 500': 'pg-boss, batches of 500',
        'pg-boss, batches of 128': 'pg-boss, batches of 128',
        'graphile-worker': 'graphile-worker',
      }),
  },
  {
    file: 'performance-catching-up.svg',
    title: 'Catching up with 50,000 payments, PostgreSQL, 20 ms from the node',
    unit: 'Payments per second; more is better',
    bars: (text) => {
      const rows = readTable(text, 'Catching up with 50,000 payments in 2,000 blocks', 2)
      return [
        ...bars(rows, 'ours, payments/s', { '20 ms': 'ours' }),
        ...bars(rows, 'squid 1.27.2', { '20 ms': 'squid' }),
        ...bars(rows, 'floor', { '20 ms': 'floor, without proof' }),
      ]
    },
  },
  {
    file: 'performance-open-snapshot.svg',
    title: 'Deliveries while another session keeps a snapshot open',
    unit: 'The last rate with the snapshot against the rate before; more is better',
    bars: (text) =>
      bars(readTable(text, '20 slices of 1,750 deliveries with an open snapshot, beside'), 'last of before', {
        ours: 'ours',
        'pg-boss': 'pg-boss',
        'graphile-worker': 'graphile-worker',
      }),
  },
]

/** Every picture by its file name, as it should be in docs/images. */
export async function drawCharts(): Promise<ReadonlyMap<string, string>> {
  const markdown = await readFile(join(root, 'tools/bench/README.md'), 'utf8')
  return new Map(charts.map(({ file, bars: read, ...chart }) => [file, barChart({ ...chart, bars: read(markdown) })]))
}

/** Writes every picture to docs/images. @returns Their names. */
export async function writeCharts(): Promise<string[]> {
  const drawn = await drawCharts()
  for (const [file, text] of drawn) await writeFile(join(root, 'docs/images', file), text)
  return [...drawn.keys()]
}
