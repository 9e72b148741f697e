/** The pages that are made from sources or from recorded runs have their newest content. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listPrices, measuredCosts, modelCells, modelTable } from '../bench/cells/model.js'
import { formatCell, formatRuns, readRuns } from '../bench/report.js'
import { fillPage as fillConfiguration } from './configuration-page.js'
import { fillPage as fillDiagnostics } from './diagnostic-pages.js'
import { drawBarChart, drawCharts, fillPage as fillPerformance } from './performance-page.js'

const docs = join(import.meta.dirname, '../../docs')
const results = join(import.meta.dirname, '../bench/results')
const readPage = (name: string) => readFileSync(join(docs, name), 'utf8')

/** The page, the command that makes its tables or lists again, and a text of them. */
const filled: [name: string, command: string, fill: (page: string) => string, text: string][] = [
  ['configuration.md', 'configuration-page', fillConfiguration, '| `PI_PORT` |'],
  ['performance.md', 'bench -- --page', fillPerformance, '| ours'],
  ['doctor.md', 'diagnostic-pages', (page) => fillDiagnostics('docs/doctor.md', page), '- `body-parsed`'],
  ['explain.md', 'diagnostic-pages', (page) => fillDiagnostics('docs/explain.md', page), '- `body_parsed`'],
]
test.each(filled)('the tables and lists of %s are the newest; npm run %s makes them again', (name, _, fill, text) => {
  const page = readPage(name)
  expect(fill(page)).toBe(page)
  expect(page).toContain(text)
  expect(fill(page.replace(text, text.replace(/[a-z]/i, '?')))).toBe(page)
  expect(() => fill(page.replaceAll('<!-- end of ', '<!-- '))).toThrow('has no place')
})

describe('performance.md', () => {
  const page = readPage('performance.md')

  test('shows every picture, drawn from the recorded runs', () => {
    for (const [file, text] of drawCharts()) {
      expect(readPage(`images/${file}`), file).toBe(text)
      expect(page).toContain(`(images/${file})`)
    }
  })

  test.each(readdirSync(results))('%s has a date, a command, versions and whole tables for each run', (file) => {
    const runs = readRuns(file.replace('.json', ''))
    expect(formatRuns(runs)).toBe(readFileSync(join(results, file), 'utf8'))
    for (const { date, command, load, versions, tables } of runs) {
      expect([date, command]).toEqual([expect.stringMatching(/^20\d\d-\d\d-\d\d$/), expect.stringMatching(/^npm run /)])
      expect(load === null || load >= 0).toBe(true)
      expect(versions).toHaveProperty('node')
      for (const { columns, rows } of tables)
        expect(rows.map((row) => row.length)).toEqual(rows.map(() => columns.length))
    }
  })

  test('rejects a value that has no logarithm, and escapes a label', () => {
    const chart = { title: 'A < B', unit: 'ms', bars: [{ label: 'a & b', value: 0, isOurs: true }] }
    expect(() => drawBarChart(chart)).toThrow(RangeError)
    expect(drawBarChart({ ...chart, bars: [{ label: 'a & b', value: 3, isOurs: true }] })).toContain('a &amp; b')
  })
})

describe('scale.md', () => {
  const page = readPage('scale.md')
  const run = readRuns('cells').at(-1)?.tables[0]?.rows ?? []

  test('has the table of its model', () => {
    expect(page).toContain(modelTable())
  })

  test.each(run.map((row) => row.slice(0, 4)))('has the newest run of %s', (...row) => {
    expect(page).toContain(`| ${row.map(formatCell).join(' | ')} |`)
  })

  test.each([
    ['one cell with all integrations', measuredCosts.ownPayment],
    ['one cell with none of them', measuredCosts.otherPayment],
  ])('has a model whose constants are those of the newest run of %s', (name, { service, database }) => {
    expect(run.find(([row]) => row === name)?.slice(2, 4)).toEqual([service, database])
  })

  test.each(Object.entries(listPrices))('has a source for the price %s', (_, price) => {
    expect(page).toContain(`| ${price} | [`)
  })

  test('is right that three cells carry at least 2.7 times what one does, and more cells carry more', () => {
    expect(modelCells(3).speedup).toBeGreaterThan(2.7)
    const rates = [1, 3, 16, 64].map((cells) => modelCells(cells).paymentsPerSecond)
    expect(rates).toEqual(rates.toSorted((a, b) => a - b))
  })

  test.each([0, 1.5, Number.NaN])('has a model that rejects %s cells', (cells) => {
    expect(() => modelCells(cells)).toThrow(RangeError)
  })
})
