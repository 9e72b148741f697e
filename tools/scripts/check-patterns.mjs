/**
 * Rejects regular expressions that may take more than linear time. Usage: node tools/scripts/check-patterns.mjs [root]
 * [--list].
 *
 * Two rules keep a search linear. No two repeats of a pattern may match the same text, which scslre finds. An
 * unanchored pattern must end with its endless repeat: else each start position reads to the end of the text and then
 * fails. `--list` prints the patterns as JSON. Exit code 0 without problems, else 1.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { analyse } from 'scslre'
import ts from 'typescript'

/**
 * @typedef {object} Pattern
 * @property {string} file Relative to the root.
 * @property {number} line From 1.
 * @property {string | null} source Null when it is built at run time.
 * @property {string} flags
 */

/** Repeats of more than this count as endless. */
const maxRepeats = 256
/** Files that join patterns from escaped literals, without adding a repeat. */
const joinedFromLiterals = new Set(['packages/chain-evm/src/rpc/failures.ts', 'packages/client/src/internal/check.ts'])

/** Methods that turn a string into a pattern. */
const patternMethods = new Set(['match', 'matchAll', 'search'])

const unreadable = 'is put together when the program runs, where no check reads it: write a literal'
const ambiguous = 'divides the same text among its repeats in many ways: let neighbors begin with different characters'
const unanchored =
  'begins anywhere and goes on after an endless repeat: anchor it with ^, bound the repeat, or write a loop'

const { values, positionals } = parseArgs({ options: { list: { type: 'boolean' } }, allowPositionals: true })
const patterns = findPatterns(resolve(positionals[0] ?? join(import.meta.dirname, '../..')))
const problems = patterns.flatMap(({ file, line, source, flags }) => {
  const flaw = source === null ? (joinedFromLiterals.has(file) ? null : unreadable) : findFlaw(source, flags)
  return flaw === null ? [] : [`${file}:${line}: ${source === null ? 'RegExp' : `/${source}/${flags}`} ${flaw}.`]
})
for (const problem of problems) console.error(`  ${problem}`)
console.log(values.list ? JSON.stringify(patterns) : `patterns: ${patterns.length}, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

/** Why a pattern may take too long, or null. @param {string} source @param {string} flags */
function findFlaw(source, flags) {
  if (analyse({ source, flags }, { reportTypes: { Move: false } }).reports.length > 0) return ambiguous
  const isUnicode = flags.includes('u') || flags.includes('v')
  const mode = { unicode: isUnicode, unicodeSets: flags.includes('v') }
  const { alternatives } = new RegExpParser().parsePattern(source, 0, source.length, mode)
  const begins = alternatives.filter(({ elements: [first] }) => !isStart(first) || flags.includes('m'))
  return !flags.includes('y') && begins.some(continuesAfterRepeat) ? unanchored : null
}

/** @param {import('@eslint-community/regexpp').AST.Element | undefined} element */
function isStart(element) {
  return element?.type === 'Assertion' && element.kind === 'start'
}

/**
 * Whether something that may fail follows an endless repeat, or the repeat is inside a lookaround.
 * @param {import('@eslint-community/regexpp').AST.Alternative} alternative
 */
function continuesAfterRepeat(alternative) {
  let hasRepeat = false
  visitRegExpAST(alternative, {
    onQuantifierEnter(quantifier) {
      hasRepeat ||= quantifier.max > maxRepeats && !isLast(quantifier, alternative)
    },
  })
  return hasRepeat
}

/**
 * Whether everything after a node within `whole` is optional.
 * @param {import('@eslint-community/regexpp').AST.Node} node
 * @param {import('@eslint-community/regexpp').AST.Alternative} whole
 * @returns {boolean}
 */
function isLast(node, whole) {
  const { parent } = node
  if (node === whole) return true
  if (parent === null || node.type === 'Assertion') return false
  if (parent.type !== 'Alternative') return isLast(parent, whole)
  const rest = parent.elements.slice(parent.elements.indexOf(/** @type {never} */ (node)) + 1)
  return rest.every((element) => element.type === 'Quantifier' && element.min === 0) && isLast(parent, whole)
}

/** Every pattern of the code that packages and examples ship. @param {string} root @returns {Pattern[]} */
function findPatterns(root) {
  return ['packages', 'examples'].flatMap((folder) => listFiles(root, folder).flatMap((file) => scanFile(root, file)))
}

/** @param {string} root @param {string} folder @returns {string[]} */
function listFiles(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory())
      return ['node_modules', 'dist', 'test', '.next'].includes(entry.name) ? [] : listFiles(root, path)
    return /[.][cm]?[jt]sx?$/.test(entry.name) && !/[.]test(-d)?[.]ts$|[.]generated[.]/.test(entry.name) ? [path] : []
  })
}

/** @param {string} root @param {string} file @returns {Pattern[]} */
function scanFile(root, file) {
  const text = readFileSync(join(root, file), 'utf8')
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  /** @type {Pattern[]} */
  const patterns = []
  /** @param {ts.Node} node @param {string | null} source @param {string} flags */
  const add = (node, source, flags) => {
    const { line } = parsed.getLineAndCharacterOfPosition(node.getStart(parsed))
    patterns.push({ file, line: line + 1, source, flags })
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      add(node, node.text.slice(1, end), node.text.slice(end + 1))
    } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.arguments !== undefined) {
      const [pattern, flags] = node.arguments
      const isConstructed = ts.isIdentifier(node.expression) && node.expression.text === 'RegExp'
      const isSearch = ts.isPropertyAccessExpression(node.expression) && patternMethods.has(node.expression.name.text)
      if (pattern !== undefined && isConstructed && !ts.isRegularExpressionLiteral(pattern))
        add(node, readText(pattern), flags === undefined ? '' : (readText(flags) ?? ''))
      else if (pattern !== undefined && isSearch && readText(pattern) !== null) add(node, readText(pattern), '')
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  return patterns
}

/** The value of a string literal; null for any other expression. @param {ts.Expression} node */
function readText(node) {
  if (ts.isStringLiteralLike(node)) return node.text
  const isRaw = ts.isTaggedTemplateExpression(node) && ts.isNoSubstitutionTemplateLiteral(node.template)
  return isRaw ? (node.template.rawText ?? null) : null
}
