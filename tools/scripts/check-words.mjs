/**
 * Rejects comments, pages and names that are hard to read. Usage: node tools/scripts/check-words.mjs [path prefix ...]
 * [--count].
 *
 * Three rules. No comment line ends beyond column 120. No sentence of a comment or of a decision page has more than 30
 * words. No identifier or string literal type has a name that the glossary replaces: `banned-names.json` lists them,
 * each with its replacement. `--count` prints totals per folder. Exit code 0 without problems, else 1.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commentsOf, identifiersOf, longSentences, prose } from './read-words.mjs'

const lastColumn = 120
const mostWords = 30

const root = join(import.meta.dirname, '../..')
const { values, positionals } = parseArgs({ options: { count: { type: 'boolean' } }, allowPositionals: true })
const banned = new Map(Object.entries(JSON.parse(readFileSync(join(import.meta.dirname, 'banned-names.json'), 'utf8'))))
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
const paths = listed.toString().split('\0').filter(isChosen)
const problems = paths.flatMap((path) => problemsOf(path).map((problem) => ({ path, ...problem })))
if (values.count) printCounts()
else for (const { path, line, words } of problems) console.error(`  ${path}:${line}: ${words}`)
console.log(`words: ${paths.length} files, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

/** @param {string} path */
function isChosen(path) {
  if (positionals.length > 0 && !positionals.some((prefix) => path.startsWith(prefix))) return false
  return isCode(path) || /^docs\/((decisions|guides)\/)?[^/]+\.md$/.test(path)
}

/** @param {string} path */
function isCode(path) {
  return /\.(ts|tsx|mts|mjs)$/.test(path) && !path.includes('.generated.')
}

/**
 * @param {string} path
 * @returns {{ line: number, words: string }[]}
 */
function problemsOf(path) {
  let text
  try {
    text = readFileSync(join(root, path), 'utf8')
  } catch {
    return [] // deleted and not yet committed
  }
  if (!isCode(path)) return longSentences(prose(text), mostWords)
  const comments = commentsOf(text, path)
  return [
    ...comments.flatMap(({ lines }) => lines.flatMap(tooWide)),
    ...comments.flatMap(({ sentences }) => longSentences(sentences, mostWords)),
    ...identifiersOf(text, path).flatMap(({ name, line }) => {
      const instead = banned.get(name)
      return instead === undefined ? [] : [{ line, words: `the name \`${name}\`: use ${instead}` }]
    }),
  ]
}

/** @param {{ line: number, width: number }} commentLine */
function tooWide({ line, width }) {
  return width > lastColumn ? [{ line, words: `a comment ends at column ${width}` }] : []
}

function printCounts() {
  const counts = new Map()
  for (const { path } of problems) {
    const folder = path.split('/').slice(0, 2).join('/')
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  for (const [folder, count] of [...counts].sort(([, a], [, b]) => b - a))
    console.log(`${String(count).padStart(6)}  ${folder}`)
}
