/** Reads comments, sentences and identifiers of sources, and the prose of Markdown pages. @module */
import ts from 'typescript'

/** @typedef {{ text: string, line: number }} Passage A piece of prose and the line where it begins. */

/**
 * Comments of a source: each line with the column where it ends, and the prose without marks and examples.
 * Line comments that stand directly below each other are one comment.
 * @param {string} text
 * @param {string} path
 */
export function commentsOf(text, path) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found = new Map()
  /** @param {ts.Node} node */
  function visit(node) {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ])
      found.set(range.pos, range)
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  const isInLiteral = literalRanges(source)
  const ranges = [...found.values()].filter(({ pos }) => !isInLiteral(pos)).sort((a, b) => a.pos - b.pos)
  const allLines = text.split('\n')
  return joinLineComments(ranges, text).map(({ pos, end }) => {
    const first = source.getLineAndCharacterOfPosition(pos).line
    const last = source.getLineAndCharacterOfPosition(end).line
    const lines = allLines
      .slice(first, last + 1)
      .map((line, index) => ({ line: first + index + 1, width: line.length }))
    return { lines, sentences: commentProse(text.slice(pos, end), first + 1) }
  })
}

/** @param {ts.SourceFile} source */
function literalRanges(source) {
  /** @type {[number, number][]} */
  const ranges = []
  /** @param {ts.Node} node */
  function visit(node) {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateLiteralToken(node) ||
      ts.isRegularExpressionLiteral(node) ||
      ts.isJsxText(node)
    )
      ranges.push([node.getStart(source), node.getEnd()])
    ts.forEachChild(node, visit)
  }
  visit(source)
  return (/** @type {number} */ pos) => ranges.some(([begin, end]) => pos >= begin && pos < end)
}

/**
 * @param {ts.CommentRange[]} ranges
 * @param {string} text
 */
function joinLineComments(ranges, text) {
  /** @type {{ pos: number, end: number, isLine: boolean }[]} */
  const joined = []
  for (const { pos, end, kind } of ranges) {
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia
    const before = joined.at(-1)
    const between = before === undefined ? 'x' : text.slice(before.end, pos)
    if (before?.isLine && isLine && /^\n[ \t]*$/.test(between)) before.end = end
    else joined.push({ pos, end, isLine })
  }
  return joined
}

/**
 * Paragraphs of a comment. A tag begins a new one; examples and directives are none.
 * @param {string} comment
 * @param {number} first - The line where it begins.
 * @returns {Passage[]}
 */
function commentProse(comment, first) {
  const lines = comment.split('\n').map((line) =>
    line
      .replace(/^\s*(\/\*\*?|\/\/|\*(?!\/))/, '')
      .replace(/\*\/\s*$/, '')
      .trim(),
  )
  return paragraphs(lines, first, (line) => /^@(example|type|typedef|returns? \{)/.test(line))
}

/**
 * Paragraphs of a Markdown page, without code, tables, headings and link targets.
 * @param {string} page
 * @returns {Passage[]}
 */
export function prose(page) {
  let isCode = false
  const lines = page.split('\n').map((line) => {
    if (/^\s*(```|~~~)/.test(line)) {
      isCode = !isCode
      return ''
    }
    return isCode || /^\s*(\||#|<|---)/.test(line) ? '' : line
  })
  return paragraphs(lines, 1, () => false)
}

/**
 * @param {string[]} lines
 * @param {number} first
 * @param {(line: string) => boolean} isSkipped - Whether a line begins a part that is no prose.
 * @returns {Passage[]}
 */
function paragraphs(lines, first, isSkipped) {
  /** @type {Passage[]} */
  const found = []
  let isOpen = false
  let isHidden = false
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim()
    const begins = /^(@\w+|[-*] |\d+\. |\|)/.test(line)
    if (line === '' || begins) isOpen = false
    if (begins || line === '') isHidden = isSkipped(line)
    if (line === '' || isHidden || line.startsWith('|') || line.startsWith('```')) continue
    const last = found.at(-1)
    if (isOpen && last !== undefined) last.text += ` ${line}`
    else found.push({ text: line, line: first + index })
    isOpen = true
  }
  return found
}

/**
 * Sentences of more words than allowed. A colon or semicolon does not end a sentence.
 * @param {Passage[]} passages
 * @param {number} most
 */
export function longSentences(passages, most) {
  return passages.flatMap(({ text, line }) =>
    sentencesOf(text).flatMap((sentence) => {
      const count = wordsOf(sentence)
      const begin = sentence.split(' ').slice(0, 8).join(' ')
      return count > most ? [{ line, words: `a sentence of ${count} words: ${begin} …` }] : []
    }),
  )
}

/** @param {string} text */
function sentencesOf(text) {
  return text
    .replace(/`[^`]*`/g, 'code')
    .replace(/\{@link [^}]*\}/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/\b(e\.g|i\.e|etc|vs)\./g, '$1')
    .split(/(?<=[.!?][)"'*_]*)\s+|\s@\w+/)
}

/** @param {string} sentence */
function wordsOf(sentence) {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length
}

/**
 * Every identifier and every string that names a state, with its line. A name counts once per line.
 * @param {string} text
 * @param {string} path
 * @returns {{ name: string, line: number }[]}
 */
export function identifiersOf(text, path) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found = new Map()
  /** @param {ts.Node} node */
  function visit(node) {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
      found.set(`${line} ${node.text}`, { name: node.text, line })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...found.values()]
}
