/** Checks `docs/contract-coverage.md`: rows name existing sources and tests, and every field has a row. @module */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { finality } from '../../packages/contract/src/finality.js'
import { flatTransactionSchema } from '../../packages/contract/src/legacy-snapshot.js'
import {
  legacyError,
  lookup,
  shareRequest,
  verified,
  verifyRequest,
} from '../../packages/contract/src/openapi/examples.js'
import {
  deliveryTimeoutMs,
  pageLimit,
  shareTokenLifetimeSeconds,
  signatureToleranceSeconds,
} from '../../packages/contract/src/wire.js'
import { account, payment, shareResponse, snapshot } from '../../packages/contract/test/samples.js'

const root = join(import.meta.dirname, '../..')
const document = readFileSync(join(root, 'docs/contract-coverage.md'), 'utf8')

interface Row {
  readonly clause: string
  readonly implementation: string
  readonly proof: string
  /** How many cells the row has; the page has four columns. */
  readonly cells: number
}

/** The rows of every table, without header lines. */
function rowsOf(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (Clause|---) /.test(line))
    .map((line) => {
      const cells = line.slice(2, -2).split(' | ')
      const [clause = '', , implementation = '', proof = ''] = cells
      return { clause, implementation, proof, cells: cells.length }
    })
}

/** The implementing files that a row names; null when the cell has another form than one or two files. */
function namedFiles({ implementation }: Row): string[] | null {
  const files = implementation.split(', ').map((part) => /^`([^`]+)`$/.exec(part)?.[1] ?? '')
  return files.length <= 2 && files.every((file) => file !== '') ? files : null
}

/** The tests that a row names: file and title. A part that is not `file`: "title", ... gives an empty title. */
function namedTests({ proof }: Row): { file: string; title: string }[] {
  return proof.split(/, (?=`)/).flatMap((part) => {
    const [, file, titles = ''] = /^`([^`]+)`: (".+")$/.exec(part) ?? []
    if (file === undefined) return [{ file: part, title: '' }]
    return titles
      .slice(1, -1)
      .split('", "')
      .map((title) => ({ file, title }))
  })
}

const known = new Map<string, ReadonlySet<string>>()
/** The titles of a file's tests, as written, or the names of a JSON file's vectors. Empty for a missing file. */
function titlesIn(file: string): ReadonlySet<string> {
  let titles = known.get(file)
  if (titles === undefined) {
    const path = join(root, file)
    titles = !existsSync(path) ? new Set() : file.endsWith('.json') ? vectorNames(path) : testTitles(path)
    known.set(file, titles)
  }
  return titles
}

function vectorNames(path: string): Set<string> {
  return new Set((JSON.parse(readFileSync(path, 'utf8')) as { name: string }[]).map(({ name }) => name))
}

/**
 * First arguments of `test(...)`, `it(...)` and `it.each(...)(...)`, and names of cases `{ name, run }` of a
 * conformance suite.
 */
function testTitles(path: string): Set<string> {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const titles = new Set<string>()
  function add(node: ts.Node | undefined): void {
    if (node === undefined) return
    if (ts.isStringLiteralLike(node)) titles.add(node.text)
    else if (ts.isTemplateExpression(node)) titles.add(node.getText(source).slice(1, -1))
  }
  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node) && /^(it|test)(\.each\b|$)/.test(calleeOf(node))) add(node.arguments[0])
    if (ts.isObjectLiteralExpression(node) && propertyOf(node, 'run')) {
      const name = propertyOf(node, 'name')
      if (name !== undefined && ts.isPropertyAssignment(name)) add(name.initializer)
    }
    ts.forEachChild(node, visit)
  }
  /** The text of the called function; `it.each` for `it.each(table)(title)`. A skipped test has another text. */
  function calleeOf({ expression }: ts.CallExpression): string {
    const called = ts.isCallExpression(expression) ? expression.expression : expression
    return called.getText(source).replace(/<.*>$/s, '')
  }
  function propertyOf(node: ts.ObjectLiteralExpression, name: string): ts.ObjectLiteralElementLike | undefined {
    return node.properties.find((property) => property.name?.getText(source) === name)
  }
  visit(source)
  return titles
}

/** The problems of a document, one line each. */
function problems(text: string): string[] {
  return rowsOf(text).flatMap((row) =>
    row.cells === 4
      ? [...implementationProblems(row), ...proofProblems(row)]
      : [`${row.clause}: the row has ${row.cells} cells, not 4`],
  )
}

function implementationProblems(row: Row): string[] {
  const { clause, implementation } = row
  const files = namedFiles(row)
  if (files === null) return [`${clause}: "${implementation}" is not one \`file\`, or two`]
  return files.flatMap((file) => {
    if (!isSource(file)) return [`${clause}: ${file} is not a source file of a package`]
    return existsSync(join(root, file)) ? [] : [`${clause}: there is no file ${file}`]
  })
}

