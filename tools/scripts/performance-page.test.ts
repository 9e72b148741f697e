/** docs/performance.md and its pictures have the figures of the recorded runs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatRuns, readRuns } from '../bench/report.js'
import { barChart } from './bar-chart.js'
import { drawCharts, fillPage } from './performance-page.js'

const docs = join(import.meta.dirname, '../../docs')
const page = readFileSync(join(docs, 'performance.md'), 'utf8')
const results = join(import.meta.dirname, '../bench/results')

test('every table of the page is that of the newest recorded run; npm run bench -- --page makes them again', () => {
  expect(fillPage(page)).toBe(page)
  const end = '<!-- end of figures -->'
  expect(fillPage(page.replace('| ours', '| theirs'))).toBe(page)
  expect(() => fillPage(page.replaceAll(end, ''))).toThrow('The page has no place')
})

test('every picture is drawn from the recorded runs, and stands on the page', () => {
  for (const [file, text] of drawCharts()) {
    expect(readFileSync(join(docs, 'images', file), 'utf8'), file).toBe(text)
    expect(page).toContain(`(images/${file})`)
  }
})

test.each(readdirSync(results))('%s has a date, a command, versions and whole tables for each run', (file) => {
  const bench = file.replace('.json', '')
  const runs = readRuns(bench)
  expect(formatRuns(runs)).toBe(readFileSync(join(results, file), 'utf8'))
  for (const { date, command, load, versions, tables } of runs) {
    expect([date, command]).toEqual([expect.stringMatching(/^20\d\d-\d\d-\d\d$/), expect.stringMatching(/^npm run /)])
    expect(load === null || load >= 0).toBe(true)
    expect(versions).toHaveProperty('node')
    for (const { columns, rows } of tables)
      expect(rows.map((row) => row.length)).toEqual(rows.map(() => columns.length))
  }
})

test('a value that has no logarithm is rejected, and a label is escaped', () => {
  const chart = { title: 'A < B', unit: 'ms', bars: [{ label: 'a & b', value: 0, isOurs: true }] }
  expect(() => barChart(chart)).toThrow(RangeError)
  expect(barChart({ ...chart, bars: [{ label: 'a & b', value: 3, isOurs: true }] })).toContain('a &amp; b')
})
