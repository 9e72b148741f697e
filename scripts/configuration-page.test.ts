/** Compares the table of docs/configuration.md with the variables that the server reads. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'packages/server/src/config')
const name = /PI_[A-Z][A-Z0-9_]*/g
/** Names in the code: those that end with `_` are prefixes, whose rest is a chain id or another word. */
const read = new Set(
  readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(/['`](PI_[A-Z][A-Z0-9_]*)/g)])
    .map(([, found = '']) => found),
)
const page = readFileSync(join(root, 'docs/configuration.md'), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| `PI_'))
const listed = new Set(rows.flatMap((row) => row.split(' | ')[0]?.match(name) ?? []))

test('every variable that the server reads has a row', () => {
  const missing = [...read].filter((each) => ![...listed].some((row) => row === each || row.startsWith(each)))
  expect(missing.toSorted()).toEqual([])
})

test('every row names a variable that the server reads', () => {
  const prefixes = [...read].filter((each) => each.endsWith('_'))
  const unknown = [...listed].filter((row) => !read.has(row) && !prefixes.some((prefix) => row.startsWith(prefix)))
  expect(unknown.toSorted()).toEqual([])
})
