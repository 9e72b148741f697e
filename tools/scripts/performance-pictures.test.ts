/** The pictures of docs/performance.md are those of the recorded figures. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { barChart } from '../bench/plot/bar-chart.js'
import { drawCharts } from '../bench/plot/charts.js'
import { readTable } from '../bench/plot/read-table.js'

const docs = join(import.meta.dirname, '../../docs')

test('every picture is drawn from the figures of tools/bench/README.md; npm run bench -- --plot draws them again', async () => {
  const page = await readFile(join(docs, 'performance.md'), 'utf8')
  const drawn = await drawCharts()
  expect(drawn.size).toBeGreaterThan(0)
  for (const [file, text] of drawn) {
    expect(await readFile(join(docs, 'images', file), 'utf8'), file).toBe(text)
    expect(page).toContain(`(images/${file})`)
  }
})

test('a table is read by its heading and its place below it', () => {
  const text = '# A\n\n| x | y |\n| --- | ---: |\n| 1 | 2 |\n\n| z |\n| --- |\n| 3 |\n\n## B\n'
  expect(readTable(text, 'A')).toEqual([{ x: '1', y: '2' }])
  expect(readTable(text, 'A', 2)).toEqual([{ z: '3' }])
  expect(() => readTable(text, 'B')).toThrow('"B" has no table 1.')
  expect(() => readTable(text, 'C')).toThrow('No heading begins with "C".')
})

test('a value that has no logarithm is refused, and a label is escaped', () => {
  const chart = { title: 'A < B', unit: 'ms', bars: [{ label: 'a & b', value: 0, isOurs: true }] }
  expect(() => barChart(chart)).toThrow(RangeError)
  expect(barChart({ ...chart, bars: [{ label: 'a & b', value: 3, isOurs: true }] })).toContain('a &amp; b')
})
