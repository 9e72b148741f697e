/** Finds the regular expressions of TypeScript and JavaScript sources. @module */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/**
 * @typedef {object} Pattern
 * @property {string} file Relative to the root.
 * @property {number} line From 1.
 * @property {string | null} source Null when it is built at run time.
 * @property {string} flags
 */

/** Methods that turn a string into a pattern. */
const takingPatterns = new Set(['match', 'matchAll', 'search'])

/**
 * Every pattern of the code that packages and examples ship.
 * @param {string} root
 * @returns {Pattern[]}
 */
export function findPatterns(root) {
  return ['packages', 'examples'].flatMap((folder) => filesIn(root, folder).flatMap((file) => patternsIn(root, file)))
}

/** @param {string} root @param {string} folder @returns {string[]} */
function filesIn(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory())
      return ['node_modules', 'dist', 'test', '.next'].includes(entry.name) ? [] : filesIn(root, path)
    return /[.][cm]?[jt]sx?$/.test(entry.name) && !/[.]test(-d)?[.]ts$|[.]generated[.]/.test(entry.name) ? [path] : []
  })
}

/** @param {string} root @param {string} file @returns {Pattern[]} */
function patternsIn(root, file) {
  const text = readFileSync(join(root, file), 'utf8')
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  /** @type {Pattern[]} */
  const found = []
  /** @param {ts.Node} node @param {string | null} source @param {string} flags */
  const add = (node, source, flags) => {
    const { line } = parsed.getLineAndCharacterOfPosition(node.getStart(parsed))
    found.push({ file, line: line + 1, source, flags })
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      add(node, node.text.slice(1, end), node.text.slice(end + 1))
    } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.arguments !== undefined) {
      const [pattern, flags] = node.arguments
      const isMade = ts.isIdentifier(node.expression) && node.expression.text === 'RegExp'
      const takes = ts.isPropertyAccessExpression(node.expression) && takingPatterns.has(node.expression.name.text)
      if (pattern !== undefined && isMade && !ts.isRegularExpressionLiteral(pattern))
        add(node, textOf(pattern), flags === undefined ? '' : (textOf(flags) ?? ''))
      else if (pattern !== undefined && takes && textOf(pattern) !== null) add(node, textOf(pattern), '')
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  return found
}

/** The value of a string literal; null for any other expression. @param {ts.Expression} node */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text
  const isRaw = ts.isTaggedTemplateExpression(node) && ts.isNoSubstitutionTemplateLiteral(node.template)
  return isRaw ? (node.template.rawText ?? null) : null
}
