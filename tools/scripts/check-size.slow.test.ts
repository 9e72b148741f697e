import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, runScript } from './test/check-folder.js'

/** A workspace with one package of two lines of source, one of a test, three words and one public name. */
function workspace(ceilings: Readonly<Record<string, number>>, aim: number | null = null, reasons = {}): string {
  const rows = Object.entries(ceilings).map(([name, ceiling]) => [name, { before: 9, aim, ceiling }])
  const table = { folders: { a: ['packages/a/'] }, numbers: Object.fromEntries(rows), reasons }
  const folder = makeFolder({
    'packages/a/src/a.ts': '// One.\n// Two.\n',
    'packages/a/src/a.test.ts': '// A test.\n',
    'README.md': 'Three plain words\n',
    'tools/scripts/public-api.snapshot.json': JSON.stringify({ a: { '.': { values: ['a'], types: [] } } }),
    'tools/scripts/size-table.json': JSON.stringify(table),
  })
  execFileSync('git', ['init', '--quiet', folder])
  return folder
}

const run = (...args: string[]) => runScript('scripts/check-size.mjs', ...args)

const names = ['a: lines', 'a: files', 'all: lines of tests', 'all: public names', 'all: words of documents']
const numbers = [2, 1, 1, 1, 3]
const exact = Object.fromEntries(names.map((name, n) => [name, numbers[n] ?? 0]))

test('numbers at their ceilings pass', () => {
  expect(run(workspace(exact))).toMatchObject({ code: 0, printed: 'sizes: 5 numbers, 0 problems\n' })
})

test.each(names)('%s above its ceiling fails, with the number and the ceiling', (name) => {
  const ceiling = (exact[name] ?? 0) - 1
  const { code, printed } = run(workspace({ ...exact, [name]: ceiling }))
  expect(code).toBe(1)
  expect(printed).toContain(`${name}: ${ceiling + 1} is above ${ceiling}, its ceiling`)
})

test('a ceiling above its aim needs a reason, which --print prints', () => {
  expect(run(workspace(exact, 2))).toMatchObject({ code: 1, printed: expect.stringContaining('above its aim') })
  expect(run(workspace(exact, 2, { [names[4] ?? '']: 'a guide' }), '--print').printed).toContain('| 3 | 3 | a guide |')
})

test('--lower lowers a ceiling to the number and raises none; --print prints each row', () => {
  const folder = workspace({ 'a: lines': 1, 'a: files': 50 })
  expect(run(folder, '--lower', '--print').printed).toContain('| a: lines | 9 |  | 1 | 2 |  |')
  const table = JSON.parse(readFileSync(join(folder, 'tools/scripts/size-table.json'), 'utf8'))
  expect([table.numbers['a: lines'].ceiling, table.numbers['a: files'].ceiling]).toEqual([1, 2])
})
