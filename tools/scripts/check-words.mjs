/**
 * Rejects comments, pages and names that are hard to read. Usage: node tools/scripts/check-words.mjs [path prefix ...]
 *
 * Three rules. No comment line ends beyond column 120. No sentence of a comment, or of a page of the documents, has
 * more than 30 words. No identifier has a name that the glossary replaces. Exit code 0 without problems, else 1.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'

const maxColumn = 120
const maxWords = 30

/** @type {readonly (readonly [RegExp, string])[]} Names that are not used, and what to write instead. */
const bannedNames = [
  [/asItWas/i, 'unchanged'],
  [/^(is)?[Ll]apsed$/, 'expired'],
  [/overtaken/i, 'superseded'],
  [/^(isAgain|mostAgain)$/, 'isRetry, maxRetries'],
  [/^alarm$/i, 'wake'],
  [/^tell$/, 'a verb that says to whom: report, answer, emit, print'],
]

/** @typedef {{ line: number, words: string }} Problem A place and what is wrong there. */
/** @typedef {{ line: number, text: string }} Paragraph A piece of prose and the line where it begins. */

/** The problems of a file. @param {string} path @param {string} text @returns {Problem[]} */
export function findProblems(path, text) {
  if (path.endsWith('.md')) return findLongSentences(readPage(text))
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const lines = text.split('\n')
  const lineAt = (/** @type {number} */ at) => source.getLineAndCharacterOfPosition(at).line
  /** @type {Problem[]} */
  const problems = []
  const wide = new Set()
  for (const { pos, end } of readComments(source)) {
    for (let line = lineAt(pos); line <= lineAt(end); line++) {
      const width = lines[line]?.length ?? 0
      if (width > maxColumn && !wide.has(line))
        problems.push({ line: line + 1, words: `a comment ends at column ${width}` })
      wide.add(line)
    }
    const stripped = text.slice(pos, end).replace(/^[ \t]*(\/\*\*?|\/\/|\*(?!\/))|\*\/\s*$/gm, '')
    problems.push(...findLongSentences(splitParagraphs(stripped, lineAt(pos) + 1)))
  }
  forEachToken(source, (node) => {
    const [, instead] = ts.isIdentifier(node) ? (bannedNames.find(([name]) => name.test(node.text)) ?? []) : []
    if (instead !== undefined)
      problems.push({ line: lineAt(node.getStart()) + 1, words: `the name \`${node.getText()}\`: use ${instead}` })
  })
  return problems
}

/** @param {ts.Node} node @param {(token: ts.Node) => void} visit */
function forEachToken(node, visit) {
  const children = node.getChildren().filter((child) => !ts.isJSDoc(child))
  if (children.length === 0) visit(node)
  for (const child of children) forEachToken(child, visit)
}

/** The comments of a source. Line comments directly below each other are one. @param {ts.SourceFile} source */
function readComments(source) {
  const { text } = source
  /** @type {Map<number, ts.CommentRange>} */
  const ranges = new Map()
  forEachToken(source, (token) => {
    const at = token.getFullStart()
    if (ts.isJsxText(token)) return
    for (const range of [
      ...(ts.getTrailingCommentRanges(text, at) ?? []),
      ...(ts.getLeadingCommentRanges(text, at) ?? []),
    ])
      ranges.set(range.pos, range)
  })
  /** @type {{ pos: number, end: number, isLine: boolean }[]} */
  const joined = []
  for (const { pos, end, kind } of [...ranges.values()].sort((a, b) => a.pos - b.pos)) {
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia
    const last = joined.at(-1)
    if (isLine && last?.isLine && /^\n[ \t]*$/.test(text.slice(last.end, pos))) last.end = end
    else joined.push({ pos, end, isLine })
  }
  return joined
}

/** The prose of a page, without code, tables and headings. @param {string} page @returns {Paragraph[]} */
function readPage(page) {
  let isCode = false
  const lines = page.split('\n').map((line) => {
    const isFence = /^\s*(```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    return isFence || isCode || /^\s*(\||#|<|---)/.test(line) ? '' : line
  })
  return splitParagraphs(lines.join('\n'), 1)
}

/** Splits off paragraphs, items and tags; drops examples and types. @param {string} text @param {number} first Line. */
function splitParagraphs(text, first) {
  /** @type {Paragraph[]} */
  const paragraphs = []
  let [isOpen, isSkipped] = [false, false]
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || /^(@\w+|[-*] |\d+\. |\|)/.test(line))
      [isOpen, isSkipped] = [false, /^(@(example|type|typedef|returns? \{)|\|)/.test(line)]
    if (isSkipped || line === '') continue
    const last = paragraphs.at(-1)
    if (isOpen && last !== undefined) last.text += ` ${line}`
    else paragraphs.push({ text: line, line: first + index })
    isOpen = true
  }
  return paragraphs
}

/** Sentences of too many words; colons do not end one. @param {Paragraph[]} paragraphs @returns {Problem[]} */
function findLongSentences(paragraphs) {
  return paragraphs.flatMap(({ text, line }) =>
    text
      .replace(/`[^`]*`|\{@link [^}]*\}/g, 'code')
      .replace(/\]\([^)]*\)/g, ']')
      .replace(/\b(e\.g|i\.e|etc|vs)\./g, '$1')
      .split(/(?<=[.!?][)"'*_]*)\s+|\s@\w+/)
      .flatMap((sentence) => {
        const count = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
        const begin = sentence.split(' ').slice(0, 8).join(' ')
        return count > maxWords ? [{ line, words: `a sentence of ${count} words: ${begin} …` }] : []
      }),
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = join(import.meta.dirname, '../..')
  const prefixes = process.argv.slice(2)
  const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
    .toString()
    .split('\n')
    .filter((path) => prefixes.length === 0 || prefixes.some((prefix) => path.startsWith(prefix)))
    .filter((path) => /^(?!.*\.generated\.).*\.(tsx?|m[tj]s)$|^docs\/((decisions|guides)\/)?[^/]+\.md$/.test(path))
    .filter((path) => existsSync(join(root, path)))
  const problems = paths.flatMap((path) =>
    findProblems(path, readFileSync(join(root, path), 'utf8')).map(({ line, words }) => `  ${path}:${line}: ${words}`),
  )
  for (const problem of problems) console.error(problem)
  console.log(`words: ${paths.length} files, ${problems.length} problems`)
  process.exitCode = problems.length > 0 ? 1 : 0
}
