/**
 * Writes the column "Implemented by" of `docs/contract-coverage.md`. Usage: node scripts/write-implementations.mjs.
 *
 * `contract-implementations.json` lists the source files of each clause, by hand. A row may have the column or not, so
 * a new row needs no cell for it. Exit code 1 when a clause is in the page alone or in the list alone.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const page = join(import.meta.dirname, '../docs/contract-coverage.md')
const list = join(import.meta.dirname, 'contract-implementations.json')
/** @type {Map<string, string[]>} */
const implementations = new Map(Object.entries(JSON.parse(readFileSync(list, 'utf8'))))
/** @type {string[]} */
const unlisted = []

const lines = readFileSync(page, 'utf8').split('\n').map(withFiles)
const problems = [
  ...unlisted.map((clause) => `${clause}: contract-implementations.json has no file for it`),
  ...[...implementations.keys()].map((clause) => `${clause}: docs/contract-coverage.md has no row for it`),
]
for (const problem of problems) console.error(`  ${problem}`)
if (problems.length === 0) writeFileSync(page, lines.join('\n'))
process.exitCode = problems.length > 0 ? 1 : 0

/** @param {string} line */
function withFiles(line) {
  if (!line.startsWith('| ')) return line
  const cells = line.slice(2, -2).split(' | ')
  const [clause = '', says = ''] = cells
  return `| ${[clause, says, implementedBy(clause), cells.at(-1)].join(' | ')} |`
}

/** @param {string} clause */
function implementedBy(clause) {
  if (clause === 'Clause') return 'Implemented by'
  if (clause === '---') return '---'
  const files = implementations.get(clause)
  implementations.delete(clause)
  if (files === undefined) unlisted.push(clause)
  return (files ?? []).map((file) => `\`${file}\``).join(', ')
}
