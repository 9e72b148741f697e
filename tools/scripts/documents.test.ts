/** Documents agree with the sources: citations, error codes, and the sizes and entries that READMEs name. @module */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listRepositoryFiles } from '../site/generate/routes.js'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = listRepositoryFiles(root)
const citing = files
  .filter(
    (path) =>
      /\.(ts|tsx|mts|mjs|md|sol)$/.test(path) &&
      !/CHANGELOG|^\.changeset|documents\.test|check-links\.slow\.test/.test(path),
  )
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, text: read(path) }))

/** Numbers of the headings of the contract: `2`, `2.1`, … */
const sections = new Set([...read('docs/interface.md').matchAll(/^#+ (\d+(?:\.\d+)?)\b/gm)].map(([, n]) => n))

/** `path:line: found` of each match that `isWrong`. */
function wrong(pattern: RegExp, isWrong: (match: RegExpMatchArray) => boolean): string[] {
  return citing.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(pattern)].filter(isWrong).map(([found]) => `${path}:${index + 1}: ${found}`),
      ),
  )
}

describe('a citation', () => {
  test('of the contract names a section of docs/interface.md', () => {
    expect(sections.size).toBeGreaterThan(12)
    const lists = wrong(
      /(?:docs\/interface\.md|\b[Ii]nterface) (\d[\d.]*(?:(?:, | to | and )\d[\d.]*)*)/g,
      ([, list = '']) => list.split(/, | to | and /).some((each) => !sections.has(each.replace(/\.$/, ''))),
    )
    expect(lists).toEqual([])
  })

  test('of a page names an existing page', () => {
    expect(wrong(/\bdocs\/[a-z\d-]+(?:\/[a-z\d-]+)*\.md\b/g, ([page]) => !existsSync(join(root, page)))).toEqual([])
  })

  test('of a path, in backticks in a document, names a file or a folder', () => {
    // `payments/change-status` in a document names packages/core/src/payments/change-status.ts.
    const listing = files.map((file) => `/${file}\n/${file.replace('/src/', '/')}\n`).join('')
    const isThere = (path: string) => ['/', '.', '\n'].some((end) => listing.includes(`/${path}${end}`))
    const missing = wrong(/`([a-z][a-z-]*\/[\w./@-]+)`/g, ([, path = '']) => !isThere(path.replace(/[/.]$/, '')))
    // A build makes `dist`; `init` and templates speak of the user's project; the rest are names of others.
    const other = /\b(?:templates|dist|add-a-receiver|test\/abi)\b|`(?:application|text|zod|yodlpay)\//
    expect(missing.filter((each) => /^[^:]+[.]md:/.test(each) && !other.test(each))).toEqual([])
  })

  test('names only documents of the repository', () => {
    expect(wrong(/\bINTERFACE\b|\bDESIGN\b|\b(?:STYLE|PLAIN)\.md\b|\bissue \d+\b/g, () => true)).toEqual([])
  })
})

/** The rows of all tables that name codes: the last two cells are the cause and the cure. */
function errorRows() {
  return files
    .filter((file) => /^(packages\/[^/]+\/README|docs\/errors)[.]md$/.test(file))
    .flatMap((file) =>
      [...read(file).matchAll(/^[|] (.*`ERR_.*) [|]$/gm)].flatMap(([, row = '']) => {
        const cells = row.split(/(?<!\\) [|] /)
        const [cause = '', cure = ''] = cells.slice(-2)
        const first = cells.slice(0, -2).join(' ')
        return [...first.matchAll(/`(ERR_\w+)`/g)].map(([, code = '']) => ({ code, cause, cure, file }))
      }),
    )
}

/** Codes of Node that the packages recognize. */
const foreign = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_HTTP_REQUEST_TIMEOUT',
  'ERR_SQLITE_ERROR',
])
/** What several codes begin with. */
const prefixes = new Set(['ERR_MIRROR', 'ERR_MOVE_', 'ERR_PROVIDER_', 'ERR_PROVIDER_WEBHOOK_'])
const codes = new Set(
  files
    .filter((file) => /^packages\/[^/]+\/src\/.*[.]tsx?$/.test(file) && !/[.]test(-d)?[.]ts$/.test(file))
    .flatMap((file) => [...read(file).matchAll(/\b(ERR_[A-Z0-9_]+)\b/g)])
    .map(([, code = '']) => code)
    .filter((code) => !foreign.has(code) && !prefixes.has(code)),
)
const rows = errorRows()

test('every error code of the sources has a row with its cause and cure', () => {
  const listed = new Set(rows.map(({ code }) => code))
  expect([...codes].filter((code) => !listed.has(code)).toSorted()).toEqual([])
})

test('every row names a code of the sources', () => {
  expect(rows.filter(({ code }) => !codes.has(code)).map(({ code, file }) => `${file}: ${code}`)).toEqual([])
})

test('every row has a cause and a cure', () => {
  expect(rows.filter(({ cause, cure }) => cause === '' || cure === '').map(({ code }) => code)).toEqual([])
})

const budgets = JSON.parse(read('tools/scripts/size-budgets.json')) as { names: string[]; web: number; node: number }[]

const packages = readdirSync(join(root, 'packages'))
const documents = [
  'README.md',
  ...packages.map((name) => `packages/${name}/README.md`),
  ...['decisions', 'guides'].flatMap((folder) =>
    readdirSync(join(root, 'docs', folder)).map((name) => `docs/${folder}/${name}`),
  ),
]

