/** Checks `contract-coverage.json`: rows name existing sources and tests, and every field has a row. @module */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { finality } from '../../packages/contract/src/finality.js'
import { flatTransactionSchema } from '../../packages/contract/src/legacy-snapshot.js'
import * as examples from '../../packages/contract/src/openapi/examples.js'
import * as wire from '../../packages/contract/src/wire.js'
import { account, payment, shareResponse, snapshot } from '../../packages/contract/test/samples.js'

const root = join(import.meta.dirname, '../..')

/** A clause with its text, the one or two files that fulfill it, and the titles of its tests by file. */
interface Row {
  readonly clause: string
  readonly statement: string
  readonly files: readonly string[]
  readonly tests: Readonly<Record<string, readonly string[]>>
}

const coverage = JSON.parse(readFileSync(join(root, 'tools/scripts/contract-coverage.json'), 'utf8')) as {
  readonly sections: readonly { readonly heading: string; readonly rows: readonly Row[] }[]
}
const rows = coverage.sections.flatMap((section) => section.rows)
const clauses = rows.map(({ clause }) => clause)

const titlesByFile = new Map<string, ReadonlySet<string>>()
/** The titles of a file's tests, as written, or the names of a JSON file's vectors. Empty for a missing file. */
function titlesIn(file: string): ReadonlySet<string> {
  let titles = titlesByFile.get(file)
  if (titles === undefined) {
    const path = join(root, file)
    titles = !existsSync(path) ? new Set() : file.endsWith('.json') ? vectorNames(path) : testTitles(path)
    titlesByFile.set(file, titles)
  }
  return titles
}

function vectorNames(path: string): Set<string> {
  return new Set((JSON.parse(readFileSync(path, 'utf8')) as { name: string }[]).map(({ name }) => name))
}

/** Titles of `test(...)`, `it(...)` and `it.each(...)(...)`, and names of the cases of a conformance suite. */
function testTitles(path: string): Set<string> {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const titles = new Set<string>()
  function add(node: ts.Node | undefined): void {
    if (node === undefined) return
    if (ts.isStringLiteralLike(node)) titles.add(node.text)
    else if (ts.isTemplateExpression(node)) titles.add(node.getText(source).slice(1, -1))
  }
  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node) && /^(it|test)(\.each\b|$)/.test(getCallee(node))) add(node.arguments[0])
    if (ts.isMethodDeclaration(node) && isSuite(node.parent.parent)) add(node.name)
    ts.forEachChild(node, visit)
  }
  /** The text of the called function; `it.each` for `it.each(table)(title)`. A skipped test has another text. */
  function getCallee({ expression }: ts.CallExpression): string {
    const called = ts.isCallExpression(expression) ? expression.expression : expression
    return called.getText(source).replace(/<.*>$/s, '')
  }
  function isSuite(node: ts.Node): boolean {
    return ts.isVariableDeclaration(node) && node.type?.getText(source) === 'Cases'
  }
  visit(source)
  return titles
}

/** The problems of rows, one line each. */
function problems(of: readonly Row[]): string[] {
  return of.flatMap((row) => [...implementationProblems(row), ...proofProblems(row)])
}

function implementationProblems({ clause, files }: Row): string[] {
  if (files.length === 0 || files.length > 2) return [`${clause}: it names ${files.length} files, not one or two`]
  return files.flatMap((file) => {
    if (!/^packages\/[^/]+\/src\/.+(?<!\.test)\.ts$/.test(file))
      return [`${clause}: ${file} is not a source file of a package`]
    return existsSync(join(root, file)) ? [] : [`${clause}: there is no file ${file}`]
  })
}

function proofProblems({ clause, tests }: Row): string[] {
  if (Object.keys(tests).length === 0) return [`${clause}: it names no test`]
  return Object.entries(tests).flatMap(([file, titles]) => {
    if (!existsSync(join(root, file))) return [`${clause}: there is no file ${file}`]
    if (titles.length === 0) return [`${clause}: it names no test in ${file}`]
    const missing = titles.filter((title) => !titlesIn(file).has(title))
    return missing.map((title) => `${clause}: ${file} has no test "${title}"`)
  })
}