function isSource(file: string): boolean {
  return /^packages\/[^/]+\/src\/.+\.ts$/.test(file) && !file.endsWith('.test.ts')
}

function proofProblems(row: Row): string[] {
  return namedTests(row).flatMap(({ file, title }) => {
    if (title === '') return [`${row.clause}: "${file}" is not \`file\`: "title"`]
    if (!existsSync(join(root, file))) return [`${row.clause}: there is no file ${file}`]
    return titlesIn(file).has(title) ? [] : [`${row.clause}: ${file} has no test "${title}"`]
  })
}

/** Names of the fields of a sample, nested ones as `outer.inner`; fields of array items count as the array's. */
function fieldsOf(sample: unknown, prefix = ''): string[] {
  if (typeof sample !== 'object' || sample === null) return []
  if (Array.isArray(sample)) return [...new Set(sample.flatMap((each) => fieldsOf(each, prefix)))]
  return Object.entries(sample).flatMap(([name, value]) => [
    `${prefix}${name}`,
    ...fieldsOf(value, `${prefix}${name}.`),
  ])
}

const { config, ...shallowAccount } = account
const closeWindow = { onCompleteAction: { type: 'CLOSE_WINDOW', payload: { delayMilliseconds: 5 } } }
/** Groupings of the code that are no fields of the contract. */
const groups = ['pageLimit', 'finality', ...Object.keys(finality).map((chainId) => `finality.${chainId}`)]
/** Beginning of a row's clause, and the sample with its fields. */
const fields: readonly (readonly [clause: string, sample: unknown])[] = [
  ['2.1', payment],
  ['2.2', { payments: [], nextCursor: null }],
  ['2.3', snapshot],
  ['2.4', [lookup, verified]],
  ['2.4 flat', Object.fromEntries(Object.keys(flatTransactionSchema.shape).map((name) => [name, '']))],
  ['2.4 account', { ...shallowAccount, config: null }],
  ['2.4 link', [config, closeWindow]],
  ['2.5', shareResponse],
  ['4.2', shareRequest],
  ['4.3 verify', verifyRequest],
  ['4.3 400', legacyError],
  ['8', { pageLimit, deliveryTimeoutMs, signatureToleranceSeconds, shareTokenLifetimeSeconds, finality }],
]

describe('docs/contract-coverage.md', () => {
  test('names only source files and tests that exist, and at least one of each per clause', () => {
    expect(problems(document)).toEqual([])
  })

  test('names every clause once', () => {
    const clauses = rowsOf(document).map(({ clause }) => clause)
    expect(clauses.filter((clause, index) => clauses.indexOf(clause) !== index)).toEqual([])
    expect(clauses.length).toBeGreaterThan(100)
  })

  test.each(fields)('has a row for every field of %s', (start, sample) => {
    const clauses = rowsOf(document).map(({ clause }) => clause)
    const needed = fieldsOf(sample).filter((field) => !groups.includes(field))
    expect(needed.length).toBeGreaterThan(1)
    expect(needed.filter((field) => !clauses.includes(`${start} \`${field}\``))).toEqual([])
  })

  test.each(['2.1', '2.2', '2.3', '2.4', '2.5', '3', '4', '4.1', '4.2', '4.3', '5', '6', '7', '8'])(
    'has rows of section %s',
    (section) => {
      expect(rowsOf(document).some(({ clause }) => clause.startsWith(`${section} `))).toBe(true)
    },
  )
})

