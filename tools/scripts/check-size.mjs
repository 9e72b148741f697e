/**
 * Rejects a workspace that grew. Usage: node tools/scripts/check-size.mjs [root] [--print] [--lower].
 *
 * `size-table.json` has, for each package and in total, the number at commit fc21e3f0, the aim, and the ceiling. A
 * number above its ceiling is a problem; so is a ceiling above its aim without a reason. `--print` prints the table.
 * `--lower` lowers each ceiling to just above its number. No option raises a ceiling: that is done by hand.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { print: { type: 'boolean' }, lower: { type: 'boolean' } },
  allowPositionals: true,
})
const root = resolve(positionals[0] ?? join(import.meta.dirname, '../..'))
const tablePath = join(root, 'tools/scripts/size-table.json')
/** @typedef {{ before: number, aim: number | null, ceiling: number }} Row */
/** @type {{ folders: Record<string, string[]>, numbers: Record<string, Row>, reasons: Record<string, string> }} */
const table = JSON.parse(readFileSync(tablePath, 'utf8'))
const rows = Object.entries(table.numbers)

const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\0')
  .flatMap((path) => {
    const kind = getKind(path)
    if (kind === null) return []
    try {
      return [{ path, kind, text: readFileSync(join(root, path), 'utf8') }]
    } catch {
      return [] // deleted and not yet committed
    }
  })

const counted = countAll()
if (values.lower) {
  for (const [name, row] of rows) row.ceiling = Math.min(row.ceiling, roundUp(counted.get(name) ?? 0))
  writeFileSync(tablePath, formatTable())
}
if (values.print) {
  console.log('| | before | aim | ceiling | now | reason |\n| --- | ---: | ---: | ---: | ---: | --- |')
  for (const [name, { before, aim, ceiling }] of rows) {
    const cells = [before, aim, ceiling, counted.get(name)].map((number) => number?.toLocaleString('en') ?? '')
    console.log(`| ${[name, ...cells, table.reasons[name] ?? ''].join(' | ')} |`)
  }
}
const problems = rows.filter(([name, { ceiling }]) => !((counted.get(name) ?? Number.NaN) <= ceiling))
for (const [name, { ceiling }] of problems)
  console.error(`  ${name}: ${counted.get(name)} is above ${ceiling}, its ceiling in tools/scripts/size-table.json`)
const unexplained = rows.filter(([name, { aim, ceiling }]) => ceiling > (aim ?? ceiling) && !table.reasons[name])
for (const [name] of unexplained) console.error(`  ${name}: its ceiling is above its aim without a reason`)
console.log(`sizes: ${rows.length} numbers, ${problems.length + unexplained.length} problems`)
process.exitCode = Math.min(problems.length + unexplained.length, 1)

/** Whether a file counts as source, as a test or as a document. @param {string} path */
function getKind(path) {
  if (/\.md$/.test(path)) return /(^|\/)CHANGELOG\.md$|^\.changeset\//.test(path) ? null : 'document'
  if (!/\.(ts|tsx|mts|cts|js|mjs|cjs)$/.test(path) || path.includes('.generated.') || path.includes('/peers/'))
    return null
  if (/\.(test|test-d)\.\w+$|(^|\/)test\//.test(path)) return 'test'
  return /^(packages|tools)\//.test(path) ? 'source' : null
}

/** The numbers by their names in the table. */
function countAll() {
  /** @type {Map<string, number>} */
  const numbers = new Map()
  const add = (/** @type {string} */ name, /** @type {number} */ count) =>
    numbers.set(name, (numbers.get(name) ?? 0) + count)
  for (const { path, kind, text } of files) {
    const lines = text.split('\n').length - 1
    if (kind === 'document') add('all: words of documents', text.split(/\s+/).filter(Boolean).length)
    if (kind === 'test') add('all: lines of tests', lines)
    if (kind !== 'source') continue
    add('all: lines', lines)
    add('all: files', 1)
    const [row] =
      Object.entries(table.folders).find(([, folders]) => folders.some((folder) => path.startsWith(folder))) ?? []
    if (row !== undefined) {
      add(`${row}: lines`, lines)
      add(`${row}: files`, 1)
    }
  }
  const api = JSON.parse(readFileSync(join(root, 'tools/scripts/public-api.snapshot.json'), 'utf8'))
  for (const entries of Object.values(api))
    for (const { values: named, types } of Object.values(entries)) add('all: public names', named.length + types.length)
  return numbers
}

/** A little above the number, so that a mended line needs no new ceiling. @param {number} count */
function roundUp(count) {
  if (count < 1_000) return Math.ceil(count * 1.01)
  const step = count < 20_000 ? 50 : 500
  return Math.ceil((count * 1.005) / step) * step
}

/** The table as JSON with one name per line, which the formatter leaves unchanged. */
function formatTable() {
  const getLines = (/** @type {Record<string, unknown>} */ part) =>
    Object.entries(part).map(([name, value]) => {
      const text = JSON.stringify(value).replaceAll(',"', ', "').replaceAll('":', '": ')
      return `    ${JSON.stringify(name)}: ${text.replace(/^\{(.*)\}$/, '{ $1 }')}`
    })
  const parts = Object.entries(table).map(([name, part]) => `  "${name}": {\n${getLines(part).join(',\n')}\n  }`)
  return `{\n${parts.join(',\n')}\n}\n`
}
