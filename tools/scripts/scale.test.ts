/** Compares docs/scale.md with its model, and the model's constants with the benches. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listPrices, measured, modelCells, modelTable } from '../bench/cells/model.js'
import { readRuns } from '../bench/report.js'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const page = read('docs/scale.md')

test('the table of the page is that of the model', () => {
  expect(page).toContain(modelTable())
})

const results = ['cells', 'deliveries', 'retired', 'sync', 'updates'].flatMap((bench) =>
  readRuns(bench).flatMap(({ tables }) => tables.flatMap(({ rows }) => rows)),
)

test.each(Object.entries(measured))('the recorded benches have the constant %s, in its row', (_, { value, row }) => {
  const found = results.filter(([name]) => name === row)
  expect(found.flat().some((cell) => cell === value || String(cell).startsWith(`${value} and `))).toBe(true)
})

test.each(Object.entries(listPrices))('the page has a source for the price %s', (_, price) => {
  expect(page).toMatch(pricedAt[price] ?? /^$/)
})

/** Rows of the prices, with a link. */
const pricedAt: Readonly<Record<number, RegExp>> = {
  0.0816: /\| 0[.]0816 \| \[.*\]\(https:/,
  0.13: /\| 0[.]13 \| \[.*\]\(https:/,
  0.115: /\| 0[.]115 \| \[.*\]\(https:/,
  8: /\| 8 \| \[.*\]\(https:/,
}

test('the rate of many cells stays below the rate at which one cell indexes', () => {
  const rates = [1, 4, 16, 64, 1_000].map((cells) => modelCells(cells).rate)
  expect(rates).toEqual(rates.toSorted((a, b) => a - b))
  expect(rates.at(-1)).toBeLessThan(measured.indexed.value)
})

test('dearer machines make a million payments dearer', () => {
  expect(modelCells(4, { ...listPrices, machineHour: 1 }).money).toBeGreaterThan(modelCells(4).money)
})

test.each([0, 1.5, Number.NaN])('%s cells are rejected', (cells) => {
  expect(() => modelCells(cells)).toThrow(RangeError)
})