/** Names of the fields of a sample, nested ones as `outer.inner`; fields of array items count as the array's. */
function getFields(sample: unknown, prefix = ''): string[] {
  if (typeof sample !== 'object' || sample === null) return []
  if (Array.isArray(sample)) return [...new Set(sample.flatMap((each) => getFields(each, prefix)))]
  return Object.entries(sample).flatMap(([name, value]) => [
    `${prefix}${name}`,
    ...getFields(value, `${prefix}${name}.`),
  ])
}

const { config, ...shallowAccount } = account
const { deliveryTimeoutMs, pageLimit, shareTokenLifetimeSeconds, signatureToleranceSeconds } = wire
const closeWindow = { onCompleteAction: { type: 'CLOSE_WINDOW', payload: { delayMilliseconds: 5 } } }
/** Groupings of the code that are no fields of the contract. */
const groups = ['pageLimit', 'finality', ...Object.keys(finality).map((chainId) => `finality.${chainId}`)]
/** Beginning of a row's clause, and the sample with its fields. */
const fields: readonly (readonly [clause: string, sample: unknown])[] = [
  ['2.1', payment],
  ['2.2', { payments: [], nextCursor: null }],
  ['2.3', snapshot],
  ['2.4', [examples.lookup, examples.verified]],
  ['2.4 flat', Object.fromEntries(Object.keys(flatTransactionSchema.shape).map((name) => [name, '']))],
  ['2.4 account', { ...shallowAccount, config: null }],
  ['2.4 link', [config, closeWindow]],
  ['2.5', shareResponse],
  ['4.2', examples.shareRequest],
  ['4.3 verify', examples.verifyRequest],
  ['4.3 400', examples.legacyError],
  ['8', { pageLimit, deliveryTimeoutMs, signatureToleranceSeconds, shareTokenLifetimeSeconds, finality }],
]

describe('contract-coverage.json', () => {
  test('names only source files and tests that exist, and at least one of each per clause', () => {
    expect(problems(rows)).toEqual([])
  })

  test('names every clause once', () => {
    expect(clauses.filter((clause, index) => clauses.indexOf(clause) !== index)).toEqual([])
    expect(clauses.length).toBeGreaterThan(100)
  })

  test.each(fields)('has a row for every field of %s', (start, sample) => {
    const needed = getFields(sample).filter((field) => !groups.includes(field))
    expect(needed.length).toBeGreaterThan(1)
    expect(needed.filter((field) => !clauses.includes(`${start} \`${field}\``))).toEqual([])
  })

  test.each(['2.1', '2.2', '2.3', '2.4', '2.5', '3', '4', '4.1', '4.2', '4.3', '5', '6', '7', '8'])(
    'has rows of section %s',
    (section) => {
      expect(clauses.some((clause) => clause.startsWith(`${section} `))).toBe(true)
    },
  )
})

describe('the check', () => {
  const own = 'tools/scripts/contract-coverage.test.ts'
  const source = 'packages/contract/src/wire.ts'
  const missing = 'packages/core/src/none.ts'
  const title = 'names every clause once'
  const sound: Row = { clause: '9 x', statement: 'says', files: [source], tests: { [own]: [title] } }
  const row = (changed: Partial<Row>): Row[] => [{ ...sound, ...changed }]

  test.each<[string, Partial<Row>, string]>([
    ['a file that is missing', { tests: { 'packages/none.test.ts': ['a'] } }, 'there is no file packages/none.test.ts'],
    ['a title that is missing', { tests: { [own]: ['no such title'] } }, `${own} has no test "no such title"`],
    ['the second of two titles', { tests: { [own]: [title, 'gone'] } }, `${own} has no test "gone"`],
    // 'names all' is no title: only this comment and the row below contain it.
    ['a title that is only mentioned', { tests: { [own]: ['names all'] } }, `${own} has no test "names all"`],
    ['a row without a test', { tests: {} }, 'it names no test'],
    ['a row that names a file alone', { tests: { [own]: [] } }, `it names no test in ${own}`],
    ['a row without an implementing file', { files: [] }, 'it names 0 files, not one or two'],
    ['three implementing files', { files: [source, source, source] }, 'it names 3 files, not one or two'],
    ['the second of two implementing files', { files: [source, missing] }, `there is no file ${missing}`],
    ['a test as the implementing file', { files: [own] }, `${own} is not a source file of a package`],
    ['a folder in place of a file', { files: ['packages/core'] }, 'packages/core is not a source file of a package'],
  ])('reports %s', (_what, changed, problem) => {
    expect(problems(row(changed))).toEqual([`9 x: ${problem}`])
  })
})