test('a README has at most 150 lines and 700 words, the first one 500; the rest is a page in docs/guides', () => {
  const readmes = ['README.md', ...packages.map((name) => `packages/${name}/README.md`)]
  const isLong = (path: string) =>
    read(path).trimEnd().split('\n').length > 150 ||
    read(path).trim().split(/\s+/).length > (path === 'README.md' ? 500 : 700)
  expect(readmes.filter(isLong)).toEqual([])
})

test('what a README and the home page show of the demo begins a line of docs/start.md', () => {
  const block = (path: string) => /```text\n([\s\S]*?)```/.exec(read(path))?.[1]?.split('\n') ?? []
  const [real = [], ...shown] = ['docs/start.md', 'README.md', 'tools/site/pages/index.md'].map(block)
  const isReal = (line: string) => line.startsWith('$') || real.some((each) => each.startsWith(line))
  expect(shown.map((lines) => lines.length > 4 && lines.every(isReal))).toEqual([true, true])
})

test('the README of a package names each of its entries', () => {
  const api = JSON.parse(read('tools/scripts/public-api.snapshot.json')) as Record<string, Record<string, unknown>>
  const unnamed = packages.flatMap((name) => {
    const text = read(`packages/${name}/README.md`)
    const entries = Object.keys(api[`@payment-integration/${name}`] ?? {}).filter((entry) => entry !== '.')
    return entries
      .filter((entry) => !text.includes(`\`${entry}\``) && !text.includes(`integration/${name}${entry.slice(1)}`))
      .map((entry) => `${name}: ${entry}`)
  })
  expect(unnamed).toEqual([])
})

test('every guide is named by a README or another page', () => {
  const texts = [...documents, 'docs/doctor.md', 'docs/explain.md'].map((path) => [path, read(path)] as const)
  const guides = documents.filter((path) => path.startsWith('docs/guides/'))
  const named = (guide: string) => texts.some(([path, text]) => path !== guide && text.includes(guide.slice(5)))
  expect(guides.filter((guide) => !named(guide))).toEqual([])
})

/** Names in code spans, where `a.b|c` stands for `a.b` and `a.c`. */
const spelled = (path: string) =>
  [...read(path).matchAll(/`([a-z_]+\.)?([a-z_]+(?:[|][a-z_]+)*)`/g)].flatMap(([, prefix = '', ends = '']) =>
    ends.split('|').map((end) => prefix + end),
  )

test('the audit page names each action, and the README of the command each event', () => {
  const [, type = ''] = /type AuditAction =([\s\S]*?)\n\n/.exec(read('packages/core/src/history/audit-store.ts')) ?? []
  const actions = [...type.matchAll(/'(.+?)'/g)].map(([, name]) => name)
  const sources = citing.filter(({ path }) => /^packages\/cli\/src\/(commands|dev|listen)\/[\w-]+\.ts$/.test(path))
  const events = sources.flatMap(({ text }) => [...text.matchAll(/\bevent: '([a-z_.]+)'/g)].map(([, name]) => name))
  expect([actions.length, events.length].map((count) => count > 40)).toEqual([true, true])
  expect(spelled('docs/decisions/audit.md')).toEqual(expect.arrayContaining(actions))
  expect(spelled('packages/cli/README.md')).toEqual(expect.arrayContaining(events.filter((name) => name !== 'data')))
})

test("the numbers of the site's home page stand in the README", () => {
  const found = read('tools/site/pages/index.md').matchAll(/^- \*\*(\d.*?)\*\*/gm)
  const numbers = [...found].map(([, number = '']) => number)
  expect(numbers).toHaveLength(4)
  expect(numbers.filter((number) => !read('README.md').includes(number))).toEqual([])
})

/** A size follows its names: `createClient` 26.5 kB, or `parseAmount` with `formatAmount` 1.2 kB. */
const quoted = /`(\w+)`(?: with `(\w+)`)?(?: may take)? (\d+(?:[.]\d+)?) k?B\b/g

/** Documents that may quote compressed sizes without such names: those of other libraries. */
const sizes = documents.flatMap((path) =>
  [...read(path).replaceAll('\n', ' ').matchAll(quoted)].map(([, first = '', second, kB]) => ({
    path,
    names: [first, ...(second === undefined ? [] : [second])],
    kB: Number(kB),
  })),
)

test('every size that a document quotes is the budget of these imports, on the web and on Node', () => {
  for (const { path, names, kB } of sizes) {
    const matches = budgets.filter((budget) => budget.names.toSorted().join() === names.toSorted().join())
    const allowed = matches.map(({ web, node }) => [web, node])
    expect(allowed, `${path}: ${names.join(', ')}`).toEqual([[kB * 1000, kB * 1000]])
  }
})

test('documents quote sizes in no other format', () => {
  expect(sizes.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['README.md', 'packages/client/README.md', 'packages/webhook/README.md']),
  )
  for (const path of documents)
    for (const paragraph of read(path)
      .split(/\n\n+/)
      .filter((text) => /\bgzipped\b/i.test(text))) {
      const line = paragraph.replaceAll('\n', ' ')
      expect([...line.matchAll(/\d k?B\b/gi)].length, `${path}: ${line}`).toBe([...line.matchAll(quoted)].length)
    }
})
