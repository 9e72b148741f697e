/**
 * Rejects regular expressions that may take more than linear time. Usage: node tools/scripts/check-patterns.mjs [root]
 * [--list].
 *
 * Two rules keep a search linear. No two repeats of a pattern may match the same text, which scslre finds. An
 * unanchored pattern must end with its endless repeat: else each start position reads to the end of the text and then
 * fails. `--list` prints the patterns as JSON. Exit code 0 without problems, else 1.
 * @module
 */
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { RegExpParser, visitRegExpAST } from '@eslint-community/regexpp'
import { analyse } from 'scslre'
import { findPatterns } from './find-patterns.mjs'

/** Repeats of more than this count as endless. */
const mostRepeats = 256
/** Files that join patterns from escaped literals, without adding a repeat. */
const ofLiterals = new Set(['packages/chain-evm/src/rpc/failures.ts', 'packages/client/src/internal/check.ts'])

const unreadable = 'is put together when the program runs, where no check reads it: write a literal'
const dividing = 'divides the same text among its repeats in many ways: let neighbours begin with different characters'
const floating =
  'begins anywhere and goes on after an endless repeat: anchor it with ^, bound the repeat, or write a loop'

const { values, positionals } = parseArgs({ options: { list: { type: 'boolean' } }, allowPositionals: true })
const patterns = findPatterns(resolve(positionals[0] ?? join(import.meta.dirname, '../..')))
const problems = patterns.flatMap(({ file, line, source, flags }) => {
  const flaw = source === null ? (ofLiterals.has(file) ? null : unreadable) : flawOf(source, flags)
  return flaw === null ? [] : [`${file}:${line}: ${source === null ? 'RegExp' : `/${source}/${flags}`} ${flaw}.`]
})
for (const problem of problems) console.error(`  ${problem}`)
console.log(values.list ? JSON.stringify(patterns) : `patterns: ${patterns.length}, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

/**
 * Why a pattern may take too long, or null.
 * @param {string} source
 * @param {string} flags
 */
function flawOf(source, flags) {
  if (analyse({ source, flags }, { reportTypes: { Move: false } }).reports.length > 0) return dividing
  const isUnicode = flags.includes('u') || flags.includes('v')
  const mode = { unicode: isUnicode, unicodeSets: flags.includes('v') }
  const { alternatives } = new RegExpParser().parsePattern(source, 0, source.length, mode)
  const begins = alternatives.filter(({ elements: [first] }) => !isStart(first) || flags.includes('m'))
  return !flags.includes('y') && begins.some(goesOn) ? floating : null
}

/** @param {import('@eslint-community/regexpp').AST.Element | undefined} element */
function isStart(element) {
  return element?.type === 'Assertion' && element.kind === 'start'
}

/**
 * Whether something that may fail follows an endless repeat, or the repeat is inside a lookaround.
 * @param {import('@eslint-community/regexpp').AST.Alternative} alternative
 */
function goesOn(alternative) {
  let found = false
  visitRegExpAST(alternative, {
    onQuantifierEnter(quantifier) {
      found ||= quantifier.max > mostRepeats && !isLast(quantifier, alternative)
    },
  })
  return found
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