describe('the check', () => {
  const own = 'tools/scripts/contract-coverage.test.ts'
  const source = 'packages/contract/src/wire.ts'
  const head = '| Clause | It says | Implemented by | Proved by |\n| --- | --- | --- | --- |\n'
  const row = (proof: string, implementation = `\`${source}\``) =>
    `${head}| 9 x | says | ${implementation} | ${proof} |\n`
  const proven = `\`${own}\`: "names every clause once"`

  test.each([
    ['a file that is missing', '`packages/none.test.ts`: "a"', '9 x: there is no file packages/none.test.ts'],
    ['a title that is missing', `\`${own}\`: "no such title"`, `9 x: ${own} has no test "no such title"`],
    ['the second of two titles', `\`${own}\`: "names every clause once", "gone"`, `9 x: ${own} has no test "gone"`],
    // 'names all' is no title: only this comment and the row below contain it.
    ['a title that is only mentioned', `\`${own}\`: "names all"`, `9 x: ${own} has no test "names all"`],
    [
      'a second file without a title',
      `\`${own}\`: "names every clause once", \`${own}\``,
      `9 x: "\`${own}\`" is not \`file\`: "title"`,
    ],
    [
      'files parted otherwise',
      `\`${own}\`: "names every clause once"<br>\`${own}\`: "gone"`,
      `9 x: ${own} has no test "names every clause once"<br>\`${own}\`: "gone"`,
    ],
    ['a row without a test', '', '9 x: "" is not `file`: "title"'],
    ['a row that names a file alone', `\`${own}\``, `9 x: "\`${own}\`" is not \`file\`: "title"`],
  ])('reports %s', (_what, proof, problem) => {
    expect(problems(row(proof))).toEqual([problem])
  })

  test.each([
    ['a row without an implementing file', '', '9 x: "" is not one `file`, or two'],
    ['an implementing file without backticks', source, `9 x: "${source}" is not one \`file\`, or two`],
    [
      'three implementing files',
      `\`${source}\`, \`${source}\`, \`${source}\``,
      `9 x: "\`${source}\`, \`${source}\`, \`${source}\`" is not one \`file\`, or two`,
    ],
    [
      'an implementing file that is missing',
      '`packages/core/src/none.ts`',
      '9 x: there is no file packages/core/src/none.ts',
    ],
    [
      'the second of two implementing files',
      `\`${source}\`, \`packages/core/src/none.ts\``,
      '9 x: there is no file packages/core/src/none.ts',
    ],
    ['a test as the implementing file', `\`${own}\``, `9 x: ${own} is not a source file of a package`],
    [
      'a folder as the implementing file',
      '`packages/core/src`',
      '9 x: packages/core/src is not a source file of a package',
    ],
  ])('reports %s', (_what, implementation, problem) => {
    expect(problems(row(proven, implementation))).toEqual([problem])
  })

  test('reports a row of three cells', () => {
    expect(problems(`${head}| 9 x | says | ${proven} |\n`)).toEqual(['9 x: the row has 3 cells, not 4'])
  })

  test('accepts one implementing file, or two', () => {
    const two = `\`${source}\`, \`packages/contract/src/finality.ts\``
    expect(problems(row(proven))).toEqual([])
    expect(problems(row(proven, two))).toEqual([])
  })

  test('accepts a plain title, a template of a table and a named vector', () => {
    const good = [`\`${own}\`: "names every clause once", "reports %s"`, '`vectors/signature.json`: "unknown fields"']
    expect(problems(row(good.join(', ')))).toEqual([])
  })
})
