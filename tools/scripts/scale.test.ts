/** Compares docs/scale.md with its model. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listPrices, measured, modelCells, modelTable } from '../bench/cells/model.js'
import { formatCell, readRuns } from '../bench/report.js'

const page = readFileSync(join(import.meta.dirname, '../..', 'docs/scale.md'), 'utf8')
const run = readRuns('cells').at(-1)?.tables[0]?.rows ?? []

test('the table of the page is that of the model', () => {
  expect(page).toContain(modelTable())
})

test.each(run.map((row) => row.slice(0, 4)))('the page has the newest run of %s', (...row) => {
  expect(page).toContain(`| ${row.map(formatCell).join(' | ')} |`)
})

test.each([
  ['one cell with all integrations', measured.own],
  ['one cell with none of them', measured.other],
])('the constants of the model are those of the newest run of %s', (name, { service, database }) => {
  expect(run.find(([row]) => row === name)?.slice(2, 4)).toEqual([service, database])
})

test.each(Object.entries(listPrices))('the page has a source for the price %s', (_, price) => {
  expect(page).toContain(`| ${price} | [`)
})

test('three cells carry at least 2.7 times what one does, and more cells carry more', () => {
  expect(modelCells(3).times).toBeGreaterThan(2.7)
  const rates = [1, 3, 16, 64].map((cells) => modelCells(cells).rate)
  expect(rates).toEqual(rates.toSorted((a, b) => a - b))
})

test.each([0, 1.5, Number.NaN])('%s cells are rejected', (cells) => {
  expect(() => modelCells(cells)).toThrow(RangeError)
})
